//! A stream goes to the store while it comes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use sandkeep_engine::{FileSystem as _, Limits, NewSnapshot, Store};
use storage::{MemoryStorage, Objects as _};

use super::handmade::{Block, Handmade, LEAVE, root, small_file};
use crate::fixture::{id, noise};

#[tokio::test]
async fn few_pages_of_a_tree_wait_in_memory() {
    let count = 10_000_u64;
    let mut stream =
        Handmade::whole([count, 500 * count, count, 0, 0, 1, 500], Block::default().with(root()));
    for names in (0..count).collect::<Vec<_>>().chunks(1000) {
        let files = names.iter().map(|name| small_file(&format!("{name:05}"), 500));
        let files = files.collect::<Vec<_>>().concat();
        stream.blocks.push(Block::default().with(files).with_content(&noise(500_000)));
    }
    stream.blocks.push(Block::default().with(LEAVE));
    let mut stream = Bytes::from(stream.bytes());

    let storage = Arc::new(MemoryStorage::default());
    let store = Store::flushing(Arc::clone(&storage) as _);
    let files = store.create(&id("trial"), Limits::default()).await.unwrap();
    let end = stream.split_off(stream.len() - 48);
    // The end comes when at least a page of names is in the store.
    let is_stored = async move {
        while storage.list(None, None, 1).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        Ok(end)
    };
    let stream = stream::iter([Ok(stream)]).chain(stream::once(is_stored)).boxed();
    let import = files.snapshots().unwrap().import(stream, NewSnapshot::default());
    let snapshot = tokio::time::timeout(Duration::from_secs(60), import).await.unwrap().unwrap();
    assert_eq!(snapshot.usage.files, count);
}
