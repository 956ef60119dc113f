//! Which sandboxes a store has, and what becomes of those that are removed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sandkeep_engine::{
    ErrorKind, FileSystem as _, Limits, Links, NewSnapshot, OpenOptions, Point, SandboxId,
    SnapshotId, Store, VirtualFs,
};
use storage::{MemoryStorage, Refs as _, Storage};

use crate::contents::{at, is_there, sandbox, snapshot, write};
use crate::fixture::refusal;
use crate::meddling::Meddling;
use crate::troubled::Troubled;

fn stores() -> [Store; 2] {
    [Store::in_memory(), Store::flushing(Arc::new(MemoryStorage::default()))]
}

async fn new(store: &Store, id: &str) -> VirtualFs {
    store.create(&sandbox(id), Limits::default()).await.unwrap()
}

async fn ids(store: &Store, after: Option<&str>, limit: usize) -> Vec<String> {
    let after = after.map(sandbox);
    let ids = store.list(after.as_ref(), limit).await.unwrap();
    ids.iter().map(SandboxId::to_string).collect()
}

#[tokio::test]
async fn sandboxes_are_listed_page_by_page() {
    for store in stores() {
        let made = ["b", "a", "a-b", "c9", "c"];
        for id in made {
            let files = new(&store, id).await;
            write(&files, "/x", "1").await;
            for number in 0..3 {
                snapshot(&files, &format!("s{number}")).await;
            }
        }
        let all = ids(&store, None, 100).await;
        assert_eq!(all, ["a-b", "a", "b", "c", "c9"]);
        let mut pages = Vec::new();
        while let page = ids(&store, pages.last().map(String::as_str), 2).await
            && !page.is_empty()
        {
            pages.extend(page);
        }
        assert_eq!(pages, all);
    }
}

#[tokio::test]
async fn many_snapshots_do_not_hide_a_sandbox() {
    let [_, store] = stores();
    let files = new(&store, "a").await;
    for number in 0..600 {
        snapshot(&files, &format!("s{number}")).await;
    }
    new(&store, "b").await;
    assert_eq!(ids(&store, None, 10).await, ["a", "b"]);
    assert_eq!(ids(&store, Some("a"), 10).await, ["b"]);
}

#[tokio::test]
async fn a_removed_sandbox_is_gone_with_its_snapshots() {
    for store in stores() {
        let files = new(&store, "gone").await;
        new(&store, "gone-not").await;
        snapshot(&files, "one").await;
        store.remove(&sandbox("gone")).await.unwrap();
        assert_eq!(ids(&store, None, 10).await, ["gone-not"]);
        assert_eq!(refusal(store.sandbox(&sandbox("gone"))).await, ErrorKind::NotFound);
        assert_eq!(refusal(store.remove(&sandbox("gone"))).await, ErrorKind::NotFound);
        let again = new(&store, "gone").await;
        assert_eq!(again.snapshots().unwrap().list(None, 10).await.unwrap(), []);
    }
}

#[tokio::test]
async fn whoever_has_a_removed_sandbox_open_is_told() {
    for store in stores() {
        let files = new(&store, "gone").await;
        write(&files, "/a", "1").await;
        let file = files.open(&at("/a"), OpenOptions::Read).await.unwrap();
        store.remove(&sandbox("gone")).await.unwrap();
        assert_eq!(refusal(files.stat(&at("/a"), Links::Keep)).await, ErrorKind::Unavailable);
        assert_eq!(refusal(files.symlink(&at("/b"), "a")).await, ErrorKind::Unavailable);
        assert_eq!(refusal(file.read_at(0, 1)).await, ErrorKind::Unavailable);
        let snapshots = files.snapshots().unwrap();
        assert_eq!(refusal(snapshots.create(Default::default())).await, ErrorKind::Unavailable);
    }
}

#[tokio::test]
async fn a_sandbox_made_under_the_id_of_a_removed_one_is_new() {
    for store in stores() {
        let old = new(&store, "same").await;
        write(&old, "/a", "1").await;
        store.remove(&sandbox("same")).await.unwrap();
        let files = new(&store, "same").await;
        assert!(!is_there(&files, "/a").await);
        write(&files, "/b", "2").await;
        assert!(is_there(&store.sandbox(&sandbox("same")).await.unwrap(), "/b").await);
        assert_eq!(refusal(old.symlink(&at("/l"), "a")).await, ErrorKind::Unavailable);
    }
}

#[tokio::test]
async fn a_fork_outlives_what_it_was_made_of() {
    for store in stores() {
        let files = new(&store, "source").await;
        write(&files, "/a", "1").await;
        let snapshots = files.snapshots().unwrap();
        snapshots.fork(Point::Live, &sandbox("fork"), Limits::default()).await.unwrap();
        store.remove(&sandbox("source")).await.unwrap();
        assert!(is_there(&store.sandbox(&sandbox("fork")).await.unwrap(), "/a").await);
    }
}

#[tokio::test]
async fn a_change_never_reaches_another_sandbox_of_the_same_id() {
    let storage = Arc::new(MemoryStorage::default());
    let [one, other] = [(); 2].map(|()| Store::flushing(Arc::clone(&storage) as Arc<dyn Storage>));
    let files = new(&one, "same").await;
    write(&files, "/a", "1").await;
    other.remove(&sandbox("same")).await.unwrap();
    let theirs = new(&other, "same").await;
    assert_eq!(refusal(files.symlink(&at("/l"), "a")).await, ErrorKind::Unavailable);
    assert!(!is_there(&theirs, "/l").await);
    let ours = one.sandbox(&sandbox("same")).await.unwrap();
    assert!(!is_there(&ours, "/a").await);
    write(&ours, "/b", "2").await;
    assert!(is_there(&ours, "/b").await);
}

/// Two servers on one storage.
fn two_servers() -> (Arc<Meddling>, [Store; 2]) {
    let storage = Meddling::new();
    storage.share();
    let stores = [(); 2].map(|()| Store::flushing(storage.clone()));
    (storage, stores)
}

#[tokio::test]
async fn a_sandbox_that_is_made_while_the_last_of_its_id_is_removed_stays() {
    let (storage, [one, other]) = two_servers();
    write(&new(&one, "same").await, "/old", "1").await;
    let theirs = other.clone();
    storage.after_delete("sandboxes/same/root", async move {
        let files = new(&theirs, "same").await;
        write(&files, "/new", "2").await;
        snapshot(&files, "kept").await;
    });
    one.remove(&sandbox("same")).await.unwrap();
    let files = other.sandbox(&sandbox("same")).await.unwrap();
    assert!(is_there(&files, "/new").await && !is_there(&files, "/old").await);
    assert_eq!(files.snapshots().unwrap().list(None, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_snapshot_of_a_sandbox_that_another_server_removes_is_not_left_behind() {
    let (storage, [one, other]) = two_servers();
    let files = new(&one, "gone").await;
    write(&files, "/a", "1").await;
    storage.before_swap("sandboxes/gone/snapshots/late", async move {
        other.remove(&sandbox("gone")).await.unwrap();
    });
    let late = NewSnapshot { id: Some(SnapshotId::parse("late").unwrap()), ..Default::default() };
    let created = files.snapshots().unwrap().create(late);
    assert_eq!(refusal(created).await, ErrorKind::Unavailable);
    assert_eq!(storage.list_refs("sandboxes/", None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_sandbox_that_others_change_before_its_maker_hears_of_it_is_his_all_the_same() {
    let storage = Troubled::new(Arc::new(MemoryStorage::default()));
    let steady = storage::steady(storage.clone(), Duration::from_secs(5));
    let [one, other] = [(); 2].map(|()| Store::flushing(steady.clone()));
    storage.trouble.swaps_lost.store(1, Ordering::SeqCst);
    let made = tokio::spawn(async move { one.create(&sandbox("new"), Limits::default()).await });
    while storage.trouble.swaps_lost.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    write(&other.sandbox(&sandbox("new")).await.unwrap(), "/a", "1").await;
    let files = made.await.unwrap().unwrap();
    assert!(is_there(&files, "/a").await);
}
