//! A family of sandboxes is looked at once per grace, whoever collects.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sandkeep_engine::{CollectOptions, Collected, Limits, Store, VirtualFs};
use storage::{Expected, Objects as _, RefKey, Refs as _, Storage};

use crate::contents::{sandbox, write};
use crate::meddling::Meddling;

const HOUR: CollectOptions = CollectOptions { grace: Duration::from_hours(1) };
const SHORT: CollectOptions = CollectOptions { grace: Duration::from_millis(20) };

fn over(storage: &Arc<Meddling>) -> Store {
    Store::flushing(Arc::clone(storage) as Arc<dyn Storage>)
}

/// A store with a sandbox that leaves no garbage.
async fn ground() -> (Arc<Meddling>, Store, VirtualFs) {
    let storage = Meddling::new();
    let store = over(&storage);
    let files = store.create(&sandbox("clean"), Limits::default()).await.unwrap();
    write(&files, "/a", "1").await;
    (storage, store, files)
}

/// What collections wrote down.
async fn notes(storage: &Meddling) -> Vec<String> {
    let refs = storage.list_refs("gc/", None, usize::MAX).await.unwrap();
    refs.into_iter().map(|(key, _)| key.to_string()).collect()
}

async fn collect_later(store: &Store) -> Collected {
    tokio::time::sleep(2 * SHORT.grace).await;
    store.collect(SHORT).await.unwrap()
}

#[tokio::test]
async fn what_one_server_found_clean_is_left_alone_by_all_until_the_grace_is_over() {
    let (storage, store, _files) = ground().await;
    storage.share();
    let first = store.collect(HOUR).await.unwrap();
    assert_eq!((first.objects, first.live, first.waiting), (1, 1, 0));
    storage.reads();
    for server in [&over(&storage), &over(&storage), &store] {
        let next = server.collect(HOUR).await.unwrap();
        assert_eq!(next, Collected { waiting: 1, ..Collected::default() });
    }
    assert_eq!(storage.reads(), 0);
}

#[tokio::test]
async fn each_look_takes_the_note_of_the_one_before_away() {
    let (storage, store, _files) = ground().await;
    let mut last = Vec::new();
    for _ in 0..3 {
        assert_eq!(collect_later(&store).await.live, 1);
        let now = notes(&storage).await;
        assert!(now.len() == 1 && now != last, "{last:?} {now:?}");
        last = now;
    }
}

#[tokio::test]
async fn a_family_of_which_nothing_is_left_has_no_note() {
    let (storage, store, files) = ground().await;
    collect_later(&store).await;
    assert_eq!(notes(&storage).await.len(), 1);
    drop(files);
    store.remove(&sandbox("clean")).await.unwrap();
    assert_eq!(collect_later(&store).await.condemned, 1);
    assert_eq!(collect_later(&store).await.deleted, 1);
    assert_eq!(notes(&storage).await, [""; 0]);
}

#[tokio::test]
async fn a_rehearsal_notes_nothing() {
    let (storage, store, _files) = ground().await;
    assert_eq!(store.would_collect(HOUR).await.unwrap().live, 1);
    assert_eq!(notes(&storage).await, [""; 0]);
}

#[tokio::test]
async fn two_who_looked_at_once_are_followed_by_one() {
    let (storage, store, _files) = ground().await;
    let objects = storage.list(None, None, 1).await.unwrap();
    let domain = objects[0].key.domain;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let [over, waiting] = [61, 59].map(|minutes| {
        let time = now - Duration::from_mins(minutes);
        format!("gc/condemned/{domain}/{:013}-{:016x}", time.as_millis(), 0)
    });
    for key in [&over, &waiting] {
        let key = RefKey::new(key).unwrap();
        storage.swap(&key, &Expected::Absent, vec![1].into()).await.unwrap();
    }
    assert_eq!(store.collect(HOUR).await.unwrap().live, 1);
    assert_eq!(notes(&storage).await, [waiting]);
}
