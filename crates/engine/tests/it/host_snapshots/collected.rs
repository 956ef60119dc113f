//! A collector may run at any moment; what somebody still needs of a directory stays.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use sandkeep_engine::{CollectOptions, FileSystem as _, HostFs, Limits, Point, SandboxId, Store};
use tempfile::TempDir;

use super::{bytes, open, sandbox, snapshot, take};
use crate::meddling::Meddling;

/// A directory with a snapshot `one`, opened twice.
struct Ground {
    root: TempDir,
    storage: Arc<Meddling>,
    store: Store,
    files: HostFs,
    others: HostFs,
}

async fn ground() -> Ground {
    let root = tempfile::tempdir().unwrap();
    let storage = Meddling::new();
    let store = Store::flushing(Arc::clone(&storage) as _);
    let opened =
        || open(root.path(), Limits::default(), None).with_snapshots(store.clone(), sandbox());
    let (files, others) = (opened(), opened());
    fs::create_dir(root.path().join("dir")).unwrap();
    fs::write(root.path().join("dir/file"), "wanted".repeat(1000)).unwrap();
    // Until the clock's tick has passed in which it was written, every scan reads the file anew.
    tokio::time::sleep(Duration::from_millis(50)).await;
    take(&files, "one").await.unwrap();
    Ground { root, storage, store, files, others }
}

/// Forks a state to which nothing leads any more when the fork is about to be made.
async fn fork_while_it_goes(from: Point) {
    let Ground { root, storage, store, files, others } = ground().await;
    let (file, collected) = (root.path().join("dir/file"), store.clone());
    storage.before_swap("sandboxes/fork/root", async move {
        fs::write(file, "changed".repeat(1000)).unwrap();
        take(&others, "two").await.unwrap();
        others.snapshots().unwrap().delete(&snapshot("one")).await.unwrap();
        for _ in 0..2 {
            tokio::time::sleep(Duration::from_millis(2)).await;
            collected.collect(CollectOptions { grace: Duration::ZERO }).await.unwrap();
        }
    });
    let fork = SandboxId::parse("fork").unwrap();
    files.snapshots().unwrap().fork(from, &fork, Limits::default()).await.unwrap();
    let fork = store.sandbox(&fork).await.unwrap();
    assert_eq!(bytes(&fork, "/dir/file").await.unwrap(), "wanted".repeat(1000).as_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_is_forked_may_be_deleted_and_collected_meanwhile() {
    fork_while_it_goes(Point::Snapshot(snapshot("one"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_is_forked_may_change_and_be_collected_meanwhile() {
    fork_while_it_goes(Point::Live).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_takes_nothing_over_that_was_collected_meanwhile() {
    let Ground { root, storage, store, files, others } = ground().await;
    files.snapshots().unwrap().delete(&snapshot("one")).await.unwrap();
    fs::write(root.path().join("new"), "new").unwrap();
    let (file, collected) = (root.path().join("dir/file"), store.clone());
    // The scan has read the directory by then, and another one finds it changed.
    storage.before_swap("sandboxes/trial/index", async move {
        fs::write(file, "changed".repeat(1000)).unwrap();
        take(&others, "two").await.unwrap();
        for _ in 0..2 {
            tokio::time::sleep(Duration::from_millis(2)).await;
            collected.collect(CollectOptions { grace: Duration::ZERO }).await.unwrap();
        }
    });
    take(&files, "three").await.unwrap();
    let three = files.snapshots().unwrap().open(&snapshot("three")).await.unwrap();
    assert_eq!(bytes(&*three, "/dir/file").await.unwrap(), "wanted".repeat(1000).as_bytes());
}
