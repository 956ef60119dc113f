//! What a collector does meanwhile is no concern of a stream, and what a store lost is.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use sandkeep_engine::{
    ByteStream, CollectOptions, FileSystem as _, Limits, NewSnapshot, Point, SnapshotId, Store,
    VirtualFs,
};
use storage::{MemoryStorage, Objects as _};

use super::travel::{exported, import, opened, point, seen, snapshot, snapshots, write};
use crate::fixture::{id, memory, noise};

async fn sandbox(store: &Store) -> VirtualFs {
    store.create(&id("trial"), Limits::default()).await.unwrap()
}

/// Several blocks of it.
async fn filled(files: &VirtualFs) {
    for (number, content) in noise(8_000_000).chunks(400_000).enumerate() {
        write(files, &format!("/dir/{number}"), content.to_vec()).await;
    }
}

/// Takes away what nothing leads to, at once.
async fn collect(store: &Store) {
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_millis(2)).await;
        store.collect(CollectOptions { grace: Duration::ZERO }).await.unwrap();
    }
}

/// A stream during which something happens: behind its header, and behind every megabyte.
fn interrupted<F: Future<Output = ()> + Send + 'static>(
    bytes: &[u8],
    event: impl Fn() -> F + Send + Sync + 'static,
) -> ByteStream {
    let (header, rest) = bytes.split_at(144);
    let header = stream::iter([Ok(Bytes::copy_from_slice(header))]);
    let rest: Vec<Bytes> = rest.chunks(1 << 20).map(Bytes::copy_from_slice).collect();
    let event = Arc::new(event);
    let rest = stream::iter(rest).then(move |piece| {
        let event = Arc::clone(&event);
        async move {
            event().await;
            Ok(piece)
        }
    });
    header.chain(rest).boxed()
}

#[tokio::test]
async fn what_an_import_stored_is_not_taken_for_garbage() {
    let (from, store) = (memory().await, Store::flushing(Arc::new(MemoryStorage::default())));
    filled(&from).await;
    let to = sandbox(&store).await;
    let collected = store.clone();
    let stream = interrupted(&exported(&from, Point::Live, None).await, move || {
        let store = collected.clone();
        async move { collect(&store).await }
    });
    let snapshot = to.snapshots().unwrap().import(stream, NewSnapshot::default()).await.unwrap();
    collect(&store).await;
    assert_eq!(seen(&*opened(&to, snapshot.id.as_str()).await).await, seen(&from).await);
}

#[tokio::test]
async fn the_snapshot_that_a_stream_builds_upon_may_go_meanwhile() {
    let (from, store) = (memory().await, Store::flushing(Arc::new(MemoryStorage::default())));
    filled(&from).await;
    snapshot(&from, "base").await;
    let to = sandbox(&store).await;
    import(&to, "base", &exported(&from, point("base"), None).await).await.unwrap();
    write(&from, "/dir/new", noise(3_000_000)).await;
    let (collected, files) = (store.clone(), to.clone());
    let stream = interrupted(&exported(&from, Point::Live, Some("base")).await, move || {
        let (store, files) = (collected.clone(), files.clone());
        async move {
            let base = SnapshotId::parse("base").unwrap();
            // The header has come, by which the snapshot was found. It can only be deleted once.
            drop(files.snapshots().unwrap().delete(&base).await);
            collect(&store).await;
        }
    });
    let snapshot = to.snapshots().unwrap().import(stream, NewSnapshot::default()).await.unwrap();
    collect(&store).await;
    assert_eq!(snapshots(&to).await, [snapshot.id.as_str()]);
    assert_eq!(seen(&*opened(&to, snapshot.id.as_str()).await).await, seen(&from).await);
}

#[tokio::test]
async fn a_store_that_lost_a_chunk_breaks_the_stream_off() {
    let storage = Arc::new(MemoryStorage::default());
    let files = sandbox(&Store::flushing(Arc::clone(&storage) as Arc<dyn storage::Storage>)).await;
    filled(&files).await;
    let all = storage.list(None, None, usize::MAX).await.unwrap();
    let large = all.into_iter().filter(|object| object.size > 20_000).nth(30).unwrap();
    storage.delete_exact(&[(large.key, large.token)]).await.unwrap();
    let stream = files.snapshots().unwrap().export(Point::Live, None).await.unwrap();
    let pieces: Vec<_> = stream.collect().await;
    let (last, sent) = pieces.split_last().unwrap();
    assert!(last.is_err(), "it ends with an error");
    let sent: Vec<u8> = sent.iter().flat_map(|piece| piece.as_ref().unwrap().to_vec()).collect();
    assert!(import(&files, "half", &sent).await.is_err(), "what came before is no whole stream");
}
