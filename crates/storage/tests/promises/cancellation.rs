//! Callers that stop waiting.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::future::poll_fn;
use sandkeep_storage::{Domain, Expected, frame};
use tokio::time::timeout;

use super::promises;
use super::store::{Store, fresh, named, numbered, won};

promises! {
    a_commit_whose_caller_leaves_is_whole_or_not_at_all;
    a_commit_whose_caller_leaves_at_once_is_whole_or_not_at_all;
    a_put_whose_caller_leaves_is_whole_or_not_at_all;
    a_delete_whose_caller_leaves_does_no_harm;
    reads_whose_callers_leave_do_no_harm;
    callers_that_leave_hold_nobody_up;
}

async fn a_commit_whose_caller_leaves_is_whole_or_not_at_all(store: Store) {
    let domain = Domain::random();
    for round in 0..60 {
        let key = format!("round/{round}");
        let objects = (0..5).map(|part| (numbered(domain, round * 10 + part), frame::seal(b"x")));
        let (named, expected) = (named(&key), Expected::Absent);
        let commit = store.commit(objects.collect(), &named, &expected, "x".into());
        // From before the first step to after the last.
        timeout(Duration::from_micros(u64::from(round) * 40), commit).await.ok();
    }
    all_are_whole(&store, domain).await;
}

async fn a_commit_whose_caller_leaves_at_once_is_whole_or_not_at_all(store: Store) {
    let domain = Domain::random();
    for round in 0..20 {
        let key = format!("round/{round}");
        let objects = (0..5).map(|part| (numbered(domain, round * 10 + part), frame::seal(b"x")));
        let (named, expected) = (named(&key), Expected::Absent);
        let commit = store.commit(objects.collect(), &named, &expected, "x".into());
        let mut commit = pin!(commit);
        poll_fn(|context| Poll::Ready(commit.as_mut().poll(context).is_ready())).await;
    }
    all_are_whole(&store, domain).await;
}

/// Every ref has its five objects.
async fn all_are_whole(store: &Store, domain: Domain) {
    // What comes later is written later, so that nothing is under way any more.
    store.create("last", "x").await;
    for (key, _) in store.list_refs("round/", None, usize::MAX).await.unwrap() {
        let round: u32 = key.as_str().strip_prefix("round/").unwrap().parse().unwrap();
        for part in 0..5 {
            assert!(store.has(numbered(domain, round * 10 + part)).await, "{key} lacks {part}");
        }
    }
}

async fn a_put_whose_caller_leaves_is_whole_or_not_at_all(store: Store) {
    let content = vec![7; 100_000];
    let mut keys = Vec::new();
    for round in 0..40_u64 {
        let key = fresh();
        let put = store.put_many(vec![(key, frame::seal(&content))]);
        timeout(Duration::from_micros(round * 40), put).await.ok();
        keys.push(key);
    }
    store.create("last", "x").await;
    for key in keys {
        if store.has(key).await {
            assert_eq!(store.content(key).await, content);
        }
        assert_eq!(store.listed(key.domain).await.len(), usize::from(store.has(key).await));
    }
}

async fn a_delete_whose_caller_leaves_does_no_harm(store: Store) {
    for round in 0..20_u64 {
        let key = fresh();
        store.put(key, b"x").await;
        let objects = [(key, store.token(key).await)];
        timeout(Duration::from_micros(round * 40), store.delete_exact(&objects)).await.ok();
        store.put(key, b"again").await;
        assert_eq!(store.content(key).await, "again");
    }
}

async fn reads_whose_callers_leave_do_no_harm(store: Store) {
    let key = fresh();
    store.put(key, &vec![1; 1 << 20]).await;
    let token = store.create("a", "x").await;
    for round in 0..u64::from(store.times(100)) {
        let patience = Duration::from_micros(round * 5);
        timeout(patience, store.get(&key)).await.ok();
        timeout(patience, store.load(&named("a"))).await.ok();
        timeout(patience, store.list(None, None, 10)).await.ok();
    }
    store.set("a", &token, "y").await;
    assert_eq!(store.content(key).await.len(), 1 << 20);
}

async fn callers_that_leave_hold_nobody_up(store: Store) {
    for round in 0..store.times(500) {
        let (key, expected) = (named(&format!("left/{round}")), Expected::Absent);
        let swap = store.swap(&key, &expected, "x".into());
        timeout(Duration::ZERO, swap).await.ok();
    }
    let (key, expected) = (named("a"), Expected::Absent);
    let swap = store.swap(&key, &expected, "x".into());
    won(timeout(Duration::from_secs(30), swap).await.unwrap().unwrap());
}
