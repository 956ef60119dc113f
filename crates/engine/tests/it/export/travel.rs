//! Sending states, taking them in, and seeing whether they are the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sandkeep_engine::{
    Create, DotDot, EntryKind, FileSystem, If, Links, NewSnapshot, OpenOptions, Page, Parents,
    Point, Result, SandboxPath, Snapshot, SnapshotId, Span, Target, UnixTime, VirtualFs, WriteMode,
    WriteOptions,
};

use super::handmade::body;

/// All that travels of one path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    kind: EntryKind,
    size: u64,
    mode: Option<u32>,
    created: Option<UnixTime>,
    modified: Option<UnixTime>,
    /// The hash of a file's bytes, or where a link leads.
    content: String,
}

/// Everything that a tree shows, its root included.
pub(crate) async fn seen(files: &dyn FileSystem) -> BTreeMap<SandboxPath, Seen> {
    let mut all = BTreeMap::new();
    let mut todo = vec![files.stat(&SandboxPath::root(), Links::Keep).await.unwrap()];
    while let Some(entry) = todo.pop() {
        let mut content = String::new();
        match entry.kind {
            EntryKind::File => content = hash(files, &entry.path).await,
            EntryKind::Symlink => content = files.read_link(&entry.path).await.unwrap(),
            EntryKind::Directory => {
                let page = Page { after: None, limit: None };
                let entries = files.list(&entry.path, page).await.unwrap();
                todo.extend(entries.try_collect::<Vec<_>>().await.unwrap());
            }
            EntryKind::Special => {}
        }
        let (kind, size, mode) = (entry.kind, entry.size, entry.mode);
        let (created, modified) = (entry.created, entry.modified);
        all.insert(entry.path, Seen { kind, size, mode, created, modified, content });
    }
    all
}

async fn hash(files: &dyn FileSystem, path: &SandboxPath) -> String {
    let mut hash = blake3::Hasher::new();
    let mut pieces = files.read(path, Span::Whole).await.unwrap().body;
    while let Some(piece) = pieces.try_next().await.unwrap() {
        hash.update(&piece);
    }
    hash.finalize().to_string()
}

pub(crate) fn at(path: &str) -> SandboxPath {
    SandboxPath::parse(path, DotDot::Refuse).unwrap()
}

pub(crate) async fn write(files: &VirtualFs, path: &str, content: impl Into<Bytes>) {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    let options = WriteOptions { mode, parents, expected, length: None };
    let body = stream::iter([Ok(content.into())]).boxed();
    files.write(&at(path), body, options).await.unwrap();
}

/// Writes in the middle of a file, behind its end even; the file is made.
pub(crate) async fn write_at(files: &VirtualFs, path: &str, offset: u64, content: &[u8]) {
    let options = OpenOptions::Write(Create::IfMissing);
    let file = files.open(&at(path), options).await.unwrap();
    file.write_at(offset, Bytes::copy_from_slice(content)).await.unwrap();
}

/// Makes a directory that holds two copies of one that holds two copies, and so on.
pub(crate) async fn doubled(files: &VirtualFs, times: u32) {
    write(files, "/0/file", "x").await;
    for level in 0..times {
        let (old, new) = (at(&format!("/{level}")), at(&format!("/{}", level + 1)));
        files.create_dir(&new, Parents::Require).await.unwrap();
        files.copy(&old, &new.join("a").unwrap(), Target::New).await.unwrap();
        files.rename(&old, &new.join("b").unwrap(), Target::New).await.unwrap();
    }
}

/// The stream of a state, whole or since a snapshot.
pub(crate) async fn exported(files: &VirtualFs, from: Point, since: Option<&str>) -> Vec<u8> {
    let since = since.map(|id| SnapshotId::parse(id).unwrap());
    let stream = files.snapshots().unwrap().export(from, since.as_ref()).await.unwrap();
    stream.try_collect::<Vec<Bytes>>().await.unwrap().concat()
}

/// Takes in a stream as a snapshot.
pub(crate) async fn import(files: &VirtualFs, id: &str, stream: &[u8]) -> Result<Snapshot> {
    let id = Some(SnapshotId::parse(id).unwrap());
    let new = NewSnapshot { id, ..NewSnapshot::default() };
    files.snapshots().unwrap().import(body(stream), new).await
}

pub(crate) async fn snapshot(files: &VirtualFs, id: &str) -> Point {
    let id = SnapshotId::parse(id).unwrap();
    let new = NewSnapshot { id: Some(id.clone()), ..NewSnapshot::default() };
    files.snapshots().unwrap().create(new).await.unwrap();
    Point::Snapshot(id)
}

/// The files of a snapshot.
pub(crate) async fn opened(files: &VirtualFs, id: &str) -> Arc<dyn FileSystem> {
    files.snapshots().unwrap().open(&SnapshotId::parse(id).unwrap()).await.unwrap()
}

pub(crate) fn point(id: &str) -> Point {
    Point::Snapshot(SnapshotId::parse(id).unwrap())
}

/// The ids of all snapshots.
pub(crate) async fn snapshots(files: &VirtualFs) -> Vec<String> {
    let all = files.snapshots().unwrap().list(None, 100).await.unwrap();
    all.into_iter().map(|snapshot| snapshot.id.to_string()).collect()
}
