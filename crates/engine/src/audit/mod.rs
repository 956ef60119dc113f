//! Who did what: every change, and everything that was refused.
//!
//! - `event`: what is recorded, and where
//! - `recorder`: whoever works in a sandbox, as the audit knows him
//! - `queue`: events on their way, with room for so many
//! - `tally`: refusals that are counted, because there are too many to name
//! - `sink`: whoever gets every event as it comes
//! - `scribe` and `gathered`: events that are stored a moment later, many at once
//! - `batch`: the bytes that are kept
//! - `ledger` and `sweep`: logs in a store, and what goes of them

mod batch;
mod event;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod gathered;
mod ledger;
mod queue;
mod recorder;
mod scribe;
mod sink;
mod sweep;
mod tally;

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::virtual_fs::{damaged, now};
use crate::{Error, ErrorKind, Result, Store};

pub(crate) use self::event::is_refusal;
pub use self::event::{AuditCursor, AuditEvent, AuditLog, Outcome};
use self::ledger::Ledger;
use self::queue::{Entry, Queue, queue};
pub use self::recorder::{Pending, Recorder, Told};
use self::scribe::Scribe;
pub use self::sink::AuditSink;
use self::tally::Tally;

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
    tally: Tally,
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
    /// How many bytes the batches of all logs may take together in a store that ends with the process.
    pub in_memory: usize,
}

/// How many events could not be written, because whoever writes them was too slow or away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostEvents {
    /// To the store.
    pub store: u64,
    /// To the sink.
    pub sink: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { age: Duration::from_hours(30 * 24), batches: 4096, in_memory: 64 << 20 }
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
        let shared = Arc::new(Shared { store, sink, tally: Tally::default() });
        tokio::spawn(sum_up_for_ever(Arc::downgrade(&shared)));
        Self { shared }
    }

    /// Records an event. If there is no room for it, waits for a second; if there is none then, the
    /// event is lost, and that so many were is recorded as soon as possible.
    ///
    /// What goes to [`AuditLog::Gate`] never waits, and leaves room for the others. Of refusals of one
    /// caller only so many are recorded in ten seconds; how many there were besides is told then.
    pub async fn record(&self, log: AuditLog, event: AuditEvent) {
        self.record_in(vec![log], event).await;
    }

    /// Records one event that is read from several logs.
    async fn record_in(&self, logs: Vec<AuditLog>, event: AuditEvent) {
        let is_gate = logs == [AuditLog::Gate];
        let Some(entry) = self.named(logs, event) else { return };
        if is_gate {
            return self.queues().for_each(|queue| queue.put_modestly(&entry));
        }
        // No queue waits for another: whoever went away meanwhile would be missing in the second.
        let homeless: Vec<_> = self.queues().filter_map(|queue| queue.put(&entry)).collect();
        for homeless in homeless {
            homeless.wait().await;
        }
    }

    /// Records an event, or that one was lost.
    fn offer(&self, logs: Vec<AuditLog>, event: AuditEvent) {
        if let Some(entry) = self.named(logs, event) {
            self.queues().for_each(|queue| drop(queue.put(&entry)));
        }
    }

    fn named(&self, logs: Vec<AuditLog>, event: AuditEvent) -> Option<Arc<Entry>> {
        let is_named = logs.first().is_none_or(|log| self.shared.tally.lets_through(log, &event));
        is_named.then(|| Arc::new(Entry { logs, event }))
    }

    /// How many events were lost since the beginning.
    pub fn lost(&self) -> LostEvents {
        let Shared { store, sink, .. } = &*self.shared;
        LostEvents {
            store: store.as_ref().map_or(0, |store| store.queue.lost()),
            sink: sink.as_ref().map_or(0, Queue::lost),
        }
    }

    /// Waits until everything is written that was recorded before.
    pub async fn flush(&self) -> Result<()> {
        self.shared.sum_up();
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
        self.shared.queues()
    }
}

impl Shared {
    fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.sink.iter().chain(self.store.iter().map(|store| &store.queue))
    }

    /// Tells of the refusals that were only counted.
    fn sum_up(&self) {
        for (log, event) in self.tally.sum_up() {
            let entry = Arc::new(Entry { logs: vec![log], event });
            self.queues().for_each(|queue| drop(queue.put(&entry)));
        }
    }
}

async fn sum_up_for_ever(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(tally::WINDOW).await;
        let Some(shared) = shared.upgrade() else { return };
        shared.sum_up();
    }
}

impl Stored {
    fn new(store: &Store, retention: Retention) -> Self {
        let storage = Arc::clone(store.shelf.cache.storage());
        let most = if storage.capabilities().durable { u64::MAX } else { IN_MEMORY };
        let in_memory = (!storage.capabilities().durable).then_some(retention.in_memory);
        let batches = retention.batches.clamp(FEWEST, most);
        let ledger = Arc::new(Ledger::new(storage, batches, in_memory));
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
