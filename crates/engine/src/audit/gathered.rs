//! Events that are about to be stored, log by log.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use crate::virtual_fs::now;

use super::batch::{Draft, Head};
use super::event::{AuditEvent, AuditLog};

/// How much is held while the store does not answer.
const MOST_EVENTS: u64 = 4096;
const MOST_BYTES: usize = 8 << 20;

/// What is gathered.
#[derive(Debug)]
pub(super) struct Gathered {
    logs: HashMap<AuditLog, Waiting>,
    events: u64,
    bytes: usize,
    writer: u128,
    /// How many batches were made.
    batches: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    sealed: Batches,
    draft: Draft,
}

/// Batches of one log, the oldest first.
pub(super) type Batches = VecDeque<Batch>;

/// Events that are stored together, or not at all.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) value: Bytes,
    /// The place where it may be already: whoever was to store it there did not answer.
    pub(super) tried: Option<u64>,
    count: u64,
    len: usize,
}

impl Gathered {
    pub(super) fn new() -> Self {
        let (logs, writer) = (HashMap::new(), rand::random());
        Self { logs, events: 0, bytes: 0, writer, batches: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events == 0
    }

    pub(super) fn has_room(&self) -> bool {
        self.events < MOST_EVENTS && self.bytes < MOST_BYTES
    }

    /// Adds an event; says whether a batch of its log is full.
    pub(super) fn add(&mut self, log: &AuditLog, event: &AuditEvent) -> bool {
        if !self.logs.contains_key(log) {
            self.logs.insert(log.clone(), Waiting::default());
        }
        let Some(waiting) = self.logs.get_mut(log) else { return false };
        let before = waiting.draft.len();
        waiting.draft.add(event);
        self.events += 1;
        self.bytes += waiting.draft.len() - before;
        let is_full = waiting.draft.is_full();
        if is_full {
            waiting.seal(self.writer, &mut self.batches);
        }
        is_full
    }

    /// Takes what is to be stored of one log, or of all.
    pub(super) fn take(&mut self, log: Option<&AuditLog>) -> Vec<(AuditLog, Batches)> {
        let mut taken: Vec<(AuditLog, Waiting)> = match log {
            Some(log) => self.logs.remove_entry(log).into_iter().collect(),
            None => self.logs.drain().collect(),
        };
        for (_, waiting) in &mut taken {
            waiting.seal(self.writer, &mut self.batches);
            self.events -= waiting.sealed.iter().map(|batch| batch.count).sum::<u64>();
            self.bytes -= waiting.sealed.iter().map(|batch| batch.len).sum::<usize>();
        }
        taken.into_iter().map(|(log, waiting)| (log, waiting.sealed)).collect()
    }

    /// Takes back what could not be stored. Nothing of that log came meanwhile.
    pub(super) fn put_back(&mut self, log: AuditLog, sealed: Batches) {
        self.events += sealed.iter().map(|batch| batch.count).sum::<u64>();
        self.bytes += sealed.iter().map(|batch| batch.len).sum::<usize>();
        self.logs.insert(log, Waiting { sealed, draft: Draft::default() });
    }
}

impl Waiting {
    fn seal(&mut self, writer: u128, batches: &mut u64) {
        let Draft { count, .. } = self.draft;
        if count > 0 {
            let head = Head { writer, number: *batches, written: now() };
            let (value, len) = (self.draft.seal(head), self.draft.len());
            self.sealed.push_back(Batch { value, tried: None, count, len });
            *batches += 1;
            self.draft = Draft::default();
        }
    }
}
