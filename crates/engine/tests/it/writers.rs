//! 64 writers in one sandbox.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sandkeep_engine::{
    ErrorKind, FileSystem, If, Limits, Links, Parents, Step, Store, VirtualFs, WriteMode,
};
use storage::{MemoryStorage, Storage};
use tempfile::TempDir;

use crate::contents::{at, put, read, sandbox, write};
use crate::troubled::Troubled;

const WRITERS: u64 = 64;

/// Sandboxes of every kind, and what keeps them alive.
struct Kind {
    name: &'static str,
    store: Store,
    /// Counts commits, where there are any.
    counted: Option<Arc<Troubled>>,
    _dir: Option<TempDir>,
}

async fn memory() -> Kind {
    Kind { name: "memory", store: Store::in_memory(), counted: None, _dir: None }
}

async fn objects() -> Kind {
    let storage = Troubled::new(Arc::new(MemoryStorage::default()));
    let store = Store::flushing(storage.clone());
    Kind { name: "objects", store, counted: Some(storage), _dir: None }
}

async fn file() -> Kind {
    let dir = tempfile::tempdir().unwrap();
    let inner: Arc<dyn Storage> =
        storage::open(&format!("file:{}", dir.path().display())).await.unwrap();
    let storage = Troubled::new(inner);
    let store = Store::over(storage.clone());
    Kind { name: "file", store, counted: Some(storage), _dir: Some(dir) }
}

impl Kind {
    async fn sandbox(&self, limits: Limits) -> VirtualFs {
        self.store.create(&sandbox("shared"), limits).await.unwrap()
    }
}

/// Lets every writer do its work at the same time.
async fn all_at_once<F>(work: impl Fn(u64) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(work(writer))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

fn append(file: &str, line: String) -> Step {
    let (mode, parents, expected) = (WriteMode::Append, Parents::Create, If::Always);
    Step::Write { file: at(file), content: line.into(), mode, parents, expected }
}

/// Adds one to a number in a file, as often as it takes until nobody came in between.
async fn add_one(files: &VirtualFs, file: &str) {
    loop {
        let version = files.stat(&at(file), Links::Keep).await.unwrap().version.unwrap();
        let number: u64 =
            String::from_utf8(read(files, &at(file)).await.to_vec()).unwrap().parse().unwrap();
        let Step::Write { file, content, mode, parents, .. } = put(file, (number + 1).to_string())
        else {
            panic!("a write is a write")
        };
        let expected = If::Matches(vec![version]);
        match files.batch(vec![Step::Write { file, content, mode, parents, expected }]).await {
            Ok(_) => return,
            Err(err) => assert_eq!(err.kind(), ErrorKind::PreconditionFailed),
        }
    }
}

async fn no_update_is_lost(kind: Kind) {
    let files = kind.sandbox(Limits::default()).await;
    write(&files, "/number", "0").await;
    all_at_once(|_| {
        let files = files.clone();
        async move {
            for _ in 0..3 {
                add_one(&files, "/number").await;
            }
        }
    })
    .await;
    assert_eq!(read(&files, &at("/number")).await, (3 * WRITERS).to_string());
}

async fn no_appended_line_is_lost(kind: Kind) {
    let files = kind.sandbox(Limits::default()).await;
    all_at_once(|writer| {
        let files = files.clone();
        async move {
            for line in 0..8 {
                files.batch(vec![append("/log", format!("{writer} {line}\n"))]).await.unwrap();
            }
        }
    })
    .await;
    let log = String::from_utf8(read(&files, &at("/log")).await.to_vec()).unwrap();
    for writer in 0..WRITERS {
        let own = log.lines().filter_map(|line| line.strip_prefix(&format!("{writer} ")));
        assert_eq!(own.collect::<Vec<_>>(), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    }
    assert_eq!(log.lines().count() as u64, 8 * WRITERS);
}

/// Fills a sandbox from all sides, while somebody watches.
async fn the_quota_holds(kind: Kind) {
    let limits = Limits { total_size: Some(10_000), nodes: Some(200), ..Limits::default() };
    let files = kind.sandbox(limits).await;
    let done = Arc::new(AtomicBool::new(false));
    let watcher = tokio::spawn({
        let (files, done) = (files.clone(), Arc::clone(&done));
        async move {
            let mut looks = 0_u64;
            while !done.load(Ordering::SeqCst) {
                let used = files.usage().await.unwrap();
                assert!(used.bytes <= 10_000 && used.nodes() <= 200, "{used:?}");
                looks += 1;
                tokio::task::yield_now().await;
            }
            looks
        }
    });
    let refused = Arc::new(AtomicU64::new(0));
    all_at_once(|writer| {
        let (files, refused) = (files.clone(), Arc::clone(&refused));
        async move {
            for n in 0..6 {
                let content = vec![b'x'; (writer * 7 + n * 31) as usize % 200];
                let steps = vec![put(&format!("/{}/{writer}-{n}", writer % 9), content)];
                match files.batch(steps).await {
                    Ok(_) => {}
                    Err(err) => {
                        let full = [ErrorKind::StorageFull, ErrorKind::TooManyNodes];
                        assert!(full.contains(&err.kind()), "{err}");
                        refused.fetch_add(1, Ordering::SeqCst);
                    }
                }
            }
        }
    })
    .await;
    done.store(true, Ordering::SeqCst);
    assert!(watcher.await.unwrap() > 0);
    assert!(refused.load(Ordering::SeqCst) > 0, "nobody met the limit");
    let bytes: usize =
        crate::contents::contents(&files).await.values().map(|node| node.content.len()).sum();
    assert_eq!(files.usage().await.unwrap().bytes, bytes as u64);
}

/// How long each of many writes at once takes, and how many commits they are.
#[expect(clippy::print_stdout, reason = "the figures are what one wants to know")]
async fn writes_at_once_are_few_commits(kind: Kind) {
    let files = kind.sandbox(Limits::default()).await;
    let times = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let began = Instant::now();
    all_at_once(|writer| {
        let (files, times) = (files.clone(), Arc::clone(&times));
        async move {
            for n in 0..8 {
                let began = Instant::now();
                write(&files, &format!("/{writer}/{n}"), vec![b'x'; 2048]).await;
                times.lock().push(began.elapsed());
            }
        }
    })
    .await;
    let (all, mut times) = (began.elapsed(), std::mem::take(&mut *times.lock()));
    times.sort();
    let percentile = |part: usize| -> Duration { times[(times.len() - 1) * part / 100] };
    let commits = kind.counted.map(|counted| counted.commits.load(Ordering::SeqCst));
    println!(
        "{}: {} writes by {WRITERS} in {all:.0?}, half within {:.1?}, 99 of 100 within {:.1?}, {commits:?} commits",
        kind.name,
        times.len(),
        percentile(50),
        percentile(99),
    );
    assert_eq!(times.len() as u64, 8 * WRITERS);
    assert!(commits.is_none_or(|commits| commits < WRITERS * 8 / 4), "{commits:?} commits");
}

/// Each promise on each kind of sandbox.
macro_rules! on_every_kind {
    ($($promise:ident: $memory:ident, $objects:ident, $file:ident;)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $memory() {
            $promise(memory().await).await;
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $objects() {
            $promise(objects().await).await;
        }

        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $file() {
            $promise(file().await).await;
        }
    )+};
}

on_every_kind! {
    no_update_is_lost: no_update_is_lost_in_memory, no_update_is_lost_in_objects,
        no_update_is_lost_in_files;
    no_appended_line_is_lost: no_appended_line_is_lost_in_memory,
        no_appended_line_is_lost_in_objects, no_appended_line_is_lost_in_files;
    the_quota_holds: the_quota_holds_in_memory, the_quota_holds_in_objects,
        the_quota_holds_in_files;
    writes_at_once_are_few_commits: writes_at_once_in_memory_are_timed,
        writes_at_once_in_objects_are_few_commits, writes_at_once_in_files_are_few_commits;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost_between_two_servers() {
    let storage = Arc::new(MemoryStorage::default());
    let one = Store::flushing(storage.clone());
    let files = one.create(&sandbox("shared"), Limits::default()).await.unwrap();
    let other = Store::flushing(storage.clone()).sandbox(&sandbox("shared")).await.unwrap();
    all_at_once(|writer| {
        let files = if writer % 2 == 0 { files.clone() } else { other.clone() };
        async move {
            for line in 0..8 {
                files.batch(vec![append("/log", format!("{writer} {line}\n"))]).await.unwrap();
            }
        }
    })
    .await;
    let third = Store::flushing(storage).sandbox(&sandbox("shared")).await.unwrap();
    let log = String::from_utf8(read(&third, &at("/log")).await.to_vec()).unwrap();
    for writer in 0..WRITERS {
        let own = log.lines().filter_map(|line| line.strip_prefix(&format!("{writer} ")));
        assert_eq!(own.collect::<Vec<_>>(), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    }
}
