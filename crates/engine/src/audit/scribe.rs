//! Gathers events for a moment, and stores them.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use tokio::time::{Instant, sleep_until};

use crate::{Error, Result};

use super::event::{AuditEvent, AuditLog, Outcome};
use super::gathered::{Batches, Gathered};
use super::ledger::Ledger;
use super::queue::{Arrivals, Entry, Flush};

/// How long events are gathered, and how long a store is left alone that did not answer.
const MOMENT: Duration = Duration::from_secs(1);
/// How many logs are written at once.
const LOGS_AT_ONCE: usize = 32;

/// Whoever stores events.
#[derive(Debug)]
pub(super) struct Scribe {
    arrivals: Arrivals,
    ledger: Arc<Ledger>,
    gathered: Gathered,
    /// When what is gathered is stored.
    due: Option<Instant>,
}

impl Scribe {
    pub(super) fn new(arrivals: Arrivals, ledger: Arc<Ledger>) -> Self {
        Self { arrivals, ledger, gathered: Gathered::new(), due: None }
    }

    /// Stores what arrives until nobody is left to put anything in.
    pub(super) async fn run(mut self) {
        loop {
            let due = self.due.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                Some(flush) = self.arrivals.flushes.recv() => self.flush(flush).await,
                () = sleep_until(due), if self.due.is_some() => {
                    let written = self.write(None).await;
                    if written.is_err() && self.arrivals.events.is_closed() {
                        return;
                    }
                }
                entry = self.arrivals.events.recv(), if self.gathered.has_room() => match entry {
                    Some(waiting) => self.add(&waiting.entry),
                    None => break,
                },
                else => break,
            }
        }
        // It was logged if that failed, and nobody is left to tell.
        drop(self.write(None).await);
    }

    fn add(&mut self, entry: &Entry) {
        self.tell_lost();
        entry.logs.iter().for_each(|log| self.gather(log, &entry.event));
    }

    fn tell_lost(&mut self) {
        if let Some(count) = self.arrivals.lost() {
            self.gather(&AuditLog::Server, &AuditEvent::new("audit", Outcome::Lost(count)));
        }
    }

    fn gather(&mut self, log: &AuditLog, event: &AuditEvent) {
        let is_full = self.gathered.add(log, event);
        let due = Instant::now() + if is_full { Duration::ZERO } else { MOMENT };
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    async fn flush(&mut self, flush: Flush) {
        let Flush { log, written } = flush;
        self.tell_lost();
        // What comes from now on is not waited for.
        let mut left = self.arrivals.events.len();
        let outcome = loop {
            while left > 0
                && self.gathered.has_room()
                && let Ok(waiting) = self.arrivals.events.try_recv()
            {
                self.add(&waiting.entry);
                left -= 1;
            }
            // If there is no room, what is left is reached only when everything is stored.
            let only = log.as_ref().filter(|_| left == 0);
            let outcome = self.write(only).await;
            if outcome.is_err() || left == 0 {
                break outcome;
            }
        };
        // Whoever asked may have gone.
        drop(written.send(outcome));
    }

    /// Stores what is gathered of one log, or of all; keeps what could not be stored.
    async fn write(&mut self, log: Option<&AuditLog>) -> Result<()> {
        let ledger = &self.ledger;
        let work = self.gathered.take(log).into_iter().map(|(log, batches)| async move {
            let (batches, outcome) = append_all(ledger, &log, batches).await;
            (log, batches, outcome)
        });
        let done: Vec<_> = stream::iter(work).buffer_unordered(LOGS_AT_ONCE).collect().await;
        let mut failure = None;
        for (log, batches, outcome) in done {
            if let Err(err) = outcome {
                self.gathered.put_back(log, batches);
                failure = Some(err);
            }
        }
        if self.gathered.is_empty() {
            self.due = None;
        } else if failure.is_some() {
            self.due = Some(Instant::now() + MOMENT);
        }
        let Some(err) = failure else { return Ok(()) };
        tracing::warn!(error = &err as &dyn std::error::Error, "audit could not be stored");
        Err(err)
    }
}

/// Stores batches of one log one after the other; gives back what is left.
async fn append_all(
    ledger: &Ledger,
    log: &AuditLog,
    mut batches: Batches,
) -> (Batches, Result<(), Error>) {
    while let Some(batch) = batches.front_mut() {
        if let Err(err) = ledger.append(log, batch).await {
            return (batches, Err(err));
        }
        batches.pop_front();
    }
    (batches, Ok(()))
}
