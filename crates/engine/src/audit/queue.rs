//! Events on their way to those who write them. There is room for so many.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::{Error, ErrorKind, Result};

use super::event::{AuditEvent, AuditLog};

/// How many events may wait.
const ROOM: usize = 2048;
/// How long somebody waits for room before his event is lost.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many may ask at once that all be written.
const FLUSHES: usize = 64;

/// An event, and where it is read from again.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) log: AuditLog,
    pub(super) event: AuditEvent,
}

/// The end of a queue that events are put in.
#[derive(Debug)]
pub(super) struct Queue {
    events: mpsc::Sender<Arc<Entry>>,
    flushes: mpsc::Sender<Flush>,
    lost: Arc<AtomicU64>,
    /// Somebody waited in vain, and there was no room since: nobody else waits.
    is_stuck: AtomicBool,
}

/// The end of a queue that events are taken from.
#[derive(Debug)]
pub(super) struct Arrivals {
    pub(super) events: mpsc::Receiver<Arc<Entry>>,
    pub(super) flushes: mpsc::Receiver<Flush>,
    lost: Arc<AtomicU64>,
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
    let lost = Arc::new(AtomicU64::default());
    let arrivals = Arrivals { events: arriving, flushes: flushing, lost: Arc::clone(&lost) };
    (Queue { events, flushes, lost, is_stuck: AtomicBool::default() }, arrivals)
}

impl Queue {
    /// Puts an event in; waits a while if there is no room for it.
    pub(super) async fn push(&self, entry: &Arc<Entry>) {
        if !self.try_push(entry) {
            // Counts as lost if whoever asked goes away while he waits.
            let loss = Loss(&self.lost);
            if !self.is_stuck.load(Ordering::Relaxed) {
                match timeout(PATIENCE, self.events.reserve()).await {
                    Ok(Ok(place)) => {
                        place.send(Arc::clone(entry));
                        std::mem::forget(loss);
                    }
                    Ok(Err(_)) | Err(_) => self.is_stuck.store(true, Ordering::Relaxed),
                }
            }
        }
    }

    /// Puts an event in, or counts it as lost.
    pub(super) fn offer(&self, entry: &Arc<Entry>) {
        if !self.try_push(entry) {
            drop(Loss(&self.lost));
        }
    }

    /// Puts in an event that anybody can cause, and leaves room for others.
    pub(super) fn offer_modestly(&self, entry: &Arc<Entry>) {
        if self.events.capacity() > ROOM / 2 {
            self.offer(entry);
        } else {
            drop(Loss(&self.lost));
        }
    }

    /// Waits until everything is written that was put in before.
    pub(super) async fn flush(&self, log: Option<AuditLog>) -> Result<()> {
        let (written, answer) = oneshot::channel();
        self.flushes.send(Flush { log, written }).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }

    fn try_push(&self, entry: &Arc<Entry>) -> bool {
        let is_in = self.events.try_send(Arc::clone(entry)).is_ok();
        if is_in && self.is_stuck.load(Ordering::Relaxed) {
            self.is_stuck.store(false, Ordering::Relaxed);
        }
        is_in
    }
}

impl Arrivals {
    /// How many events were lost since this was last asked.
    pub(super) fn lost(&self) -> Option<u64> {
        let count = self.lost.swap(0, Ordering::Relaxed);
        (count > 0).then_some(count)
    }
}

/// An event that is lost when this is dropped.
struct Loss<'a>(&'a AtomicU64);

impl Drop for Loss<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the audit has ended")
}
