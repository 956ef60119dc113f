//! The states that somebody who was cut off may come back to.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::super::trunk::State;
use super::{MEMORY, mark};
use crate::watch::StateMark;

/// How many states are remembered at most: those of 50 seconds in which the tree never rests.
const MOST: usize = 1024;
/// How many bytes may have been written to a tree in memory since the oldest of them.
const ROOM: u64 = 64 << 20;

/// States in the order in which they were seen. Nothing of them is collected.
#[derive(Debug, Default)]
pub(super) struct History {
    seen: VecDeque<Seen>,
    /// How often the last one left.
    left: u64,
}

#[derive(Debug)]
struct Seen {
    state: Arc<State>,
    mark: StateMark,
    when: Instant,
    written: u64,
}

/// States that are no longer remembered, to be dropped where that takes nobody's time.
pub(super) type Forgotten = Vec<Arc<State>>;

impl History {
    /// Remembers a state that somebody was told of.
    pub(super) fn remember(&mut self, state: &Arc<State>, now: Instant, written: u64) -> Forgotten {
        let mark = mark(&state.root);
        // It is most often the last one or the one before.
        if !self.seen.iter().rev().any(|seen| seen.mark == mark) {
            self.seen.push_back(Seen { state: Arc::clone(state), mark, when: now, written });
        }
        let mut forgotten = self.outgrow(written);
        // A state has passed when the next one was seen.
        while self.seen.len() > MOST
            || self.seen.get(1).is_some_and(|next| now.duration_since(next.when) > MEMORY)
        {
            forgotten.extend(self.seen.pop_front().map(|seen| seen.state));
        }
        forgotten
    }

    /// Forgets the oldest states if so much was written since that they may take much memory.
    pub(super) fn outgrow(&mut self, written: u64) -> Forgotten {
        let mut forgotten = Vec::new();
        while self.seen.front().is_some_and(|seen| written.wrapping_sub(seen.written) > ROOM) {
            forgotten.extend(self.seen.pop_front().map(|seen| seen.state));
        }
        forgotten
    }

    pub(super) fn recall(&self, mark: StateMark) -> Option<Arc<State>> {
        let seen = self.seen.iter().rev().find(|seen| seen.mark == mark)?;
        Some(Arc::clone(&seen.state))
    }

    /// When the last state was remembered.
    pub(super) fn latest(&self) -> Option<(&Arc<State>, Instant)> {
        self.seen.back().map(|seen| (&seen.state, seen.when))
    }

    /// Notes that the last one left; gives the number of the time.
    pub(super) fn leave(&mut self) -> u64 {
        self.left += 1;
        self.left
    }

    /// Forgets everything, unless somebody came and left again since.
    pub(super) fn forget(&mut self, left: u64) -> Forgotten {
        if self.left != left {
            return Vec::new();
        }
        self.seen.drain(..).map(|seen| seen.state).collect()
    }
}
