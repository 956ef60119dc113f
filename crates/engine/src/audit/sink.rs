//! Whoever gets every event as it comes, such as a file of lines.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::event::{AuditEvent, AuditLog, Outcome};
use super::queue::{Arrivals, Entry, Flush};

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

async fn write(sink: &dyn AuditSink, arrivals: &Arrivals, entries: &mut Vec<Arc<Entry>>) {
    if let Some(count) = arrivals.lost() {
        let event = AuditEvent::new("audit", Outcome::Lost(count));
        entries.push(Arc::new(Entry { log: AuditLog::Server, event }));
    }
    if !entries.is_empty() {
        let events: Vec<&AuditEvent> = entries.iter().map(|entry| &entry.event).collect();
        sink.write(&events).await;
        entries.clear();
    }
}
