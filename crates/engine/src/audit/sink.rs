//! Whoever gets every event as it comes, such as a file of lines.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::event::{AuditEvent, Outcome};
use super::queue::{Arrivals, Flush, Waiting};

/// How many events are handed over at once.
const AT_ONCE: usize = 256;

/// Somebody who writes events down in his own way.
#[async_trait]
pub trait AuditSink: Debug + Send + Sync + 'static {
    /// Writes events down, in this order. While it does, others wait; whoever cannot write says so
    /// in his own log.
    async fn write(&self, events: &[&AuditEvent]);
}

/// Hands over what arrives until nobody is left to put anything in.
pub(super) async fn hand_over(sink: Arc<dyn AuditSink>, mut arrivals: Arrivals) {
    let mut entries = Vec::new();
    loop {
        tokio::select! {
            biased;
            Some(Flush { written, .. }) = arrivals.flushes.recv() => {
                let waiting = arrivals.events.len();
                let arrived = std::iter::from_fn(|| arrivals.events.try_recv().ok());
                entries.extend(arrived.take(waiting));
                write(&*sink, &arrivals, &mut entries).await;
                // Whoever asked may have gone.
                drop(written.send(Ok(())));
            }
            count = arrivals.events.recv_many(&mut entries, AT_ONCE) => {
                if count == 0 {
                    break;
                }
                write(&*sink, &arrivals, &mut entries).await;
            }
        }
    }
    write(&*sink, &arrivals, &mut entries).await;
}

async fn write(sink: &dyn AuditSink, arrivals: &Arrivals, entries: &mut Vec<Waiting>) {
    let lost = arrivals.lost().map(|count| AuditEvent::new("audit", Outcome::Lost(count)));
    if lost.is_some() || !entries.is_empty() {
        let arrived = entries.iter().map(|waiting| &waiting.entry.event);
        let events: Vec<&AuditEvent> = arrived.chain(&lost).collect();
        sink.write(&events).await;
        entries.clear();
    }
}
