//! What becomes of a store when the last one who had it lets go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sandkeep_engine::{
    Depth, FileSystem, If, Limits, OpenOptions, Point, Snapshots as _, Store, VirtualFs,
};

use crate::contents::{at, fill, put, sandbox, snapshot, write};

/// Content that tells when nobody has it any more. It is too long to be copied.
struct Content {
    bytes: Vec<u8>,
    gone: Arc<AtomicBool>,
}

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

/// A tree in memory with a long file, and whether anybody still has its content.
async fn tree() -> (Store, VirtualFs, Arc<AtomicBool>) {
    let store = Store::in_memory();
    let files = store.create(&sandbox("a"), Limits::default()).await.unwrap();
    let gone = Arc::new(AtomicBool::new(false));
    let content = Content { bytes: vec![7; 300 << 10], gone: Arc::clone(&gone) };
    files.batch(vec![put("/dir/long", Bytes::from_owner(content))]).await.unwrap();
    (store, files, gone)
}

#[tokio::test]
async fn a_store_in_memory_ends_with_the_last_who_has_it() {
    let (store, files, gone) = tree().await;
    snapshot(&files, "kept").await;
    files.fork(Point::Live, &sandbox("b"), Limits::default()).await.unwrap();
    let open = FileSystem::open(&files, &at("/dir/long"), OpenOptions::Read).await.unwrap();
    drop(files);
    assert!(!gone.load(Ordering::SeqCst));
    let fork = store.sandbox(&sandbox("b")).await.unwrap();
    drop(store);
    assert_eq!(open.read_at(0, 1).await.unwrap(), [7][..]);
    drop(open);
    assert!(!gone.load(Ordering::SeqCst));
    drop(fork);
    assert!(gone.load(Ordering::SeqCst), "the trees of a store that nobody has are still there");
}

#[tokio::test]
async fn a_large_directory_that_was_removed_is_freed_in_the_background() {
    let (_store, files, gone) = tree().await;
    fill(&files, 3000, |n| format!("/dir/{n}")).await;
    files.remove(&at("/dir"), Depth::All, If::Always).await.unwrap();
    for _ in 0..1000 {
        if gone.load(Ordering::SeqCst) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("what was removed is still in memory");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_can_be_opened_again_as_soon_as_a_write_is_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file:{}", dir.path().display());
    for round in 0..40 {
        let store = Store::open(&url).await.unwrap_or_else(|err| panic!("round {round}: {err}"));
        let files = store.sandbox_or_new(&sandbox("a"), Limits::default()).await.unwrap();
        write(&files, &format!("/{round}"), "content").await;
        assert_eq!(files.usage().await.unwrap().files, round + 1);
    }
}
