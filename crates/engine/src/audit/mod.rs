//! Who did what: every change, and everything that was refused.
//!
//! - `event`: what is recorded, and where
//! - `recorder`: whoever works in a sandbox, as the audit knows him
//! - `queue`: events on their way, with room for so many
//! - `sink`: whoever gets every event as it comes
//! - `scribe` and `gathered`: events that are stored a moment later, many at once
//! - `batch`: the bytes that are kept
//! - `ledger` and `sweep`: logs in a store, and what goes of them

mod batch;
mod event;
mod gathered;
mod ledger;
mod queue;
mod recorder;
mod scribe;
mod sink;
mod sweep;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::virtual_fs::{damaged, now};
use crate::{Error, ErrorKind, Result, Store};

pub use self::event::{AuditCursor, AuditEvent, AuditLog, Outcome};
use self::ledger::Ledger;
use self::queue::{Entry, Queue, queue};
pub(crate) use self::recorder::is_refusal;
pub use self::recorder::{Pending, Recorder, Told};
use self::scribe::Scribe;
pub use self::sink::AuditSink;

/// The most events that one page gives.
const MOST: usize = 1000;
/// How many batches are read at a time at most, and for how many events one.
const AT_ONCE: (usize, usize) = (8, 128);
/// How many batches of a log stay in a store that ends with the process: 8 MiB at most.
const IN_MEMORY: u64 = 256;
/// Fewer than that could be swept away while somebody is about to write behind them.
const FEWEST: u64 = 64;

/// Where events are recorded. Cheap to clone.
///
/// An event is recorded when it is in a queue of bounded length. The sink gets it at once, the store
/// within about a second. When the last clone is gone, what is in the queues is still written, as long
/// as the runtime lives; who ends it calls [`flush`](Self::flush) first.
#[derive(Clone, Debug)]
pub struct Audit {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Option<Stored>,
    sink: Option<Queue>,
}

#[derive(Debug)]
struct Stored {
    queue: Queue,
    ledger: Arc<Ledger>,
    sweeping: AbortHandle,
}

/// What stays of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How old a batch of events may be.
    pub age: Duration,
    /// How many batches there may be, at least 64. A busy sandbox makes one each second.
    pub batches: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { age: Duration::from_hours(30 * 24), batches: 4096 }
    }
}

/// Some events of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditPage {
    /// The events, in the order in which they are kept.
    pub events: Vec<AuditEvent>,
    /// Where to go on; none if the log never had anything.
    pub next: Option<AuditCursor>,
    /// Whether there is more by now.
    pub more: bool,
    /// Whether events between the cursor and these were swept away.
    pub gap: bool,
}

impl Audit {
    /// An audit that is kept in a store, handed to a sink, or both. Needs a tokio runtime.
    pub fn new(
        store: Option<&Store>,
        sink: Option<Arc<dyn AuditSink>>,
        retention: Retention,
    ) -> Self {
        let sink = sink.map(|sink| {
            let (queue, arrivals) = queue();
            tokio::spawn(sink::hand_over(sink, arrivals));
            queue
        });
        let store = store.map(|store| Stored::new(store, retention));
        Self { shared: Arc::new(Shared { store, sink }) }
    }

    /// Records an event. If there is no room for it, waits for a second; if there is none then, the
    /// event is lost, and that so many were is recorded as soon as possible.
    ///
    /// What goes to [`AuditLog::Gate`] never waits, and leaves room for the others.
    pub async fn record(&self, log: AuditLog, event: AuditEvent) {
        let entry = Arc::new(Entry { log, event });
        for queue in self.queues() {
            match entry.log {
                AuditLog::Gate => queue.offer_modestly(&entry),
                AuditLog::Server | AuditLog::Sandbox(_) => queue.push(&entry).await,
            }
        }
    }

    /// Records an event, or that one was lost.
    fn offer(&self, log: AuditLog, event: AuditEvent) {
        let entry = Arc::new(Entry { log, event });
        self.queues().for_each(|queue| queue.offer(&entry));
    }

    /// Waits until everything is written that was recorded before.
    pub async fn flush(&self) -> Result<()> {
        for queue in self.queues() {
            queue.flush(None).await?;
        }
        Ok(())
    }

    /// At most `limit` events of a log, of those behind a cursor: those that this process recorded
    /// before, and those that others have stored.
    ///
    /// Whoever goes on with the cursor of each page sees every event once, and those of one process in
    /// the order in which it recorded them.
    pub async fn events(
        &self,
        log: &AuditLog,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<AuditPage> {
        let Some(Stored { queue, ledger, .. }) = &self.shared.store else {
            let message = "the audit is not kept here, so that it cannot be read";
            return Err(Error::new(ErrorKind::Unsupported, message));
        };
        queue.flush(Some(log.clone())).await?;
        page(ledger, log, after, limit.min(MOST)).await
    }

    /// Removes what is older than it may be; says how many batches went. This happens by itself every
    /// few hours.
    pub async fn sweep(&self, age: Duration) -> Result<u64> {
        match &self.shared.store {
            Some(Stored { ledger, .. }) => ledger.sweep(sweep::before(now(), age)).await,
            None => Ok(0),
        }
    }

    fn queues(&self) -> impl Iterator<Item = &Queue> {
        let Shared { store, sink } = &*self.shared;
        sink.iter().chain(store.iter().map(|store| &store.queue))
    }
}

impl Stored {
    fn new(store: &Store, retention: Retention) -> Self {
        let storage = Arc::clone(store.shelf.cache.storage());
        let most = if storage.capabilities().durable { u64::MAX } else { IN_MEMORY };
        let ledger = Arc::new(Ledger::new(storage, retention.batches.clamp(FEWEST, most)));
        let (queue, arrivals) = queue();
        tokio::spawn(Scribe::new(arrivals, Arc::clone(&ledger)).run());
        let sweeping = sweep::sweep_for_ever(Arc::clone(&ledger), retention.age);
        Self { queue, ledger, sweeping: tokio::spawn(sweeping).abort_handle() }
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        self.sweeping.abort();
    }
}

/// Reads batch after batch until there are enough events.
async fn page(
    ledger: &Ledger,
    log: &AuditLog,
    after: Option<AuditCursor>,
    limit: usize,
) -> Result<AuditPage> {
    let mut page = AuditPage { events: Vec::new(), next: after, more: false, gap: false };
    let at_once = limit.div_ceil(AT_ONCE.1).clamp(1, AT_ONCE.0);
    loop {
        let batches = ledger.list(log, page.next.map(|next| next.batch), at_once).await?;
        if batches.is_empty() {
            return Ok(page);
        }
        for (number, stored) in batches {
            let (_, events) = batch::decode(&stored.value).map_err(|err| damaged(err.0))?;
            let begin = page.next.filter(|next| next.batch == number).map_or(0, |next| next.event);
            page.gap |= page.next.is_some_and(|next| next.batch < number);
            let left = events.into_iter().skip(usize::try_from(begin).unwrap_or(usize::MAX));
            let mut left = left.peekable();
            let mut event = begin;
            while page.events.len() < limit
                && let Some(next) = left.next()
            {
                page.events.push(next);
                event += 1;
            }
            if left.peek().is_some() {
                page.next = Some(AuditCursor { batch: number, event });
                page.more = true;
                return Ok(page);
            }
            page.next = Some(AuditCursor { batch: number.saturating_add(1), event: 0 });
        }
    }
}
