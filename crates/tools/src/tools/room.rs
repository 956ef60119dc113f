//! How much one answer still holds.

use crate::outcome::Why;

/// What an entry costs beside its own text: the words around it.
const AROUND: u64 = 96;

/// Room for entries in one answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    entries: u64,
    asked: bool,
    bytes: u64,
}

impl Room {
    /// Room for as many entries as were asked for, and no more than may be.
    pub(crate) fn new(asked: Option<u64>, most: usize, bytes: u64) -> Self {
        let most = most as u64;
        let entries = asked.map_or(most, |asked| asked.min(most));
        Self { entries, asked: asked.is_some_and(|asked| asked <= most), bytes }
    }

    /// Takes the room of an entry with so many bytes of text, or says why there is none.
    pub(crate) fn take(&mut self, text: usize) -> Result<(), Why> {
        let cost = AROUND + text as u64;
        if self.entries == 0 {
            return Err(if self.asked { Why::Limit } else { Why::Budget });
        }
        if self.bytes < cost {
            return Err(Why::Budget);
        }
        self.entries -= 1;
        self.bytes -= cost;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_and_a_budget_are_told_apart() {
        let mut asked = Room::new(Some(1), 10, 1 << 20);
        assert_eq!(asked.take(1), Ok(()));
        assert_eq!(asked.take(1), Err(Why::Limit));
        let mut many = Room::new(None, 1, 1 << 20);
        assert_eq!(many.take(1), Ok(()));
        assert_eq!(many.take(1), Err(Why::Budget));
        assert_eq!(Room::new(Some(5), 10, 50).take(1), Err(Why::Budget));
    }
}
