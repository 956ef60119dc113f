//! Who did what is written down, and read again.
//!
//! - `order`: what is read is what was recorded, once and in order, whoever writes
//! - `trouble`: what becomes of events when the store, or those who asked, go away
//! - `retention`: what goes of a log
//! - `work`: what a caller's work leaves in it

mod order;
mod retention;
mod trouble;
mod work;

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use sandkeep_engine::{
    Audit, AuditCursor, AuditEvent, AuditLog, AuditSink, Outcome, Retention, Store,
};
use storage::{MemoryStorage, Storage};

use crate::contents::sandbox;

fn memory() -> Arc<MemoryStorage> {
    Arc::default()
}

/// A server's audit over a store.
fn server(storage: &Arc<impl Storage>) -> Audit {
    let store = Store::flushing(Arc::clone(storage) as Arc<dyn Storage>);
    Audit::new(Some(&store), None, Retention::default())
}

fn demo() -> AuditLog {
    AuditLog::Sandbox(sandbox("demo"))
}

fn event(operation: impl Into<String>) -> AuditEvent {
    AuditEvent::new(operation.into(), Outcome::Done)
}

async fn record(audit: &Audit, log: AuditLog, operation: impl Into<String>) {
    audit.record(log, event(operation)).await;
}

/// Everything in a log, some events at a time.
async fn all(audit: &Audit, log: &AuditLog) -> Vec<AuditEvent> {
    let (mut events, mut after) = (Vec::new(), None);
    loop {
        let page = audit.events(log, after, 7).await.unwrap();
        assert!(!page.gap && page.events.len() <= 7);
        events.extend(page.events);
        if !page.more {
            return events;
        }
        after = page.next;
    }
}

async fn operations(audit: &Audit, log: &AuditLog) -> Vec<String> {
    all(audit, log).await.into_iter().map(|event| event.operation.into_owned()).collect()
}

/// Where a log ends now.
async fn end(audit: &Audit, log: &AuditLog) -> Option<AuditCursor> {
    let mut after = None;
    loop {
        let page = audit.events(log, after, 1000).await.unwrap();
        after = page.next;
        if !page.more {
            return after;
        }
    }
}

/// A sink that keeps what it gets.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<AuditEvent>>);

#[async_trait]
impl AuditSink for Kept {
    async fn write(&self, events: &[&AuditEvent]) {
        self.0.lock().extend(events.iter().map(|event| (*event).clone()));
    }
}
