//! One storage of two: where what lies, and what happens when one of them fails.

use std::path::Path;
use std::sync::Arc;

use sandkeep_storage::{
    self as storage, Capabilities, Domain, ErrorKind, Expected, ObjectId, ObjectKey, RefKey,
    Storage, Swap, frame,
};
use tempfile::TempDir;

use crate::directory::url;
use crate::disk::Disk;

/// The largest content that lies with the refs: with its head it has less than 16 KiB.
const SMALL: usize = (16 << 10) - 22 - 1;

#[tokio::test]
async fn what_is_small_lies_with_the_refs_and_what_is_large_with_the_chunks() {
    let parts = Parts::new();
    let both = parts.open().await;
    both.put_many(vec![sealed(1, 1), sealed(2, SMALL), sealed(3, SMALL + 1)]).await.unwrap();
    let objects = vec![sealed(4, 1), sealed(5, 1 << 20)];
    let swap = both.commit(objects, &root(), &Expected::Absent, "x".into()).await.unwrap();
    assert!(matches!(swap, Swap::Won(_)));
    drop(both);
    assert_eq!(numbers(&parts.refs().await).await, [1, 2, 4]);
    assert_eq!(numbers(&parts.chunks().await).await, [3, 5]);
    assert!(parts.refs().await.load(&root()).await.unwrap().is_some());
    assert_eq!(parts.chunks().await.list_refs("", None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn both_are_read_and_listed_as_one() {
    let parts = Parts::new();
    let both = parts.open().await;
    let sizes = [SMALL + 1, 10, SMALL + 1, SMALL + 1, 10, 10, SMALL + 1];
    let objects: Vec<_> = (0..).zip(sizes).map(|(number, size)| sealed(number, size)).collect();
    both.put_many(objects.clone()).await.unwrap();
    assert_eq!(numbers(&both).await, [0, 1, 2, 3, 4, 5, 6]);
    let page = both.list(None, Some(key(1)), 3).await.unwrap();
    assert_eq!(page.iter().map(|listed| listed.key).collect::<Vec<_>>(), [2, 3, 4].map(key));
    let keys = [6, 9, 1, 0, 6].map(key);
    let found = both.get_many(&keys).await.unwrap();
    let stored = |number: usize| Some(objects[number].1.clone());
    assert_eq!(found, [stored(6), None, stored(1), stored(0), stored(6)]);
}

#[tokio::test]
async fn an_object_in_both_is_told_once_and_goes_from_both() {
    let parts = Parts::new();
    for part in [parts.refs().await, parts.chunks().await] {
        part.put_many(vec![sealed(1, 10), sealed(2, 10)]).await.unwrap();
    }
    let both = parts.open().await;
    for left in [2, 1] {
        assert_eq!(numbers(&both).await, [1, 2], "{left} copies of each are left");
        let listed = both.list(None, None, 10).await.unwrap();
        let all: Vec<_> = listed.into_iter().map(|it| (it.key, it.token)).collect();
        assert_eq!(both.delete_exact(&all).await.unwrap(), 2);
    }
    assert_eq!(both.list(None, None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_copy_written_elsewhere_since_it_was_listed_survives_the_delete() {
    let parts = Parts::new();
    parts.chunks().await.put_many(vec![sealed(1, 10)]).await.unwrap();
    let both = parts.open().await;
    let listed = both.list(None, None, 10).await.unwrap();
    both.put_many(vec![sealed(1, 10)]).await.unwrap();
    both.delete_exact(&[(key(1), listed[0].token.clone())]).await.unwrap();
    assert!(both.get(&key(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_commit_whose_large_object_cannot_be_stored_leaves_the_ref_alone() {
    let Some(disk) = Disk::of(128 << 20) else { return };
    let parts = Parts::with_chunks_at(disk.path());
    let both = parts.open().await;
    disk.fill(0);
    let objects = vec![sealed(1, 10), sealed(2, 1 << 20)];
    let key = root();
    let commit = both.commit(objects, &key, &Expected::Absent, "x".into());
    assert_eq!(commit.await.unwrap_err().kind(), ErrorKind::Full);
    assert_eq!(both.load(&key).await.unwrap(), None);
    // What is small needs the other storage only.
    let commit = both.commit(vec![sealed(1, 10)], &key, &Expected::Absent, "x".into());
    assert!(matches!(commit.await.unwrap(), Swap::Won(_)));
    disk.clear();
}

#[tokio::test]
async fn it_can_what_both_can() {
    let both = Parts::new().open().await;
    let expected =
        Capabilities { durable: true, one_step_commit: false, exact_delete: true, shared: false };
    assert_eq!(both.capabilities(), expected);
    let both = storage::open("split:refs=memory:,chunks=memory:").await.unwrap();
    assert!(!both.capabilities().durable);
}

#[tokio::test]
async fn two_parts_that_make_no_whole_are_refused() {
    let refused = async |parts: &str, hint: &str| {
        let err = storage::open(&format!("split:{parts}")).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidUrl, "{parts}: {err}");
        assert!(err.to_string().contains(hint), "{parts}: {err}");
    };
    refused("", "refs=URL,chunks=URL").await;
    refused("refs=memory:", "refs=URL,chunks=URL").await;
    refused("chunks=memory:,refs=memory:", "refs=URL,chunks=URL").await;
    refused("refs=memory:,chunks=file:/x", "gone with the process").await;
    refused("refs=file:/x,chunks=memory:", "gone with the process").await;
    refused("refs=file:/x,chunks=file:/x", "the same").await;
    refused("refs=split:refs=file:/x,chunks=file:/y,chunks=file:/z", "split again").await;
    refused("refs=file:/x,chunks=split:refs=file:/y,chunks=file:/z", "split again").await;
    refused("refs=nothing:,chunks=file:/x", "scheme is not known").await;
}

/// The directories of two stores.
struct Parts {
    dir: TempDir,
    refs: String,
    chunks: String,
}

impl Parts {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let [refs, chunks] = ["refs", "chunks"].map(|name| url(&dir.path().join(name)));
        Self { dir, refs, chunks }
    }

    fn with_chunks_at(path: &Path) -> Self {
        Self { chunks: url(&path.join("chunks")), ..Self::new() }
    }

    async fn open(&self) -> Arc<dyn Storage> {
        assert!(self.dir.path().is_dir());
        storage::open(&format!("split:refs={},chunks={}", self.refs, self.chunks)).await.unwrap()
    }

    async fn refs(&self) -> Arc<dyn Storage> {
        storage::open(&self.refs).await.unwrap()
    }

    async fn chunks(&self) -> Arc<dyn Storage> {
        storage::open(&self.chunks).await.unwrap()
    }
}

fn root() -> RefKey {
    RefKey::new("root").unwrap()
}

fn key(number: u8) -> ObjectKey {
    let mut id = [0; 32];
    id[0] = number;
    ObjectKey { domain: Domain([1; 16]), id: ObjectId(id) }
}

/// An object of so many bytes that do not compress.
fn sealed(number: u8, len: usize) -> (ObjectKey, bytes::Bytes) {
    use rand::Rng as _;
    let mut content = vec![0; len];
    rand::rng().fill_bytes(&mut content);
    (key(number), frame::seal(&content))
}

/// The numbers of all objects, as a listing tells them.
async fn numbers(storage: &Arc<dyn Storage>) -> Vec<u8> {
    let listed = storage.list(None, None, usize::MAX).await.unwrap();
    listed.iter().map(|listed| listed.key.id.0[0]).collect()
}
