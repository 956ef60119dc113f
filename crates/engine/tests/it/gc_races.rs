//! Garbage is collected without grace while everything else happens at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sandkeep_engine::{
    CollectOptions, Create, Depth, EntryKind, ErrorKind, FileSystem, If, Limits, NewSnapshot,
    OpenFile, OpenOptions, Page, Point, Result, SandboxId, SandboxPath, SnapshotId, Span, Store,
    Target, VirtualFs,
};
use storage::{MemoryStorage, Storage};
use tokio::task::JoinSet;

use crate::contents::{at, replacing, sandbox};
use crate::fixture::noise;

const AT_ONCE: CollectOptions = CollectOptions { grace: Duration::ZERO };
/// How long the racers race.
const RACE: Duration = Duration::from_secs(4);
const RACERS: usize = 6;
const SANDBOXES: usize = 3;

/// What files hold. The first byte of each says which it is.
static CONTENTS: LazyLock<Vec<Bytes>> = LazyLock::new(|| (0..32).map(content).collect());

fn content(number: u8) -> Bytes {
    let len = [100, 5_000, 70_000, 1_300_000][usize::from(number) % 4];
    let mut bytes = noise(len + usize::from(number)).split_off(usize::from(number));
    bytes[0] = number;
    bytes.into()
}

fn check(path: &SandboxPath, bytes: &[u8]) {
    let expected = CONTENTS.get(usize::from(bytes[0]));
    assert!(expected.is_some_and(|expected| bytes == expected), "{path} is not what was written");
}

/// What did not work because somebody else was faster is fine; what is missing is not.
#[track_caller]
fn fair<T>(outcome: Result<T>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(err) => {
            let kind = err.kind();
            let is_fair = matches!(
                kind,
                ErrorKind::NotFound
                    | ErrorKind::AlreadyExists
                    | ErrorKind::NotADirectory
                    | ErrorKind::IsADirectory
                    | ErrorKind::InvalidArgument
                    | ErrorKind::Unavailable
                    | ErrorKind::Busy
                    // A snapshot of the sandbox that had the id before, which is about to go.
                    | ErrorKind::Unsupported
            );
            assert!(is_fair, "{kind:?}: {err}");
            None
        }
    }
}

/// One of a few paths.
fn somewhere() -> SandboxPath {
    let (dir, name) = (rand::random_range(0..4), rand::random_range(0..6));
    at(&format!("/d{dir}/f{name}"))
}

fn some_dir() -> SandboxPath {
    at(&format!("/d{}", rand::random_range(0..4)))
}

fn some_snapshot() -> SnapshotId {
    SnapshotId::parse(&format!("s{}", rand::random_range(0..3))).unwrap()
}

/// Who races with the collector.
struct Racer {
    store: Store,
    /// An open file, which may have lost its name long ago.
    file: Option<Arc<dyn OpenFile>>,
    /// A snapshot that may be deleted by now.
    open: Option<Arc<dyn FileSystem>>,
    forks: Arc<AtomicUsize>,
}

impl Racer {
    async fn race(mut self, until: Instant) {
        while Instant::now() < until {
            let id = sandbox(&format!("s{}", rand::random_range(0..SANDBOXES)));
            let files = fair(self.store.sandbox_or_new(&id, Limits::default()).await);
            if let Some(files) = files {
                self.act(&files, &id).await;
            }
        }
    }

    async fn act(&mut self, files: &VirtualFs, id: &SandboxId) {
        match rand::random_range(0..100) {
            0..30 => upload(files).await,
            30..40 => drop(fair(files.remove(&somewhere(), Depth::All, If::Always).await)),
            40..44 => drop(fair(files.remove(&some_dir(), Depth::All, If::Always).await)),
            44..50 => drop(fair(files.rename(&some_dir(), &some_dir(), Target::Replace).await)),
            50..56 => drop(fair(files.copy(&some_dir(), &some_dir(), Target::Replace).await)),
            56..66 => drop(fair(read_all(files).await)),
            66..72 => self.look_through_old_handles(files).await,
            72..80 => self.take_or_forget_snapshot(files).await,
            80..88 => restore(files).await,
            88..98 => self.fork(files).await,
            _ => drop(fair(self.store.remove(id).await)),
        }
    }

    async fn look_through_old_handles(&mut self, files: &VirtualFs) {
        if let Some(file) = &self.file {
            let read = fair(file.read_at(0, 4 << 20).await);
            read.iter().for_each(|bytes| check(&SandboxPath::root(), bytes));
        }
        if let Some(open) = &self.open {
            fair(read_all(&**open).await);
        }
        let options = OpenOptions::Write(Create::Never);
        self.file = fair(files.open(&somewhere(), options).await);
        self.open = fair(files.snapshots().unwrap().open(&some_snapshot()).await);
    }

    async fn take_or_forget_snapshot(&self, files: &VirtualFs) {
        let snapshots = files.snapshots().unwrap();
        let new = NewSnapshot { id: Some(some_snapshot()), ..NewSnapshot::default() };
        fair(snapshots.create(new).await);
        if rand::random() {
            fair(snapshots.delete(&some_snapshot()).await);
        }
    }

    /// Makes a fork, of a snapshot that is deleted at the same time, reads it, and mostly takes it
    /// away again.
    async fn fork(&self, files: &VirtualFs) {
        let (snapshots, snapshot) = (files.snapshots().unwrap(), some_snapshot());
        let to = sandbox(&format!("fork-{}", self.forks.fetch_add(1, Ordering::Relaxed)));
        let fork = snapshots.fork(Point::Snapshot(snapshot.clone()), &to, Limits::default());
        let (forked, deleted) = tokio::join!(fork, snapshots.delete(&snapshot));
        fair(deleted);
        if fair(forked).is_some() {
            let fork = self.store.sandbox(&to).await.unwrap();
            read_all(&fork).await.unwrap();
            if rand::random_range(0..8) > 0 {
                self.store.remove(&to).await.unwrap();
            }
        }
    }
}

async fn upload(files: &VirtualFs) {
    let bytes = &CONTENTS[rand::random_range(0..CONTENTS.len())];
    let pieces: Vec<_> = bytes.chunks(200_000).map(|piece| Ok(bytes.slice_ref(piece))).collect();
    let body = stream::iter(pieces).then(|piece| async {
        tokio::task::yield_now().await;
        piece
    });
    fair(files.write(&somewhere(), body.boxed(), replacing()).await);
}

async fn restore(files: &VirtualFs) {
    let path = if rand::random() { SandboxPath::root() } else { some_dir() };
    let (snapshots, id) = (files.snapshots().unwrap(), some_snapshot());
    if rand::random() {
        fair(snapshots.restore(&id, &path).await);
        return;
    }
    let (restored, deleted) = tokio::join!(snapshots.restore(&id, &path), snapshots.delete(&id));
    fair(restored);
    fair(deleted);
}

/// Reads every file, and checks it.
async fn read_all(files: &dyn FileSystem) -> Result<()> {
    let mut dirs = vec![SandboxPath::root()];
    while let Some(dir) = dirs.pop() {
        let listed = match files.list(&dir, Page::default()).await {
            Err(err) if err.kind() == ErrorKind::NotFound => continue,
            listed => listed?,
        };
        for entry in listed.try_collect::<Vec<_>>().await? {
            if entry.kind == EntryKind::Directory {
                dirs.push(entry.path);
                continue;
            }
            let content = match files.read(&entry.path, Span::Whole).await {
                Err(err) if err.kind() == ErrorKind::NotFound => continue,
                content => content?,
            };
            let pieces: Vec<Bytes> = content.body.try_collect().await?;
            check(&entry.path, &pieces.concat());
        }
    }
    Ok(())
}

async fn race(storage: Arc<dyn Storage>) {
    let store = Store::flushing(Arc::clone(&storage));
    let (until, forks) = (Instant::now() + RACE, Arc::default());
    let mut racers = JoinSet::new();
    for _ in 0..RACERS {
        let (store, forks) = (store.clone(), Arc::clone(&forks));
        racers.spawn(Racer { store, file: None, open: None, forks }.race(until));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let (collecting, collector) = (Arc::clone(&is_over), store.clone());
    let collector = tokio::spawn(async move {
        let (mut rounds, mut deleted) = (0_u64, 0);
        while !collecting.load(Ordering::Relaxed) {
            let collected = collector.collect(AT_ONCE).await.unwrap();
            assert_eq!(collected.unreadable, 0);
            rounds += 1;
            deleted += collected.deleted;
        }
        (rounds, deleted)
    });
    while let Some(racer) = racers.join_next().await {
        racer.unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    let (rounds, deleted) = collector.await.unwrap();
    assert!(rounds > 2 && deleted > 10, "{rounds} rounds deleted {deleted} objects");
    drop(store);
    check_everything(&storage).await;
    remove_everything(storage).await;
}

/// Whatever a ref leads to is there, for somebody who has nothing in memory.
async fn check_everything(storage: &Arc<dyn Storage>) {
    let store = Store::flushing(Arc::clone(storage));
    for id in store.list(None, usize::MAX).await.unwrap() {
        let files = store.sandbox(&id).await.unwrap();
        read_all(&files).await.unwrap();
        let snapshots = files.snapshots().unwrap();
        for snapshot in snapshots.list(None, 1000).await.unwrap() {
            read_all(&*snapshots.open(&snapshot.id).await.unwrap()).await.unwrap();
        }
    }
}

/// When everything was removed, two rounds leave nothing at all.
async fn remove_everything(storage: Arc<dyn Storage>) {
    let store = Store::flushing(Arc::clone(&storage));
    for id in store.list(None, usize::MAX).await.unwrap() {
        store.remove(&id).await.unwrap();
    }
    // What the race condemned last is deleted first.
    for _ in 0..3 {
        store.collect(AT_ONCE).await.unwrap();
    }
    assert_eq!(storage.list(None, None, 10).await.unwrap(), []);
    assert_eq!(storage.list_refs("", None, 10).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_anybody_needs_is_ever_missing_in_memory() {
    race(Arc::new(MemoryStorage::default())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_that_anybody_needs_is_ever_missing_in_files() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file:{}", dir.path().join("store").display());
    race(storage::open(&url).await.unwrap()).await;
}
