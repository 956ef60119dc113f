//! Closing and opening again.

use sandkeep_storage::{Domain, ErrorKind, Expected, frame};

use super::promises;
use super::store::{Store, lost, named, noise, numbered};

promises! {
    everything_is_there_after_opening_again needs Lasts;
    tokens_hold_after_opening_again needs Lasts;
    what_was_deleted_stays_deleted_after_opening_again needs Lasts;
    opening_again_and_again_changes_nothing needs Lasts;
    opening_leaves_nothing_behind needs Lasts;
    a_second_opener_is_refused needs Exclusive;
    the_store_is_free_as_soon_as_it_is_dropped needs Exclusive;
    the_store_is_free_even_when_writes_were_under_way needs Exclusive;
    a_store_in_memory_says_that_it_does_not_last;
}

async fn everything_is_there_after_opening_again(store: Store) {
    let (domain, large) = (Domain::random(), noise(2 << 20));
    store.put(numbered(domain, 0), b"small").await;
    store.put(numbered(domain, 1), &large).await;
    store.put(numbered(domain, 2), b"").await;
    let token = store.create("s/demo/root", "value").await;
    let listed = store.listed(domain).await;
    let store = store.reopened().await;
    assert_eq!(store.content(numbered(domain, 0)).await, "small");
    assert!(store.content(numbered(domain, 1)).await == large);
    assert_eq!(store.content(numbered(domain, 2)).await, "");
    assert_eq!(store.listed(domain).await, listed);
    let current = store.load(&named("s/demo/root")).await.unwrap().unwrap();
    assert_eq!((current.value.as_ref(), current.token), (b"value".as_slice(), token));
}

async fn tokens_hold_after_opening_again(store: Store) {
    let object = numbered(Domain::random(), 0);
    store.put(object, b"x").await;
    let (token, of_ref) = (store.token(object).await, store.create("a", "one").await);
    let stale = store.create("b", "one").await;
    store.set("b", &stale, "two").await;
    let store = store.reopened().await;
    store.set("a", &of_ref, "two").await;
    let swap = store.swap(&named("b"), &Expected::Token(stale), "x".into()).await.unwrap();
    assert_eq!(lost(swap).unwrap(), "two");
    assert_eq!(store.delete_exact(&[(object, token)]).await.unwrap(), 1);
}

async fn what_was_deleted_stays_deleted_after_opening_again(store: Store) {
    let object = numbered(Domain::random(), 0);
    store.put(object, b"x").await;
    let token = store.token(object).await;
    store.delete_exact(&[(object, token)]).await.unwrap();
    let token = store.create("a", "x").await;
    store.delete_ref(&named("a"), &token).await.unwrap();
    let store = store.reopened().await;
    assert!(!store.has(object).await);
    assert_eq!(store.list(None, None, 10).await.unwrap(), []);
    assert_eq!(store.value("a").await, None);
}

async fn opening_again_and_again_changes_nothing(mut store: Store) {
    let domain = Domain::random();
    for number in 0..6 {
        store.put(numbered(domain, number), &number.to_le_bytes()).await;
        store.create(&format!("a/{number}"), number.to_string()).await;
        store = store.reopened().await;
        assert_eq!(store.listed(domain).await.len(), number as usize + 1);
        assert_eq!(store.keys("a/").await.len(), number as usize + 1);
    }
}

async fn opening_leaves_nothing_behind(store: Store) {
    let store = store.reopened().await;
    assert_eq!(store.list(None, None, 10).await.unwrap(), []);
    assert_eq!(store.list_refs("", None, 10).await.unwrap(), []);
}

async fn a_second_opener_is_refused(store: Store) {
    let err = Store::try_open(&store.url).await.map(drop).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InUse);
    assert!(err.to_string().contains("only one may have it"), "{err}");
    store.create("a", "unharmed").await;
}

async fn the_store_is_free_as_soon_as_it_is_dropped(store: Store) {
    let url = store.url.clone();
    drop(store);
    let store = Store::open(&url).await;
    store.create("a", "x").await;
}

async fn the_store_is_free_even_when_writes_were_under_way(store: Store) {
    let url = store.url.clone();
    let domain = Domain::random();
    let objects = (0..100).map(|number| (numbered(domain, number), frame::seal(&noise(5000))));
    let key = named("a");
    let expected = Expected::Absent;
    let commit = store.commit(objects.collect(), &key, &expected, "x".into());
    tokio::time::timeout(std::time::Duration::from_micros(200), commit).await.ok();
    drop(store);
    let store = Store::open(&url).await;
    let is_there = store.value("a").await.is_some();
    assert_eq!(store.listed(domain).await.len(), if is_there { 100 } else { 0 });
}

async fn a_store_in_memory_says_that_it_does_not_last(store: Store) {
    assert_eq!(store.capabilities().durable, !store.url.ends_with("memory:"));
}
