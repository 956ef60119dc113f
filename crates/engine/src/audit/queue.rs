//! Events on their way to those who write them. There is room for so many, and for so many bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use crate::{Error, ErrorKind, Result};

use super::event::{AuditEvent, AuditLog};

/// How many events may wait.
const ROOM: usize = 2048;
/// How many bytes they may take: two long paths in each would be 64 MiB.
const ROOM_BYTES: usize = 8 << 20;
/// How long somebody waits for room before his event is lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many may ask at once that all be written.
const FLUSHES: usize = 64;

/// An event, and where it is read from again.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) logs: Vec<AuditLog>,
    pub(super) event: AuditEvent,
}

/// An event that waits, and the room that it takes.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) entry: Arc<Entry>,
    _room: OwnedSemaphorePermit,
}

/// The end of a queue that events are put in.
#[derive(Debug)]
pub(super) struct Queue {
    events: mpsc::Sender<Waiting>,
    bytes: Arc<Semaphore>,
    flushes: mpsc::Sender<Flush>,
    losses: Arc<Losses>,
    /// Somebody waited in vain, and there was no room since: nobody else waits.
    is_stuck: AtomicBool,
}

/// The end of a queue that events are taken from.
#[derive(Debug)]
pub(super) struct Arrivals {
    pub(super) events: mpsc::Receiver<Waiting>,
    pub(super) flushes: mpsc::Receiver<Flush>,
    losses: Arc<Losses>,
}

/// How many events were lost: since that was last written down, and ever.
#[derive(Debug, Default)]
struct Losses {
    untold: AtomicU64,
    ever: AtomicU64,
}

/// Somebody waits until everything is written that was put in before.
#[derive(Debug)]
pub(super) struct Flush {
    /// The one log that he needs; all if there is none.
    pub(super) log: Option<AuditLog>,
    pub(super) written: oneshot::Sender<Result<()>>,
}

pub(super) fn queue() -> (Queue, Arrivals) {
    let (events, arriving) = mpsc::channel(ROOM);
    let (flushes, flushing) = mpsc::channel(FLUSHES);
    let losses = Arc::<Losses>::default();
    let arrivals = Arrivals { events: arriving, flushes: flushing, losses: Arc::clone(&losses) };
    let bytes = Arc::new(Semaphore::new(ROOM_BYTES));
    (Queue { events, bytes, flushes, losses, is_stuck: AtomicBool::default() }, arrivals)
}

impl Queue {
    /// Puts an event in if there is room. Otherwise it counts as lost once what is given is dropped,
    /// unless somebody waits for room with it.
    pub(super) fn put(&self, entry: &Arc<Entry>) -> Option<Homeless<'_>> {
        if self.try_push(entry) {
            return None;
        }
        Some(Homeless { queue: self, entry: Arc::clone(entry), is_lost: true })
    }

    /// Puts in an event that anybody can cause, and leaves room for others.
    pub(super) fn put_modestly(&self, entry: &Arc<Entry>) {
        let is_roomy =
            self.events.capacity() > ROOM / 2 && self.bytes.available_permits() > ROOM_BYTES / 2;
        if !is_roomy || !self.try_push(entry) {
            self.losses.count();
        }
    }

    /// Waits until everything is written that was put in before.
    pub(super) async fn flush(&self, log: Option<AuditLog>) -> Result<()> {
        let (written, answer) = oneshot::channel();
        self.flushes.send(Flush { log, written }).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    /// How many events were lost since the beginning.
    pub(super) fn lost(&self) -> u64 {
        self.losses.ever.load(Ordering::Relaxed)
    }

    fn try_push(&self, entry: &Arc<Entry>) -> bool {
        let room = Arc::clone(&self.bytes).try_acquire_many_owned(weight(entry)).ok();
        let is_in = room.is_some_and(|room| {
            self.events.try_send(Waiting { entry: Arc::clone(entry), _room: room }).is_ok()
        });
        if is_in && self.is_stuck.load(Ordering::Relaxed) {
            self.is_stuck.store(false, Ordering::Relaxed);
        }
        is_in
    }

    async fn push(&self, entry: &Arc<Entry>) -> Option<()> {
        let room = Arc::clone(&self.bytes).acquire_many_owned(weight(entry)).await.ok()?;
        let place = self.events.reserve().await.ok()?;
        place.send(Waiting { entry: Arc::clone(entry), _room: room });
        Some(())
    }
}

/// An event that there was no room for. It is lost when this is dropped, whoever drops it.
pub(super) struct Homeless<'a> {
    queue: &'a Queue,
    entry: Arc<Entry>,
    is_lost: bool,
}

impl Homeless<'_> {
    /// Waits a while for room.
    pub(super) async fn wait(mut self) {
        if self.queue.is_stuck.load(Ordering::Relaxed) {
            return;
        }
        match timeout(PATIENCE, self.queue.push(&self.entry)).await {
            Ok(Some(())) => self.is_lost = false,
            Ok(None) | Err(_) => self.queue.is_stuck.store(true, Ordering::Relaxed),
        }
    }
}

impl Drop for Homeless<'_> {
    fn drop(&mut self) {
        if self.is_lost {
            self.queue.losses.count();
        }
    }
}

impl Losses {
    fn count(&self) {
        self.untold.fetch_add(1, Ordering::Relaxed);
        self.ever.fetch_add(1, Ordering::Relaxed);
    }
}

impl Arrivals {
    /// How many events were lost since this was last asked.
    pub(super) fn lost(&self) -> Option<u64> {
        let count = self.losses.untold.swap(0, Ordering::Relaxed);
        (count > 0).then_some(count)
    }
}

/// What an event takes of the room. The longest that there can be is far less than all of it.
fn weight(entry: &Entry) -> u32 {
    let most = ROOM_BYTES / 8;
    u32::try_from(entry.event.weight().min(most)).unwrap_or(u32::MAX)
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the audit has ended")
}
