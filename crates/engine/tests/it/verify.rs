//! A check of a sandbox finds what is wrong with it, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use sandkeep_engine::{
    ErrorKind, FileSystem as _, Limits, Point, Problem, Store, Verified, VirtualFs,
};
use storage::{
    Expected, Listed, MemoryStorage, Objects as _, Ref, RefKey, Refs as _, Storage, frame,
};

use crate::contents::{at, fill, sandbox, snapshot, write};
use crate::fixture::noise;

async fn filled(store: &Store) -> VirtualFs {
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    fill(&files, 2000, |number| format!("/many/{number}")).await;
    write(&files, "/dir/large", noise(3 << 20)).await;
    write(&files, "/dir/empty", "").await;
    write(&files, &format!("{}/deep", "/d".repeat(2000)), "1").await;
    files.symlink(&at("/dir/link"), "large").await.unwrap();
    files
}

fn stored() -> (Arc<MemoryStorage>, Store) {
    let storage = Arc::new(MemoryStorage::default());
    (Arc::clone(&storage), Store::flushing(storage as Arc<dyn Storage>))
}

async fn verify(store: &Store) -> Verified {
    store.verify(&sandbox("s")).await.unwrap()
}

/// The objects of a store that something can be done to.
async fn objects(storage: &MemoryStorage, size: impl Fn(u64) -> bool) -> Vec<Listed> {
    let mut all = storage.list(None, None, usize::MAX).await.unwrap();
    all.retain(|object| size(object.size));
    assert!(!all.is_empty());
    all
}

/// Each problem as one line, sorted.
fn lines(verified: &Verified) -> Vec<String> {
    let line = |Problem { snapshot, path, message, .. }: &Problem| match snapshot {
        Some(snapshot) => format!("{snapshot} {path}: {message}"),
        None => format!("{path}: {message}"),
    };
    let mut lines: Vec<_> = verified.problems.iter().map(line).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_sound_sandbox_has_no_problems() {
    let (_, store) = stored();
    let files = filled(&store).await;
    snapshot(&files, "one").await;
    write(&files, "/many/77", noise(1 << 20)).await;
    snapshot(&files, "two").await;
    let verified = verify(&store).await;
    assert_eq!(verified.problems, []);
    assert!(verified.objects > 2050 && verified.bytes > 3 << 20, "{verified:?}");
}

#[tokio::test]
async fn a_sound_sandbox_in_memory_has_no_problems() {
    let store = Store::in_memory();
    filled(&store).await;
    assert_eq!(verify(&store).await.problems, []);
}

#[tokio::test]
async fn what_snapshots_share_is_read_once() {
    let (_, store) = stored();
    let files = filled(&store).await;
    let alone = verify(&store).await;
    for number in 0..5 {
        snapshot(&files, &format!("s{number}")).await;
    }
    assert_eq!(verify(&store).await, Verified { snapshots: 5, ..alone });
}

#[tokio::test]
async fn a_missing_chunk_is_told_with_its_file() {
    let (storage, store) = stored();
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    write(&files, "/a/file", noise(10_000)).await;
    let [chunk] = &objects(&storage, |size| size > 10_000).await[..] else { panic!() };
    storage.delete_exact(&[(chunk.key, chunk.token.clone())]).await.unwrap();
    assert_eq!(lines(&verify(&store).await), ["/a/file: a piece of a file is missing"]);
}

#[tokio::test]
async fn a_damaged_chunk_is_told_with_its_file() {
    let (storage, store) = stored();
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    write(&files, "/a/file", noise(10_000)).await;
    write(&files, "/a/whole", noise(20_000)).await;
    let [chunk] = &objects(&storage, |size| (10_000..20_000).contains(&size)).await[..] else {
        panic!()
    };
    let mut sealed = BytesMut::from(storage.get(&chunk.key).await.unwrap().unwrap());
    sealed[5_000] ^= 1;
    storage.put_many(vec![(chunk.key, sealed.freeze())]).await.unwrap();
    assert_eq!(lines(&verify(&store).await), ["/a/file: a piece of a file is not what it was"]);
}

#[tokio::test]
async fn a_missing_page_is_told_with_its_directory() {
    let (storage, store) = stored();
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    write(&files, "/sound/a", "1").await;
    let before = objects(&storage, |_| true).await;
    write(&files, "/lost/b", "2").await;
    snapshot(&files, "kept").await;
    // The two new pages are those of `/lost` and of the root.
    let is_new = |object: &&Listed| !before.iter().any(|old| old.key == object.key);
    let all = objects(&storage, |_| true).await;
    let new: Vec<_> = all.iter().filter(is_new).collect();
    assert_eq!(new.len(), 2);
    let sealed = [&new[0], &new[1]].map(|object| storage.get(&object.key));
    let mut found = Vec::new();
    for (object, sealed) in new.iter().zip(sealed) {
        let sealed = sealed.await.unwrap().unwrap();
        storage.delete_exact(&[(object.key, object.token.clone())]).await.unwrap();
        found.extend(lines(&verify(&store).await));
        storage.put_many(vec![(object.key, sealed)]).await.unwrap();
        let token = objects(&storage, |_| true).await;
        assert_eq!(token.len(), all.len());
    }
    found.sort();
    // What the snapshot shares with the tree is told once.
    let missing = "a page of a directory is missing";
    assert_eq!(found, [format!("/: {missing}"), format!("/lost: {missing}")]);
    assert_eq!(verify(&store).await.problems, []);
}

#[tokio::test]
async fn a_page_that_was_exchanged_for_another_is_found() {
    let (storage, store) = stored();
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    write(&files, "/a", "1").await;
    let [page] = &objects(&storage, |_| true).await[..] else { panic!() };
    storage.put_many(vec![(page.key, frame::seal(b"another"))]).await.unwrap();
    assert_eq!(lines(&verify(&store).await), ["/: a page of a directory is not what it was"]);
}

#[tokio::test]
async fn what_is_wrong_in_a_snapshot_is_told_with_its_id() {
    let (storage, store) = stored();
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    write(&files, "/file", noise(10_000)).await;
    snapshot(&files, "old").await;
    write(&files, "/file", Bytes::new()).await;
    let [chunk] = &objects(&storage, |size| size > 10_000).await[..] else { panic!() };
    storage.delete_exact(&[(chunk.key, chunk.token.clone())]).await.unwrap();
    assert_eq!(lines(&verify(&store).await), ["old /file: a piece of a file is missing"]);
}

#[tokio::test]
async fn a_check_ends_after_a_thousand_problems() {
    let (storage, store) = stored();
    let files = store.create(&sandbox("s"), Limits::default()).await.unwrap();
    // No page is as long.
    let rest = noise(40_000);
    let file = |number: usize| [&number.to_le_bytes(), &rest[..]].concat();
    for start in (0..1500).step_by(500) {
        let steps = (start..start + 500)
            .map(|number| crate::contents::put(&format!("/{number}"), file(number)));
        files.batch(steps.collect()).await.unwrap();
    }
    for chunk in objects(&storage, |size| (40_000..40_100).contains(&size)).await {
        storage.delete_exact(&[(chunk.key, chunk.token)]).await.unwrap();
    }
    let problems = verify(&store).await.problems.len();
    assert!((1000..1100).contains(&problems), "{problems}");
}

#[tokio::test]
async fn a_whole_store_is_checked_and_what_forks_share_is_read_once() {
    let (_, store) = stored();
    let files = filled(&store).await;
    snapshot(&files, "one").await;
    let alone = verify(&store).await;
    for number in 0..3 {
        let to = sandbox(&format!("fork-{number}"));
        let snapshots = files.snapshots().unwrap();
        snapshots.fork(Point::Live, &to, Limits::default()).await.unwrap();
    }
    let told = AtomicU64::new(0);
    let note = |so_far: &Verified| told.store(so_far.objects, Ordering::Relaxed);
    let verified = store.verify_all(note).await.unwrap();
    assert_eq!(verified, Verified { sandboxes: 4, ..alone.clone() });
    assert_eq!(told.into_inner(), alone.objects);
    let other = store.create(&sandbox("other"), Limits::default()).await.unwrap();
    write(&other, "/dir/large", noise(10_000)).await;
    let verified = store.verify_all(|_| ()).await.unwrap();
    assert_eq!((verified.sandboxes, verified.snapshots), (5, 1));
    assert!(verified.objects > alone.objects);
    assert_eq!(verified.problems, []);
}

#[tokio::test]
async fn a_whole_store_in_memory_is_checked() {
    let store = Store::in_memory();
    let files = filled(&store).await;
    snapshot(&files, "one").await;
    store.create(&sandbox("empty"), Limits::default()).await.unwrap();
    let verified = store.verify_all(|_| ()).await.unwrap();
    assert_eq!((verified.sandboxes, verified.snapshots, verified.problems.len()), (2, 1, 0));
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_told_and_the_others_are_checked() {
    let (storage, store) = stored();
    for name in ["a", "b", "c"] {
        let files = store.create(&sandbox(name), Limits::default()).await.unwrap();
        write(&files, "/file", noise(10_000)).await;
        snapshot(&files, "old").await;
    }
    for key in ["sandboxes/b/root", "sandboxes/c/snapshots/old"] {
        let key = RefKey::new(key).unwrap();
        let Ref { value, token } = storage.load(&key).await.unwrap().unwrap();
        let cut = value.slice(..value.len() - 1);
        storage.swap(&key, &Expected::Token(token), cut).await.unwrap();
    }
    let verified = store.verify_all(|_| ()).await.unwrap();
    let hit = |problem: &Problem| (problem.sandbox.to_string(), problem.snapshot.is_some());
    let hit: Vec<_> = verified.problems.iter().map(hit).collect();
    assert_eq!(hit, [("b".to_owned(), false), ("c".to_owned(), true)]);
    assert!(verified.problems[0].message.contains("cannot be read"), "{verified:?}");
    assert_eq!((verified.sandboxes, verified.snapshots), (3, 3));
}

#[tokio::test]
async fn a_sandbox_that_is_not_there_cannot_be_checked() {
    for store in [stored().1, Store::in_memory()] {
        let err = store.verify(&sandbox("gone")).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::NotFound);
    }
}
