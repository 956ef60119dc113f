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

#[tokio::test]
async fn two_stores_cannot_have_the_same_chunks() {
    let (one, two) = (Parts::new(), Parts::new());
    drop(one.open().await);
    strangers(&two.refs, &one.chunks).await;
    drop(one.open().await);
    // The place that was refused is as it was.
    drop(two.refs().await);
    drop(two.open().await);
    strangers(&one.refs, &two.chunks).await;
}

#[tokio::test]
async fn refs_are_not_opened_with_chunks_that_are_new() {
    let (one, two) = (Parts::new(), Parts::new());
    drop(one.open().await);
    strangers(&one.refs, &two.chunks).await;
    drop(two.chunks().await);
}

#[tokio::test]
async fn the_parts_cannot_be_exchanged() {
    let parts = Parts::new();
    drop(parts.open().await);
    strangers(&parts.chunks, &parts.refs).await;
}

#[tokio::test]
async fn a_part_is_not_opened_as_a_whole() {
    let parts = Parts::new();
    drop(parts.open().await);
    for part in [&parts.refs, &parts.chunks] {
        let err = storage::open(part).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidUrl);
        assert!(err.to_string().contains("one part of a split store"), "{err}");
    }
}

#[tokio::test]
async fn a_store_of_its_own_is_not_taken_for_chunks() {
    let parts = Parts::new();
    create(&parts.chunks().await, "sandboxes/mine/root").await;
    let err = storage::open(&parts.url()).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("a store of their own"), "{err}");
    assert_eq!(names(&parts.chunks().await).await, ["sandboxes/mine/root"]);
}

#[tokio::test]
async fn a_store_of_its_own_can_get_a_place_for_chunks() {
    let parts = Parts::new();
    create(&parts.refs().await, "sandboxes/mine/root").await;
    assert_eq!(names(&parts.open().await).await, ["sandboxes/mine/root"]);
    assert_eq!(names(&parts.open().await).await, ["sandboxes/mine/root"]);
}

#[tokio::test]
async fn what_pairs_the_parts_is_not_listed() {
    let both = Parts::new().open().await;
    assert_eq!(names(&both).await, [""; 0]);
    for key in ["a", "split/else", "z"] {
        create(&both, key).await;
    }
    assert_eq!(names(&both).await, ["a", "split/else", "z"]);
    let (mut walked, mut after) = (Vec::new(), None);
    while let [(key, _)] = &both.list_refs("", after.as_ref(), 1).await.unwrap()[..] {
        walked.push(key.to_string());
        after = Some(key.clone());
    }
    assert_eq!(walked, ["a", "split/else", "z"]);
    assert_eq!(both.list_refs("split/", None, 0).await.unwrap(), []);
}

#[tokio::test]
async fn a_copy_of_both_is_one_whole_and_back_again() {
    let (parts, others, home) = (Parts::new(), Parts::new(), tempfile::tempdir().unwrap());
    let both = parts.open().await;
    both.put_many(vec![sealed(1, 10), sealed(2, 1 << 20)]).await.unwrap();
    create(&both, "sandboxes/mine/root").await;
    let whole = url(&home.path().join("whole"));
    storage::copy(&both, &storage::open(&whole).await.unwrap(), |_| ()).await.unwrap();
    let opened = storage::open(&whole).await.unwrap();
    assert_eq!(names(&opened).await, ["sandboxes/mine/root"]);
    let back = others.open().await;
    storage::copy(&opened, &back, |_| ()).await.unwrap();
    assert_eq!((names(&back).await, numbers(&back).await), (names(&both).await, vec![1, 2]));
}

async fn strangers(refs: &str, chunks: &str) {
    let err = storage::open(&format!("split:refs={refs},chunks={chunks}")).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidUrl);
    assert!(err.to_string().contains("do not belong together"), "{err}");
}

async fn create(storage: &Arc<dyn Storage>, key: &str) {
    let key = RefKey::new(key).unwrap();
    storage.swap(&key, &Expected::Absent, "x".into()).await.unwrap();
}

/// The keys of all refs.
async fn names(storage: &Arc<dyn Storage>) -> Vec<String> {
    let refs = storage.list_refs("", None, usize::MAX).await.unwrap();
    refs.into_iter().map(|(key, _)| key.to_string()).collect()
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
        storage::open(&self.url()).await.unwrap()
    }

    fn url(&self) -> String {
        format!("split:refs={},chunks={}", self.refs, self.chunks)
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
