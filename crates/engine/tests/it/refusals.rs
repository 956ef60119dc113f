//! A refusal goes by what the store has now, however old the view of the server that gives it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, ErrorKind, FileSystem as _, If, Limits, Links, NewSnapshot,
    Point, Result, Store, StoreOptions, Version, VirtualFs, WriteOptions, Written,
};

use crate::contents::{at, replacing, write};
use crate::distant::Distant;
use crate::export::travel::exported;
use crate::fixture::{id, memory, noise, refusal};

const SMALL: Limits = Limits { file_size: Some(1000), total_size: None, nodes: None };

/// A sandbox as two servers have it open. Neither looks at the store unless it must.
async fn pair(limits: Limits) -> [VirtualFs; 2] {
    let storage = Distant::new();
    let [one, two] = [(); 2].map(|()| {
        let staleness = Duration::from_hours(1);
        let options = StoreOptions { staleness, ..StoreOptions::default() };
        Store::over_with(Arc::<Distant>::clone(&storage), options)
    });
    let one = one.create(&id("shared"), limits).await.unwrap();
    [one, two.sandbox(&id("shared")).await.unwrap()]
}

/// Two servers, the second of which has not seen yet that the first raised the limits.
async fn raised() -> VirtualFs {
    let [one, two] = pair(SMALL).await;
    let large = put(&two, noise(1001), replacing());
    assert_eq!(refusal(large).await, ErrorKind::FileTooLarge);
    one.set_limits(Limits::default()).await.unwrap();
    assert_eq!(two.limits(), SMALL, "nothing made it look");
    two
}

async fn put(files: &VirtualFs, content: Vec<u8>, options: WriteOptions) -> Result<Written> {
    let pieces: Vec<_> = content.chunks(1 << 18).map(Bytes::copy_from_slice).map(Ok).collect();
    files.write(&at("/a"), stream::iter(pieces).boxed(), options).await
}

async fn version(files: &VirtualFs) -> Version {
    files.stat(&at("/a"), Links::Keep).await.unwrap().version.unwrap()
}

fn matching(version: Version) -> WriteOptions {
    WriteOptions { expected: If::Matches(vec![version]), ..replacing() }
}

#[tokio::test]
async fn a_large_body_replaces_what_another_server_just_wrote() {
    let [one, two] = pair(Limits::default()).await;
    write(&one, "/a", "1").await;
    two.refresh().await.unwrap();
    let old = version(&two).await;
    write(&one, "/a", "2").await;
    let new = version(&one).await;
    assert_eq!(version(&two).await, old, "nothing made it look");
    put(&two, noise(5 << 20), matching(new)).await.unwrap();
    let outdated = put(&one, noise(5 << 20), matching(old));
    assert_eq!(refusal(outdated).await, ErrorKind::PreconditionFailed);
}

#[tokio::test]
async fn a_body_may_be_as_long_as_another_server_has_just_allowed() {
    for length in [None, Some(1001)] {
        put(&raised().await, noise(1001), WriteOptions { length, ..replacing() }).await.unwrap();
    }
}

#[tokio::test]
async fn an_archive_may_bring_what_another_server_has_just_allowed() {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_size(1001);
    header.set_mode(0o644);
    archive.append_data(&mut header, "a", &*noise(1001)).unwrap();
    let archive = stream::iter([Ok(archive.into_inner().unwrap().into())]).boxed();
    let files = raised().await;
    files.unpack(&at("/"), archive, ArchiveFormat::Tar, ArchiveLimits::default()).await.unwrap();
    assert_eq!(files.usage().await.unwrap().bytes, 1001);
}

#[tokio::test]
async fn a_snapshot_may_be_taken_in_that_another_server_has_just_allowed() {
    let from = memory().await;
    write(&from, "/a", noise(1001)).await;
    let state = Bytes::from(exported(&from, Point::Live, None).await);
    let files = raised().await;
    let state = stream::iter([Ok(state)]).boxed();
    files.snapshots().unwrap().import(state, NewSnapshot::default()).await.unwrap();
}
