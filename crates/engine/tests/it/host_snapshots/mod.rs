//! Snapshots of real directories: what they hold, and what a restore brings back.
#![expect(clippy::disallowed_methods, reason = "tests look at the directory from outside")]
#![expect(clippy::print_stdout, reason = "a process that a test starts tells what it found")]
#![expect(clippy::print_stderr, reason = "figures are for those who run the tests")]

pub(crate) mod children;
mod collected;
mod kills;
mod memory;
mod origin;
mod picture;
mod races;
mod restoring;
mod scanning;
mod together;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::TryStreamExt as _;
use sandkeep_engine::{
    DotDot, Durability, FileSystem, HostFs, HostOptions, Limits, Mounts, NewSnapshot, Result,
    SandboxId, SandboxPath, Snapshot, SnapshotId, Snapshots, Span, Store,
};
use storage::MemoryStorage;

/// A served directory and what lies beside it.
struct World {
    _keep: tempfile::TempDir,
    root: PathBuf,
    outside: PathBuf,
    staging: PathBuf,
    storage: Arc<MemoryStorage>,
    files: HostFs,
}

impl World {
    fn new() -> Self {
        Self::with(Limits::default(), Staged::Beside)
    }

    fn with(limits: Limits, staged: Staged) -> Self {
        let keep = tempfile::tempdir().unwrap();
        let [root, outside, staging] =
            ["root", "outside", "staging"].map(|name| keep.path().join(name));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), "secret").unwrap();
        let storage = Arc::new(MemoryStorage::default());
        let files = open(&root, limits, (staged == Staged::Beside).then_some(&staging))
            .with_snapshots(Store::flushing(Arc::clone(&storage) as _), sandbox());
        Self { _keep: keep, root, outside, staging, storage, files }
    }

    /// The same tree, opened anew with other limits.
    fn reopened(self, limits: Limits) -> Self {
        let Self { _keep, root, outside, staging, storage, files } = self;
        drop(files);
        let files = open(&root, limits, Some(&staging))
            .with_snapshots(Store::flushing(Arc::clone(&storage) as _), sandbox());
        Self { _keep, root, outside, staging, storage, files }
    }

    fn snapshots(&self) -> &dyn Snapshots {
        self.files.snapshots().unwrap()
    }

    async fn take(&self, name: &str) -> Snapshot {
        take(&self.files, name).await.unwrap()
    }

    async fn restore(&self, name: &str) -> Result<()> {
        self.snapshots().restore(&snapshot(name), &SandboxPath::root()).await
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    /// Nothing that unfinished work leaves.
    fn assert_nothing_staged(&self) {
        let own = fs::read_dir(&self.staging).unwrap().map(|entry| entry.unwrap().path());
        let left: Vec<_> = own.flat_map(|dir| fs::read_dir(dir).unwrap()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Whether unfinished things have a place outside the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Staged {
    Beside,
    Nowhere,
}

fn open(root: &Path, limits: Limits, staging: Option<&PathBuf>) -> HostFs {
    let (durability, mounts) = (Durability::Relaxed, Mounts::Stay);
    let staging = staging.cloned().into_iter().collect();
    HostFs::open(root, HostOptions { limits, durability, mounts, staging }).unwrap()
}

async fn take(files: &HostFs, name: &str) -> Result<Snapshot> {
    let new = NewSnapshot { id: Some(snapshot(name)), ..NewSnapshot::default() };
    files.snapshots().unwrap().create(new).await
}

fn sandbox() -> SandboxId {
    SandboxId::parse("trial").unwrap()
}

fn snapshot(name: &str) -> SnapshotId {
    SnapshotId::parse(name).unwrap()
}

/// The whole content of a file.
async fn bytes(files: &dyn FileSystem, at: &str) -> Result<Vec<u8>> {
    let pieces = files.read(&path(at), Span::Whole).await?.body.try_collect::<Vec<_>>();
    Ok(pieces.await?.concat())
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text, DotDot::Refuse).unwrap()
}
