//! Garbage goes, and nothing else does.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sandkeep_engine::{
    CollectOptions, Collected, Create, Depth, ErrorKind, FileSystem, If, Limits, OpenOptions, Page,
    Point, Result, SnapshotId, Span, Store, VirtualFs,
};
use storage::{
    Domain, Expected, ObjectId, ObjectKey, Objects as _, RefKey, Refs as _, Storage, frame,
};
use tokio::sync::mpsc;

use crate::contents::{at, contents, fill, read, replacing, sandbox, snapshot, write};
use crate::fixture::noise;
use crate::meddling::Meddling;

const AT_ONCE: CollectOptions = CollectOptions { grace: Duration::ZERO };
const HOUR: Duration = Duration::from_hours(1);

async fn collect(store: &Store) -> Collected {
    a_moment().await;
    store.collect(AT_ONCE).await.unwrap()
}

/// Waits for the next millisecond: what is written in the same one as a collection begins stays.
async fn a_moment() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let begin = now();
    while now() == begin {
        tokio::task::yield_now().await;
    }
}

/// Two rounds: the second deletes what the first condemned.
async fn collect_twice(store: &Store) -> Collected {
    collect(store).await;
    collect(store).await
}

fn store() -> (Arc<Meddling>, Store) {
    let storage = Meddling::new();
    (Arc::clone(&storage), over(&storage))
}

fn over(storage: &Arc<Meddling>) -> Store {
    Store::flushing(Arc::clone(storage) as Arc<dyn Storage>)
}

async fn new(store: &Store, id: &str) -> VirtualFs {
    store.create(&sandbox(id), Limits::default()).await.unwrap()
}

async fn objects(storage: &Meddling) -> usize {
    storage.list(None, None, usize::MAX).await.unwrap().len()
}

async fn refs(storage: &Meddling) -> Vec<String> {
    let refs = storage.list_refs("", None, usize::MAX).await.unwrap();
    refs.into_iter().map(|(key, _)| key.to_string()).collect()
}

async fn remove(files: &VirtualFs, path: &str) {
    files.remove(&at(path), Depth::All, If::Always).await.unwrap();
}

fn snapshot_id(point: &Point) -> &SnapshotId {
    let id = match point {
        Point::Snapshot(id) => Some(id),
        Point::Live => None,
    };
    id.unwrap()
}

#[tokio::test]
async fn what_nothing_leads_to_is_condemned_and_then_deleted() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    write(&files, "/keep", noise(10_000)).await;
    write(&files, "/lose", vec![7; 10_000]).await;
    remove(&files, "/lose").await;
    let before = objects(&storage).await as u64;
    let first = collect(&store).await;
    assert_eq!((first.objects, first.deleted, first.freed), (before, 0, 0));
    // Of everything that was written, a page and a chunk are left.
    assert_eq!((first.live, first.condemned), (2, before - 2));
    let second = collect(&store).await;
    assert_eq!((second.deleted, second.objects, second.condemned), (before - 2, 2, 0));
    assert!(second.freed > 0);
    assert_eq!(objects(&storage).await, 2);
    assert_eq!(read(&files, &at("/keep")).await, noise(10_000));
}

#[tokio::test]
async fn nothing_is_condemned_before_its_grace_is_over() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    write(&files, "/a", "1").await;
    remove(&files, "/a").await;
    let options = CollectOptions::default();
    assert_eq!(options.grace, HOUR);
    let collected = store.collect(options).await.unwrap();
    assert_eq!((collected.objects, collected.live, collected.condemned), (1, 0, 0));
    storage.set_age(HOUR + Duration::from_secs(1));
    let others = new(&store, "t").await;
    write(&others, "/b", "1").await;
    remove(&others, "/b").await;
    assert_eq!(store.collect(options).await.unwrap().condemned, 1);
}

#[tokio::test]
async fn nothing_is_deleted_before_it_was_condemned_for_the_grace() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    storage.set_age(2 * HOUR);
    write(&files, "/a", "1").await;
    remove(&files, "/a").await;
    let options = CollectOptions { grace: HOUR };
    assert_eq!(store.collect(options).await.unwrap().condemned, 1);
    let second = store.collect(options).await.unwrap();
    assert_eq!((second.waiting, second.deleted, second.objects), (1, 0, 0));
    assert_eq!(collect(&store).await.deleted, 1);
}

#[tokio::test]
async fn a_sandbox_that_was_removed_leaves_nothing_behind() {
    let (storage, store) = store();
    let files = new(&store, "gone").await;
    fill(&files, 500, |number| format!("/{}/{number}", number % 10)).await;
    write(&files, "/large", noise(3 << 20)).await;
    snapshot(&files, "one").await;
    remove(&files, "/3").await;
    snapshot(&files, "two").await;
    drop(files);
    store.remove(&sandbox("gone")).await.unwrap();
    let second = collect_twice(&store).await;
    assert!(second.deleted > 60 && second.freed > 3 << 20, "{second:?}");
    assert_eq!(objects(&storage).await, 0);
    assert_eq!(refs(&storage).await, [""; 0]);
}

#[tokio::test]
async fn a_fork_keeps_what_it_shares_with_a_sandbox_that_was_removed() {
    let (storage, store) = store();
    let files = new(&store, "source").await;
    fill(&files, 500, |number| format!("/{number}")).await;
    write(&files, "/large", noise(1 << 20)).await;
    let expected = contents(&files).await;
    let fork = files.snapshots().unwrap();
    fork.fork(Point::Live, &sandbox("fork"), Limits::default()).await.unwrap();
    store.remove(&sandbox("source")).await.unwrap();
    collect_twice(&store).await;
    let fork = over(&storage).sandbox(&sandbox("fork")).await.unwrap();
    assert_eq!(contents(&fork).await, expected);
}

#[tokio::test]
async fn a_snapshot_keeps_what_it_holds_until_it_is_deleted() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    fill(&files, 200, |number| format!("/{number}")).await;
    let expected = contents(&files).await;
    let point = snapshot(&files, "kept").await;
    for number in 0..200 {
        remove(&files, &format!("/{number}")).await;
    }
    collect_twice(&store).await;
    let cold = over(&storage).sandbox(&sandbox("s")).await.unwrap();
    let kept = cold.snapshots().unwrap().open(snapshot_id(&point)).await.unwrap();
    assert_eq!(contents(&*kept).await, expected);
    drop(kept);
    files.snapshots().unwrap().delete(snapshot_id(&point)).await.unwrap();
    collect_twice(&store).await;
    assert_eq!(objects(&storage).await, 0);
}

#[tokio::test]
async fn what_is_being_read_stays() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    let large = noise(4 << 20);
    write(&files, "/large", large.clone()).await;
    fill(&files, 2000, |number| format!("/many/{number:04}")).await;
    let mut body = files.read(&at("/large"), Span::Whole).await.unwrap().body;
    let mut listing = files.list(&at("/many"), Page::default()).await.unwrap();
    let mut content = body.next().await.unwrap().unwrap().to_vec();
    let first = listing.next().await.unwrap().unwrap();
    remove(&files, "/large").await;
    remove(&files, "/many").await;
    collect_twice(&store).await;
    assert!(objects(&storage).await > 60);
    while let Some(piece) = body.next().await {
        content.extend_from_slice(&piece.unwrap());
    }
    assert!(content == large);
    let rest: Vec<_> = listing.try_collect().await.unwrap();
    assert_eq!((first.path, rest.len()), (at("/many/0000"), 1999));
    drop(body);
    collect_twice(&store).await;
    assert_eq!(objects(&storage).await, 0);
}

#[tokio::test]
async fn a_snapshot_that_is_open_can_be_read_after_it_was_deleted() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    fill(&files, 300, |number| format!("/{number}")).await;
    write(&files, "/large", noise(1 << 20)).await;
    let expected = contents(&files).await;
    let point = snapshot(&files, "open").await;
    remove(&files, "/large").await;
    let open = files.snapshots().unwrap().open(snapshot_id(&point)).await.unwrap();
    let file = open.open(&at("/large"), OpenOptions::Read).await.unwrap();
    files.snapshots().unwrap().delete(snapshot_id(&point)).await.unwrap();
    collect_twice(&store).await;
    assert_eq!(contents(&*open).await, expected);
    drop(open);
    collect_twice(&store).await;
    assert!(file.read_at(0, 1 << 20).await.unwrap() == noise(1 << 20));
    drop(file);
    let left = objects(&storage).await;
    collect_twice(&store).await;
    assert!(objects(&storage).await < left - 4);
}

#[tokio::test]
async fn an_open_file_can_be_read_and_changed_after_its_name_went() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    let large = noise(1 << 20);
    write(&files, "/a", large.clone()).await;
    let file = files.open(&at("/a"), OpenOptions::Write(Create::Never)).await.unwrap();
    remove(&files, "/a").await;
    collect_twice(&store).await;
    assert!(objects(&storage).await > 4);
    file.write_at(10, Bytes::from_static(b"changed")).await.unwrap();
    collect_twice(&store).await;
    let end = file.read_at(1 << 19, 1 << 20).await.unwrap();
    assert!(end == large[1 << 19..]);
    assert_eq!(&file.read_at(10, 7).await.unwrap()[..], b"changed");
    drop(file);
    collect_twice(&store).await;
    assert_eq!(objects(&storage).await, 0);
}

#[tokio::test]
async fn what_an_unfinished_upload_stored_stays() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    let (sender, receiver) = mpsc::channel::<Result<Bytes>>(1);
    let body = stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    });
    let writer = files.clone();
    let upload = tokio::spawn(async move {
        writer.write(&at("/large"), body.boxed(), replacing()).await.unwrap();
    });
    let large = noise(6 << 20);
    for piece in large.chunks(1 << 20).take(4) {
        sender.send(Ok(Bytes::copy_from_slice(piece))).await.unwrap();
    }
    while objects(&storage).await < 30 {
        tokio::task::yield_now().await;
    }
    assert_eq!(collect_twice(&store).await.deleted, 0);
    for piece in large.chunks(1 << 20).skip(4) {
        sender.send(Ok(Bytes::copy_from_slice(piece))).await.unwrap();
    }
    drop(sender);
    upload.await.unwrap();
    assert_eq!(collect_twice(&store).await.condemned, 0);
    let cold = over(&storage).sandbox(&sandbox("s")).await.unwrap();
    assert!(read(&cold, &at("/large")).await == large);
}

#[tokio::test]
async fn what_an_upload_that_broke_off_stored_goes() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    let broken = sandkeep_engine::Error::new(ErrorKind::BrokenBody, "it broke off");
    let large = noise(3 << 20);
    let pieces = large.chunks(1 << 20).map(|piece| Ok(Bytes::copy_from_slice(piece)));
    let body = stream::iter(pieces.chain([Err(broken)]).collect::<Vec<_>>()).boxed();
    files.write(&at("/large"), body, replacing()).await.unwrap_err();
    assert!(objects(&storage).await > 10);
    collect_twice(&store).await;
    assert_eq!(objects(&storage).await, 0);
}

#[tokio::test]
async fn what_was_written_again_since_it_was_condemned_stays() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    write(&files, "/a", noise(10_000)).await;
    remove(&files, "/a").await;
    assert_eq!(collect(&store).await.condemned, 2);
    // The same chunk, stored a second time and again led to by nothing.
    write(&files, "/b", noise(10_000)).await;
    remove(&files, "/b").await;
    let second = collect(&store).await;
    assert_eq!((second.deleted, second.condemned), (1, 2));
    write(&files, "/c", noise(10_000)).await;
    collect_twice(&store).await;
    let cold = over(&storage).sandbox(&sandbox("s")).await.unwrap();
    assert_eq!(read(&cold, &at("/c")).await, noise(10_000));
}

#[tokio::test]
async fn another_process_deletes_what_one_condemned_before_it_died() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    fill(&files, 100, |number| format!("/{number}")).await;
    remove(&files, "/50").await;
    let expected = contents(&files).await;
    let condemned = collect(&store).await.condemned;
    drop((files, store));
    let store = over(&storage);
    assert_eq!(collect(&store).await.deleted, condemned);
    let files = store.sandbox(&sandbox("s")).await.unwrap();
    assert_eq!(contents(&files).await, expected);
}

#[tokio::test]
async fn a_collection_that_breaks_off_anywhere_does_no_harm() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    fill(&files, 3000, |number| format!("/{}/{number}", number % 50)).await;
    for number in 0..25 {
        remove(&files, &format!("/{number}")).await;
    }
    let expected = contents(&files).await;
    collect(&store).await;
    for deletes in 0..6 {
        storage.fail_after_deletes(deletes);
        drop(store.collect(AT_ONCE).await);
        let files = over(&storage).sandbox(&sandbox("s")).await.unwrap();
        assert_eq!(contents(&files).await, expected);
    }
    storage.fail_after_deletes(-1);
    collect_twice(&store).await;
    assert_eq!(collect(&store).await.condemned, 0);
    assert_eq!(refs(&storage).await, ["sandboxes/s/root"]);
    assert_eq!(contents(&files).await, expected);
}

#[tokio::test]
async fn a_family_of_which_a_part_is_missing_is_left_alone() {
    let (storage, store) = store();
    let files = new(&store, "damaged").await;
    write(&files, "/large", noise(10_000)).await;
    // All but the chunk, which does not get smaller when it is stored, are pages.
    for object in storage.list(None, None, usize::MAX).await.unwrap() {
        if object.size < 10_000 {
            storage.delete_exact(&[(object.key, object.token)]).await.unwrap();
        }
    }
    let sound = new(&store, "sound").await;
    write(&sound, "/a", "1").await;
    remove(&sound, "/a").await;
    assert_eq!(objects(&storage).await, 2);
    let first = collect(&store).await;
    assert_eq!((first.unreadable, first.condemned), (1, 1));
    assert_eq!(collect(&store).await.deleted, 1);
    assert_eq!(objects(&storage).await, 1);
}

#[tokio::test]
async fn a_ref_that_is_not_known_stops_the_collection() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    write(&files, "/a", "1").await;
    remove(&files, "/a").await;
    for key in ["later/thing", "sandboxes/s/later", "a"] {
        let key = RefKey::new(key).unwrap();
        storage.swap(&key, &Expected::Absent, "x".into()).await.unwrap();
        let err = store.collect(AT_ONCE).await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unsupported, "{key}");
        let stored = storage.load(&key).await.unwrap().unwrap();
        storage.delete_ref(&key, &stored.token).await.unwrap();
    }
    assert_eq!(collect(&store).await.condemned, 1);
}

#[tokio::test]
async fn a_root_that_cannot_be_read_stops_the_collection() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    write(&files, "/a", "1").await;
    remove(&files, "/a").await;
    let key = RefKey::new("sandboxes/other/root").unwrap();
    storage.swap(&key, &Expected::Absent, "no root".into()).await.unwrap();
    let err = store.collect(AT_ONCE).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Io);
    assert!(err.to_string().contains("sandboxes/other/root"), "{err}");
}

#[tokio::test]
async fn trees_in_memory_have_no_garbage() {
    let store = Store::in_memory();
    let files = new(&store, "s").await;
    write(&files, "/a", "1").await;
    let expected = Collected { in_memory: true, ..Collected::default() };
    assert_eq!(collect(&store).await, expected);
}

#[tokio::test]
async fn a_storage_of_one_process_forgets_no_fork_that_overtakes_the_collector() {
    let (storage, store) = store();
    overtake(&storage, &store, &store).await;
}

#[tokio::test]
async fn a_shared_storage_forgets_no_fork_that_overtakes_the_collector() {
    let (storage, store) = store();
    storage.share();
    storage.set_age(24 * HOUR);
    overtake(&storage, &store, &over(&storage)).await;
    let announced = refs(&storage).await;
    assert!(announced.iter().any(|key| key.starts_with("gc/copies/")), "{announced:?}");
}

/// Forks the last snapshot that holds some files into a sandbox that the collector has passed, and
/// deletes it before the collector gets there.
async fn overtake(storage: &Arc<Meddling>, collector: &Store, other: &Store) {
    let files = new(other, "z").await;
    fill(&files, 300, |number| format!("/{number}")).await;
    let expected = contents(&files).await;
    let point = snapshot(&files, "last").await;
    for number in 0..300 {
        remove(&files, &format!("/{number}")).await;
    }
    new(other, "b").await;
    storage.meanwhile("sandboxes/b/root", async move {
        let snapshots = files.snapshots().unwrap();
        snapshots.fork(point.clone(), &sandbox("a"), Limits::default()).await.unwrap();
        snapshots.delete(snapshot_id(&point)).await.unwrap();
    });
    let collected = collect(collector).await;
    assert!(refs(storage).await.contains(&"sandboxes/a/root".to_owned()));
    assert!(collected.live > 0, "{collected:?}");
    collect(collector).await;
    let fork = over(storage).sandbox(&sandbox("a")).await.unwrap();
    assert_eq!(contents(&fork).await, expected);
}

#[tokio::test]
async fn where_others_write_too_nothing_goes_within_twelve_hours() {
    let (storage, store) = store();
    storage.share();
    let files = new(&store, "s").await;
    storage.set_age(11 * HOUR);
    write(&files, "/a", "1").await;
    remove(&files, "/a").await;
    assert_eq!(collect(&store).await.condemned, 0);
    storage.set_age(13 * HOUR);
    let others = new(&store, "t").await;
    write(&others, "/b", "1").await;
    remove(&others, "/b").await;
    assert_eq!(collect(&store).await.condemned, 1);
    assert_eq!(collect(&store).await.waiting, 2);
}

#[tokio::test]
async fn a_store_is_tended_in_the_background_until_it_is_closed() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    storage.set_age(2 * HOUR);
    write(&files, "/a", "1").await;
    remove(&files, "/a").await;
    store.tend(Duration::from_millis(5));
    let is_condemned = async {
        while !refs(&storage).await.iter().any(|key| key.starts_with("gc/condemned/")) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_condemned).await.unwrap();
    drop((store, files));
    let is_closed = async {
        while Arc::strong_count(&storage) > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), is_closed).await.unwrap();
}

#[tokio::test]
async fn a_domain_that_no_ref_ever_led_to_is_found() {
    let (storage, store) = store();
    let key = ObjectKey { domain: Domain::random(), id: ObjectId([1; 32]) };
    storage.set_age(HOUR);
    storage.put_many(vec![(key, frame::seal(b"orphan"))]).await.unwrap();
    collect_twice(&store).await;
    assert_eq!(objects(&storage).await, 0);
}

#[tokio::test]
async fn a_rehearsal_tells_what_the_next_collection_does_and_leaves_all_as_it_is() {
    let (storage, store) = store();
    let files = new(&store, "s").await;
    storage.set_age(HOUR);
    write(&files, "/a", noise(100_000)).await;
    write(&files, "/b", noise(1000)).await;
    remove(&files, "/a").await;
    // The first condemns, the second deletes, and there is nothing left for the third.
    for _ in 0..3 {
        a_moment().await;
        let (objects_before, refs_before) = (objects(&storage).await, refs(&storage).await);
        let told = store.would_collect(AT_ONCE).await.unwrap();
        assert_eq!(objects(&storage).await, objects_before);
        assert_eq!(refs(&storage).await, refs_before);
        let Collected { live, condemned, condemned_bytes, deleted, freed, .. } =
            store.collect(AT_ONCE).await.unwrap();
        assert_eq!(
            [told.live, told.condemned, told.condemned_bytes],
            [live, condemned, condemned_bytes]
        );
        assert_eq!([told.deleted, told.freed], [deleted, freed]);
    }
}
