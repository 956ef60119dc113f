//! An archive that is unpacked goes to the store while it comes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use sandkeep_engine::{ArchiveFormat, ArchiveLimits, FileSystem as _, Limits, SandboxPath, Store};
use storage::{MemoryStorage, Objects as _};

use crate::fixture::{id, noise};

/// Files of 64 KiB each, which is the most that is not stored by itself.
fn archive(files: usize) -> Bytes {
    let mut archive = tar::Builder::new(Vec::new());
    for (number, content) in noise(files << 16).chunks(1 << 16).enumerate() {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("{number}"), content).unwrap();
    }
    archive.into_inner().unwrap().into()
}

#[tokio::test]
async fn few_bytes_of_an_archive_wait_in_memory() {
    let storage = Arc::new(MemoryStorage::default());
    let store = Store::flushing(Arc::clone(&storage) as _);
    let files = store.create(&id("trial"), Limits::default()).await.unwrap();
    let mut archive = archive(256);
    let end = archive.split_off(archive.len() - 1024);
    // The end comes when at most 128 of the files, or 8 MiB, are not in the store.
    let is_stored = async move {
        while storage.list(None, None, 1000).await.unwrap().len() < 128 {
            tokio::task::yield_now().await;
        }
        Ok(end)
    };
    let pieces = stream::iter([Ok(archive)]).chain(stream::once(is_stored)).boxed();
    let root = SandboxPath::root();
    let unpacked = files.unpack(&root, pieces, ArchiveFormat::Tar, ArchiveLimits::default());
    tokio::time::timeout(Duration::from_secs(60), unpacked).await.unwrap().unwrap();
    assert_eq!(files.usage().await.unwrap().bytes, 256 << 16);
}
