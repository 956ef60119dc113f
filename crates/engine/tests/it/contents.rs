//! What a tree holds, as a map; and short words for filling one.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use sandkeep_engine::{
    DotDot, EntryKind, FileSystem, If, Links, NewSnapshot, Page, Parents, Point, SandboxId,
    SandboxPath, SnapshotId, Span, Step, UnixTime, WriteMode, WriteOptions,
};

/// Every path of a tree but its root, with what is there.
pub(crate) type Contents = BTreeMap<SandboxPath, Node>;

/// What is at a path. The time of a directory only tells that its names changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: EntryKind,
    pub(crate) mode: Option<u32>,
    pub(crate) modified: Option<UnixTime>,
    pub(crate) content: Bytes,
}

/// Reads everything that a tree holds.
pub(crate) async fn contents(files: &dyn FileSystem) -> Contents {
    let mut contents = Contents::new();
    let mut dirs = vec![SandboxPath::root()];
    while let Some(dir) = dirs.pop() {
        let entries: Vec<_> = files.list(&dir, all()).await.unwrap().try_collect().await.unwrap();
        for entry in entries {
            let content = match entry.kind {
                EntryKind::File => read(files, &entry.path).await,
                EntryKind::Symlink => files.read_link(&entry.path).await.unwrap().into(),
                EntryKind::Directory | EntryKind::Special => Bytes::new(),
            };
            let is_dir = entry.kind == EntryKind::Directory;
            let modified = entry.modified.filter(|_| !is_dir);
            let node = Node { kind: entry.kind, mode: entry.mode, modified, content };
            if is_dir {
                dirs.push(entry.path.clone());
            }
            contents.insert(entry.path, node);
        }
    }
    contents
}

fn all() -> Page {
    Page { after: None, limit: None }
}

/// The bytes of a file.
pub(crate) async fn read(files: &dyn FileSystem, path: &SandboxPath) -> Bytes {
    let content = files.read(path, Span::Whole).await.unwrap();
    let pieces: Vec<Bytes> = content.body.try_collect().await.unwrap();
    pieces.concat().into()
}

pub(crate) async fn write(files: &dyn FileSystem, path: &str, content: impl Into<Bytes>) {
    let body = stream::iter([Ok(content.into())]).boxed();
    files.write(&at(path), body, replacing()).await.unwrap();
}

pub(crate) fn replacing() -> WriteOptions {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    WriteOptions { mode, parents, expected, length: None }
}

/// A step that puts a whole file in place.
pub(crate) fn put(path: &str, content: impl Into<Bytes>) -> Step {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    Step::Write { file: at(path), content: content.into(), mode, parents, expected }
}

/// Writes so many small files in a few commits.
pub(crate) async fn fill(files: &dyn FileSystem, count: usize, path: impl Fn(usize) -> String) {
    for start in (0..count).step_by(1000) {
        let numbers = start..count.min(start + 1000);
        let steps = numbers.map(|number| put(&path(number), format!("file {number}"))).collect();
        files.batch(steps).await.unwrap();
    }
}

pub(crate) async fn snapshot(files: &dyn FileSystem, id: &str) -> Point {
    let id = SnapshotId::parse(id).unwrap();
    let new = NewSnapshot { id: Some(id.clone()), ..NewSnapshot::default() };
    files.snapshots().unwrap().create(new).await.unwrap();
    Point::Snapshot(id)
}

pub(crate) async fn is_there(files: &dyn FileSystem, path: &str) -> bool {
    files.stat(&at(path), Links::Keep).await.is_ok()
}

pub(crate) fn at(path: &str) -> SandboxPath {
    SandboxPath::parse(path, DotDot::Refuse).unwrap()
}

pub(crate) fn sandbox(id: &str) -> SandboxId {
    SandboxId::parse(id).unwrap()
}
