//! What becomes of events when the store, or those who asked, go away.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use async_trait::async_trait;
use sandkeep_engine::{
    Audit, AuditEvent, AuditLog, AuditSink, LostEvents, Outcome, Retention, Store,
};
use storage::Storage;
use tokio::time::{Instant, sleep};

use super::{Kept, all, demo, event, memory, operations, record, server};
use crate::contents::at;
use crate::troubled::Troubled;

#[tokio::test(start_paused = true)]
async fn what_is_recorded_while_the_store_is_away_is_stored_when_it_is_back() {
    let storage = Troubled::new(memory());
    let (audit, other) = (server(&storage), server(&storage));
    storage.trouble.is_away.store(true, SeqCst);
    let expected: Vec<_> = (0..1000).map(|number| number.to_string()).collect();
    for operation in &expected {
        record(&audit, demo(), operation).await;
    }
    audit.flush().await.unwrap_err();
    sleep(Duration::from_mins(1)).await;
    storage.trouble.is_away.store(false, SeqCst);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(operations(&other, &demo()).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_batch_whose_answer_got_lost_is_stored_once() {
    let storage = Troubled::new(memory());
    let audit = server(&storage);
    record(&audit, demo(), "before").await;
    audit.flush().await.unwrap();
    storage.trouble.swaps_lost.store(3, SeqCst);
    record(&audit, demo(), "lost").await;
    audit.flush().await.unwrap_err();
    // Somebody else writes before we learn what became of it.
    let other = server(&storage);
    storage.trouble.swaps_lost.store(0, SeqCst);
    record(&other, demo(), "between").await;
    other.flush().await.unwrap();
    record(&audit, demo(), "after").await;
    assert_eq!(operations(&audit, &demo()).await, ["before", "lost", "between", "after"]);
}

#[tokio::test(start_paused = true)]
async fn who_records_waits_a_second_at_most_and_what_is_lost_is_counted() {
    let storage = Troubled::new(memory());
    let kept = Arc::new(Kept::default());
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
    let audit = Audit::new(Some(&store), Some(Arc::clone(&kept) as _), Retention::default());
    storage.trouble.is_away.store(true, SeqCst);
    let began = Instant::now();
    for number in 0..10_000 {
        record(&audit, demo(), number.to_string()).await;
    }
    // Only the first waits in vain; the others are told at once that there is no room.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    storage.trouble.is_away.store(false, SeqCst);
    audit.flush().await.unwrap();
    let stored = all(&audit, &demo()).await.len() as u64;
    let told: u64 = all(&audit, &AuditLog::Server).await.iter().map(lost).sum();
    assert!((2048..10_000).contains(&stored), "{stored}");
    assert_eq!(stored + told, 10_000);
    assert_eq!(audit.lost(), LostEvents { store: told, sink: 0 });
    let lines = kept.0.lock();
    assert_eq!(lines.iter().filter(|event| lost(event) == 0).count(), 10_000);
}

fn lost(event: &AuditEvent) -> u64 {
    match event.outcome {
        Outcome::Lost(count) => count,
        _ => 0,
    }
}

#[tokio::test(start_paused = true)]
async fn what_anybody_can_cause_leaves_room_for_what_is_done_inside() {
    let storage = Troubled::new(memory());
    let audit = server(&storage);
    storage.trouble.is_away.store(true, SeqCst);
    // So many are held, and then the queue fills.
    let began = Instant::now();
    for _ in 0..50_000 {
        record(&audit, AuditLog::Gate, "knock").await;
        tokio::task::yield_now().await;
    }
    for number in 0..500 {
        record(&audit, demo(), number.to_string()).await;
    }
    assert!(began.elapsed() < Duration::from_secs(1), "nobody had to wait");
    storage.trouble.is_away.store(false, SeqCst);
    assert_eq!(all(&audit, &demo()).await.len(), 500);
    let told: u64 = all(&audit, &AuditLog::Server).await.iter().map(lost).sum();
    assert_eq!(all(&audit, &AuditLog::Gate).await.len() as u64 + told, 50_000);
}

#[tokio::test(start_paused = true)]
async fn what_is_in_the_queue_is_written_when_nobody_has_the_audit_any_more() {
    let storage = memory();
    let kept = Arc::new(Kept::default());
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>);
    let audit = Audit::new(Some(&store), Some(Arc::clone(&kept) as _), Retention::default());
    record(&audit, demo(), "last").await;
    drop(audit);
    sleep(Duration::from_millis(10)).await;
    assert_eq!(operations(&server(&storage), &demo()).await, ["last"]);
    assert_eq!(kept.0.lock().len(), 1);
}

/// A sink that takes very long.
#[derive(Debug)]
struct Slow;

#[async_trait]
impl AuditSink for Slow {
    async fn write(&self, _: &[&AuditEvent]) {
        sleep(Duration::from_hours(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_sink_that_hangs_stops_neither_callers_nor_the_store() {
    let store = Store::flushing(memory());
    let audit = Audit::new(Some(&store), Some(Arc::new(Slow)), Retention::default());
    let began = Instant::now();
    for number in 0..5000 {
        audit.record(demo(), event(number.to_string())).await;
    }
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(all(&audit, &demo()).await.len(), 5000);
}

#[tokio::test(start_paused = true)]
async fn an_event_whose_recorder_went_away_while_it_waited_counts_as_lost() {
    let storage = Troubled::new(memory());
    let audit = server(&storage);
    storage.trouble.is_away.store(true, SeqCst);
    let mut recorded = 0;
    let full = loop {
        let recording = record(&audit, demo(), "x");
        if tokio::time::timeout(Duration::from_millis(500), recording).await.is_err() {
            break recorded;
        }
        recorded += 1;
    };
    storage.trouble.is_away.store(false, SeqCst);
    assert_eq!(all(&audit, &demo()).await.len(), full);
    assert_eq!(all(&audit, &AuditLog::Server).await[0].outcome, Outcome::Lost(1));
}

#[tokio::test(start_paused = true)]
async fn events_with_long_paths_wait_in_no_more_memory_than_short_ones() {
    let storage = Troubled::new(memory());
    let audit = server(&storage);
    storage.trouble.is_away.store(true, SeqCst);
    let path = Some(at(&format!("/{}x", "d/".repeat(2000))));
    for _ in 0..5000 {
        let long = AuditEvent { path: path.clone(), from: path.clone(), ..event("rename") };
        audit.record(demo(), long).await;
    }
    storage.trouble.is_away.store(false, SeqCst);
    audit.flush().await.unwrap();
    // 8 MiB are gathered for the store, and 8 MiB wait behind that; each takes about 8 KiB.
    let kept = 5000 - audit.lost().store;
    assert!((1500..=2200).contains(&kept), "{kept}");
    let told: u64 = all(&audit, &AuditLog::Server).await.iter().map(lost).sum();
    assert_eq!(told, 5000 - kept);
}
