//! What goes of a log, and what stays.

use std::sync::Arc;
use std::time::Duration;

use sandkeep_engine::{
    Actor, Audit, AuditLog, ErrorKind, Grant, Keys, Limits, NewKey, Retention, Store,
};
use storage::{Refs as _, Storage};

use super::{demo, end, memory, operations, record, server};
use crate::contents::sandbox;
use crate::fixture::memory_dir;

async fn batch(audit: &Audit, operation: String) {
    record(audit, demo(), operation).await;
    audit.flush().await.unwrap();
}

#[tokio::test]
async fn only_so_many_batches_of_a_log_stay_and_a_reader_is_told_of_the_gap() {
    let storage = memory();
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
    let few = Retention { batches: 64, ..Retention::default() };
    let audit = Audit::new(Some(&store), None, few);
    batch(&audit, "first".into()).await;
    let after = end(&audit, &demo()).await;
    for number in 0..300 {
        batch(&audit, number.to_string()).await;
    }
    let refs = storage.list_refs("audit/demo/", None, 1000).await.unwrap();
    assert!((64..64 + 32).contains(&refs.len()), "{}", refs.len());
    let page = audit.events(&demo(), after, 1000).await.unwrap();
    assert!(page.gap);
    assert_eq!(page.events.last().unwrap().operation, "299");
    assert!(!audit.events(&demo(), page.next, 1).await.unwrap().gap);
}

#[tokio::test]
async fn logs_in_memory_take_so_many_bytes_together_however_many_there_are() {
    let storage = memory();
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
    let small = Retention { in_memory: 64 << 10, ..Retention::default() };
    let audit = Audit::new(Some(&store), None, small);
    let log = |number: usize| AuditLog::Sandbox(sandbox(&format!("s{}", number % 50)));
    for number in 0..500 {
        record(&audit, log(number), number.to_string()).await;
        audit.flush().await.unwrap();
    }
    let held = storage.list_refs("audit/", None, 1000).await.unwrap();
    let held = held.iter().filter(|(key, _)| !key.as_str().ends_with("-first")).count();
    assert!((80..=128).contains(&held), "{held}");
    // What came last stays.
    assert_eq!(operations(&audit, &log(499)).await.last().unwrap(), "499");
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_place_was_swept_away_meanwhile_writes_behind_the_others() {
    let store = Store::flushing(memory());
    let few = Retention { batches: 64, ..Retention::default() };
    let [silent, busy] = [0, 1].map(|_| Audit::new(Some(&store), None, few));
    batch(&silent, "first".into()).await;
    for number in 0..200 {
        batch(&busy, number.to_string()).await;
    }
    let after = end(&busy, &demo()).await;
    tokio::time::advance(Duration::from_secs(11)).await;
    batch(&silent, "last".into()).await;
    let page = busy.events(&demo(), after, 10).await.unwrap();
    assert_eq!((page.events.len(), page.gap), (1, false));
    assert_eq!(page.events[0].operation, "last");
}

#[tokio::test]
async fn what_is_old_goes_and_what_is_young_stays() {
    let storage = memory();
    let audit = server(&storage);
    for log in [AuditLog::Server, AuditLog::Gate, demo(), AuditLog::Sandbox(sandbox("e"))] {
        for _ in 0..3 {
            record(&audit, log.clone(), "x").await;
            audit.flush().await.unwrap();
        }
    }
    assert_eq!(audit.sweep(Duration::from_hours(1)).await.unwrap(), 0);
    assert_eq!(operations(&audit, &demo()).await.len(), 3);
    assert_eq!(audit.sweep(Duration::ZERO).await.unwrap(), 12);
    assert_eq!(storage.list_refs("audit/", None, 100).await.unwrap(), []);
}

#[tokio::test]
async fn a_log_that_was_swept_away_goes_on_behind_where_it_ended() {
    let storage = memory();
    let audit = server(&storage);
    for number in 0..5 {
        batch(&audit, number.to_string()).await;
    }
    let after = end(&audit, &demo()).await;
    audit.sweep(Duration::ZERO).await.unwrap();
    // More milliseconds than there were batches.
    tokio::time::sleep(Duration::from_millis(10)).await;
    let other = server(&storage);
    batch(&other, "new".into()).await;
    let page = other.events(&demo(), after, 10).await.unwrap();
    assert_eq!(page.events.len(), 1);
    assert_eq!((&*page.events[0].operation, page.gap), ("new", true));
}

#[tokio::test]
async fn the_audit_of_a_sandbox_outlives_it() {
    let store = Store::flushing(memory());
    let audit = Audit::new(Some(&store), None, Retention::default());
    drop(store.create(&sandbox("demo"), Limits::default()).await.unwrap());
    record(&audit, demo(), "removed").await;
    store.remove(&sandbox("demo")).await.unwrap();
    assert_eq!(operations(&audit, &demo()).await, ["removed"]);
}

#[tokio::test]
async fn keys_and_the_audit_outlive_the_process_in_a_store_on_disk() {
    let dir = memory_dir();
    let url = format!("file:{}/store", dir.path().display());
    let store = Store::open(&url).await.unwrap();
    let grant = Grant::everything();
    let new = NewKey { grant, label: "ours".into(), created_by: Actor::Token };
    let (_, text) = Keys::new(&store).create(new).await.unwrap();
    let audit = Audit::new(Some(&store), None, Retention::default());
    for log in [AuditLog::Server, demo()] {
        record(&audit, log, "before").await;
    }
    audit.flush().await.unwrap();
    drop((audit, store));
    let store = reopened(&url).await;
    assert!(Keys::new(&store).check(text.expose()).await.unwrap().is_some());
    let audit = Audit::new(Some(&store), None, Retention::default());
    for log in [AuditLog::Server, demo()] {
        record(&audit, log.clone(), "after").await;
        assert_eq!(operations(&audit, &log).await, ["before", "after"]);
    }
}

/// The same store, once those who still had it have let go.
async fn reopened(url: &str) -> Store {
    loop {
        match Store::open(url).await {
            Err(err) if err.kind() == ErrorKind::Locked => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            outcome => return outcome.unwrap(),
        }
    }
}
