//! What was said in a session lately, for whoever loads it again.

use std::collections::VecDeque;

use super::speech::Speaker;

/// How much is remembered: a little, since nobody knows how many sessions there will be.
const MOST_BYTES: usize = 2048;

/// The end of a conversation.
#[derive(Debug, Default)]
pub(super) struct Memory {
    said: VecDeque<(Speaker, String)>,
    bytes: usize,
}

impl Memory {
    pub(super) fn keep(&mut self, speaker: Speaker, text: String) {
        self.bytes += text.len();
        self.said.push_back((speaker, text));
        while self.bytes > MOST_BYTES {
            let Some((_, oldest)) = self.said.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// What was said, in its order.
    pub(super) fn recall(&self) -> impl Iterator<Item = (Speaker, &str)> {
        self.said.iter().map(|(speaker, text)| (*speaker, text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut memory = Memory::default();
        memory.keep(Speaker::Client, "first".to_owned());
        memory.keep(Speaker::Mock, "second".to_owned());
        memory.keep(Speaker::Client, "x".repeat(MOST_BYTES - 6));
        let speakers: Vec<_> =
            memory.recall().map(|(speaker, text)| (speaker, text.len())).collect();
        assert_eq!(speakers, [(Speaker::Mock, 6), (Speaker::Client, MOST_BYTES - 6)]);
    }

    #[test]
    fn what_is_too_long_is_not_remembered_at_all() {
        let mut memory = Memory::default();
        memory.keep(Speaker::Client, "x".repeat(MOST_BYTES + 1));
        assert_eq!(memory.recall().count(), 0);
        memory.keep(Speaker::Client, "short".to_owned());
        assert_eq!(memory.recall().count(), 1);
    }
}
