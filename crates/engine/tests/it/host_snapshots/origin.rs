//! The snapshots of one directory are not taken for those of another.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use sandkeep_engine::{ErrorKind, FileSystem as _, HostFs, Limits, SandboxPath, Store};
use storage::MemoryStorage;

use super::{open, sandbox, snapshot, take};

/// Two directories, and a store.
struct Ground {
    place: tempfile::TempDir,
    store: Store,
}

impl Ground {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for name in ["one", "other"] {
            fs::create_dir(place.path().join(name)).unwrap();
            fs::write(place.path().join(name).join("file"), name).unwrap();
        }
        Self { place, store: Store::flushing(Arc::new(MemoryStorage::default())) }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.place.path().join(name)
    }

    /// A directory as a server opens it.
    fn open(&self, name: &str) -> HostFs {
        let staging = self.path("staging");
        let files = open(&self.path(name), Limits::default(), Some(&staging));
        files.with_snapshots(self.store.clone(), sandbox())
    }
}

fn content(file: &Path) -> String {
    fs::read_to_string(file).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_directories_do_not_share_the_snapshots_of_one_name() {
    let ground = Ground::new();
    take(&ground.open("one"), "v1").await.unwrap();
    let other = ground.open("other");
    let refused = take(&other, "v2").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PreconditionFailed);
    assert!(refused.message().contains("another directory"), "{refused}");
    assert!(other.check_snapshots().await.is_err());
    let restored = other.snapshots().unwrap().restore(&snapshot("v1"), &SandboxPath::root()).await;
    assert!(restored.is_err());
    assert_eq!(content(&ground.path("other/file")), "other");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_was_moved_and_opened_anew_keeps_its_snapshots() {
    let ground = Ground::new();
    take(&ground.open("one"), "v1").await.unwrap();
    fs::rename(ground.path("one"), ground.path("moved")).unwrap();
    fs::write(ground.path("moved/file"), "changed").unwrap();
    let moved = ground.open("moved");
    moved.check_snapshots().await.unwrap();
    take(&moved, "v2").await.unwrap();
    moved.snapshots().unwrap().restore(&snapshot("v1"), &SandboxPath::root()).await.unwrap();
    assert_eq!(content(&ground.path("moved/file")), "one");
    ground.open("moved").check_snapshots().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_took_the_place_of_another_adopts_its_snapshots() {
    let ground = Ground::new();
    take(&ground.open("one"), "v1").await.unwrap();
    fs::remove_dir_all(ground.path("one")).unwrap();
    let other = ground.open("other");
    assert!(take(&other, "v2").await.is_err());
    other.adopt_snapshots().await.unwrap();
    take(&other, "v2").await.unwrap();
    other.snapshots().unwrap().restore(&snapshot("v1"), &SandboxPath::root()).await.unwrap();
    assert_eq!(content(&ground.path("other/file")), "one");
    ground.open("other").check_snapshots().await.unwrap();
}
