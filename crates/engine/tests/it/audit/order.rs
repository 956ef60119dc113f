//! What is read is what was recorded, once and in order, whoever writes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use sandkeep_engine::{Audit, AuditLog, ErrorKind, Retention, Store};
use storage::Refs as _;
use tokio::task::JoinSet;
use tokio::time::{advance, sleep};

use super::{Kept, all, demo, event, memory, operations, record, server};
use crate::contents::sandbox;
use crate::fixture::refusal;
use crate::meddling::Meddling;
use crate::troubled::Troubled;

#[tokio::test]
async fn whoever_recorded_something_reads_it_at_once_and_in_order() {
    for store in [Store::in_memory(), Store::flushing(memory())] {
        let audit = Audit::new(Some(&store), None, Retention::default());
        let expected: Vec<_> = (0..1000).map(|number| number.to_string()).collect();
        for operation in &expected {
            record(&audit, demo(), operation).await;
        }
        assert_eq!(operations(&audit, &demo()).await, expected);
    }
}

#[tokio::test]
async fn each_log_has_its_own_events() {
    let audit = server(&memory());
    let logs = [AuditLog::Server, AuditLog::Gate, demo(), AuditLog::Sandbox(sandbox("server"))];
    for (number, log) in logs.iter().enumerate() {
        record(&audit, log.clone(), number.to_string()).await;
    }
    for (number, log) in logs.iter().enumerate() {
        assert_eq!(operations(&audit, log).await, [number.to_string()]);
    }
    assert_eq!(all(&audit, &AuditLog::Sandbox(sandbox("other"))).await, []);
}

#[tokio::test(start_paused = true)]
async fn others_read_what_was_recorded_a_second_later() {
    let storage = memory();
    let [one, other] = [server(&storage), server(&storage)];
    record(&one, demo(), "first").await;
    assert_eq!(operations(&other, &demo()).await, [""; 0]);
    sleep(Duration::from_millis(1100)).await;
    assert_eq!(operations(&other, &demo()).await, ["first"]);
}

#[tokio::test(start_paused = true)]
async fn many_events_are_kept_as_few_refs() {
    let storage = memory();
    let audit = server(&storage);
    for number in 0..1000 {
        record(&audit, demo(), number.to_string()).await;
    }
    audit.flush().await.unwrap();
    let refs = storage.list_refs("audit/demo/0", None, 100).await.unwrap();
    assert!((4..=6).contains(&refs.len()), "{}", refs.len());
    assert!(refs.iter().all(|(_, stored)| stored.value.len() < 64 << 10));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_silent_writes_behind_what_others_wrote_meanwhile() {
    let storage = memory();
    let [one, other] = [server(&storage), server(&storage)];
    let mut expected = Vec::new();
    for round in 0..5 {
        for (audit, count) in [(&one, 1), (&other, 3 * round + 1)] {
            for number in 0..count {
                let operation = format!("{round}-{number}");
                record(audit, demo(), &operation).await;
                audit.flush().await.unwrap();
                expected.push(operation);
            }
        }
        advance(Duration::from_secs(11)).await;
    }
    assert_eq!(operations(&server(&storage), &demo()).await, expected);
}

#[tokio::test]
async fn who_begins_a_log_that_another_has_just_begun_writes_behind_him() {
    let storage = Meddling::new();
    let [late, early] = [server(&storage), server(&storage)];
    let faster = early.clone();
    storage.before_swap("audit/demo/-first", async move {
        // So that their clocks tell different times.
        sleep(Duration::from_millis(5)).await;
        record(&faster, demo(), "first").await;
        faster.flush().await.unwrap();
    });
    record(&late, demo(), "second").await;
    late.flush().await.unwrap();
    record(&early, demo(), "third").await;
    assert_eq!(operations(&early, &demo()).await, ["first", "second", "third"]);
}

#[tokio::test]
async fn many_who_begin_a_log_at_once_leave_no_gap() {
    let storage = Troubled::new(memory());
    let servers: Vec<_> = (0..8).map(|_| server(&storage)).collect();
    let mut writing = JoinSet::new();
    for (number, audit) in servers.iter().cloned().enumerate() {
        writing.spawn(async move {
            record(&audit, demo(), number.to_string()).await;
            audit.flush().await.unwrap();
        });
    }
    writing.join_all().await;
    let mut read = operations(&servers[0], &demo()).await;
    read.sort();
    assert_eq!(read, (0..8).map(|number| number.to_string()).collect::<Vec<_>>());
    // Without a gap, so that whoever looks for the end finds it.
    let refs = storage.list_refs("audit/demo/0", None, 100).await.unwrap();
    let number = |at: usize| refs[at].0.as_str()[11..].parse::<u64>().unwrap();
    assert_eq!(number(7) - number(0), 7);
}

/// 8 writers on 2 servers, on a store whose answers get lost now and then.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_sees_each_event_once_and_those_of_a_writer_in_order() {
    const EVENTS: u64 = 1500;
    let storage = Troubled::new(memory());
    let servers = [server(&storage), server(&storage)];
    let mut writing = JoinSet::new();
    for writer in 0..8_usize {
        let (audit, storage) = (servers[writer % 2].clone(), Arc::clone(&storage));
        writing.spawn(async move {
            for number in 0..EVENTS {
                record(&audit, demo(), format!("{writer} {number}")).await;
                // Of every other write the answer gets lost.
                if number % 50 == writer as u64 {
                    storage.trouble.swaps_lost.store(number / 50 % 2, SeqCst);
                    drop(audit.flush().await);
                }
            }
        });
    }
    let reader = server(&storage);
    let (mut after, mut seen) = (None, HashMap::<String, u64>::new());
    while seen.values().sum::<u64>() < 8 * EVENTS {
        let page = reader.events(&demo(), after, 333).await.unwrap();
        assert!(!page.gap);
        if page.events.is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
        for event in page.events {
            let (writer, number) = event.operation.split_once(' ').unwrap();
            let next = seen.entry(writer.to_owned()).or_default();
            assert_eq!(number.parse::<u64>().unwrap(), *next, "writer {writer}");
            *next += 1;
        }
        after = page.next;
    }
    writing.join_all().await;
    storage.trouble.swaps_lost.store(0, SeqCst);
    for audit in servers {
        audit.flush().await.unwrap();
    }
    assert_eq!(reader.events(&demo(), after, 10).await.unwrap().events, []);
}

#[tokio::test]
async fn a_sink_gets_every_event_in_order_and_without_a_store_nothing_can_be_read() {
    let kept = Arc::new(Kept::default());
    let audit = Audit::new(None, Some(Arc::clone(&kept) as _), Retention::default());
    let events: Vec<_> = (0..3000).map(|number| event(number.to_string())).collect();
    for event in &events {
        audit.record(demo(), event.clone()).await;
    }
    audit.flush().await.unwrap();
    assert_eq!(*kept.0.lock(), events);
    assert_eq!(refusal(audit.events(&demo(), None, 1)).await, ErrorKind::Unsupported);
}
