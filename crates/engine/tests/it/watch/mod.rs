//! Watching: nobody who is cut off misses a change, or else he is told.

mod client;
mod host;
mod storm;
mod virtual_tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandkeep_engine::{
    Durability, ErrorKind, FileSystem, HostFs, HostOptions, Limits, Mounts, Store, Watch,
};
use tempfile::TempDir;

use crate::fixture::{id, memory, memory_dir, stored};

use self::storm::{at, hold_through};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_cut_off_misses_nothing_of_a_tree_in_memory() {
    assert_eq!(hold_through(Arc::new(memory().await), 1).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_cut_off_misses_nothing_of_a_stored_tree() {
    assert_eq!(hold_through(Arc::new(stored().await), 2).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_cut_off_misses_nothing_of_a_tree_in_files() {
    let dir = memory_dir();
    let store = Store::open(&format!("file:{}", dir.path().join("store").display())).await.unwrap();
    let files = store.create(&id("trial"), Limits::default()).await.unwrap();
    assert_eq!(hold_through(Arc::new(files), 3).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_cut_off_misses_nothing_of_a_host_directory() {
    let host = Host::new(Staging::Beside);
    hold_through(Arc::new(host.files.clone()), 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_cut_off_misses_nothing_of_a_host_directory_without_staging() {
    let host = Host::new(Staging::None);
    hold_through(Arc::new(host.files.clone()), 5).await;
}

/// A real directory.
struct Host {
    files: HostFs,
    root: PathBuf,
    _alive: TempDir,
}

#[derive(Clone, Copy)]
enum Staging {
    Beside,
    None,
}

impl Host {
    #[expect(clippy::disallowed_methods, reason = "the fixture lies outside the tree under test")]
    fn new(staging: Staging) -> Self {
        let alive = tempfile::tempdir().unwrap();
        let root = alive.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let staging = match staging {
            Staging::Beside => vec![alive.path().join("staging")],
            Staging::None => Vec::new(),
        };
        Self { files: Self::open(&root, staging), root, _alive: alive }
    }

    fn open(root: &Path, staging: Vec<PathBuf>) -> HostFs {
        let (limits, durability) = (Limits::default(), Durability::Relaxed);
        let options = HostOptions { limits, durability, mounts: Mounts::Stay, staging };
        HostFs::open(root, options).unwrap()
    }
}

/// Why a directory is not watched.
async fn refusal_of(files: &dyn FileSystem, dir: &str) -> ErrorKind {
    let watch = files.watch(&at(dir), Watch::default()).await;
    watch.map(|_| "watched").unwrap_err().kind()
}
