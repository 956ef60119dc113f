//! What all outboxes of a server share.

use std::collections::HashMap;
use std::sync::Arc;

use engine::Actor;
use parking_lot::Mutex;

/// The outboxes of one key together draw at most one part in so many of the common store.
pub(super) const SHARES: usize = 8;

/// The bytes that all outboxes may keep together, beyond a few of each.
#[derive(Debug)]
pub(in crate::faces) struct CommonStore {
    pub(super) drawn: Mutex<Drawn>,
    most: usize,
}

/// How much of a common store is in use.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) total: usize,
    /// By those who draw something.
    pub(super) each: HashMap<Option<Actor>, usize>,
}

impl CommonStore {
    pub(in crate::faces) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { drawn: Mutex::default(), most: bytes })
    }

    pub(super) fn take(&self, by: Option<Actor>, bytes: usize) -> bool {
        let mut drawn = self.drawn.lock();
        let own = drawn.each.get(&by).copied().unwrap_or_default() + bytes;
        if drawn.total + bytes > self.most || Actor::has_a_share(by) && own > self.most / SHARES {
            return false;
        }
        drawn.total += bytes;
        drawn.each.insert(by, own);
        true
    }

    pub(super) fn give_back(&self, by: Option<Actor>, bytes: usize) {
        let mut drawn = self.drawn.lock();
        drawn.total = drawn.total.saturating_sub(bytes);
        if let Some(own) = drawn.each.get_mut(&by) {
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                drawn.each.remove(&by);
            }
        }
    }
}
