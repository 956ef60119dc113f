//! Trees to try things on, and what they show.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use engine::{
    ByteStream, DotDot, Entry, EntryKind, FileSystem, If, Limits, Links, Page, Parents, SandboxId,
    SandboxPath, Span, Store, Usage, VirtualFs, WriteMode, WriteOptions,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use storage::MemoryStorage;

use crate::paths::host;

/// How much of a file is looked at.
const LOOKED_AT: u64 = 64 << 10;

/// What one path shows. Times are apart, for not every tree and every archive keeps all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: EntryKind,
    /// Of files only: what a directory or link is said to have differs.
    pub(crate) size: u64,
    pub(crate) mode: Option<u32>,
    /// How a file begins, or where a link leads.
    pub(crate) content: Bytes,
}

pub(crate) fn id(text: &str) -> SandboxId {
    SandboxId::parse(text).expect("it is an id")
}

pub(crate) fn at(text: &str) -> SandboxPath {
    SandboxPath::parse(text, DotDot::Refuse).expect("it is a path")
}

/// A tree in memory, as it is.
pub(crate) async fn memory(limits: Limits) -> VirtualFs {
    Store::in_memory().create(&id("trial"), limits).await.expect("it is new")
}

/// A store whose trees are written as objects and fetched again.
pub(crate) fn flushing() -> Store {
    Store::flushing(Arc::new(MemoryStorage::default()))
}

/// Some bytes as the body of a request, in pieces of an odd size.
pub(crate) fn body(bytes: &[u8]) -> ByteStream {
    let pieces: Vec<_> = bytes.chunks(1001).map(|piece| Ok(piece.to_vec().into())).collect();
    stream::iter(pieces).boxed()
}

pub(crate) async fn write(files: &dyn FileSystem, path: &str, content: &[u8]) {
    let (mode, parents, expected) = (WriteMode::Replace, Parents::Create, If::Always);
    let options = WriteOptions { mode, parents, expected, length: None };
    files.write(&at(path), body(content), options).await.expect("there is room for a file");
}

/// Everything that a tree shows beneath its root, with its entries; none if it is too much to look
/// at. What it says to hold is what it shows.
pub(crate) async fn seen(
    files: &dyn FileSystem,
    most: u64,
) -> Option<BTreeMap<SandboxPath, (Entry, Seen)>> {
    let usage = files.usage().await.expect("a tree can be counted");
    if usage.nodes() > most {
        return None;
    }
    let (mut all, mut todo) = (BTreeMap::new(), vec![SandboxPath::root()]);
    let mut counted = Usage { directories: 1, ..Usage::default() };
    while let Some(dir) = todo.pop() {
        let entries = files.list(&dir, Page::default()).await.expect("a directory can be listed");
        let entries: Vec<Entry> = entries.try_collect().await.expect("to its end");
        check_order(&entries);
        for entry in entries {
            assert_eq!(entry.path.parent().as_ref(), Some(&dir));
            let looked =
                files.stat(&entry.path, Links::Keep).await.expect("what is listed is there");
            check_same(&entry, &looked);
            match entry.kind {
                EntryKind::Directory => {
                    counted.directories += 1;
                    todo.push(entry.path.clone());
                }
                EntryKind::File | EntryKind::Symlink | EntryKind::Special => counted.files += 1,
            }
            let shown = look(files, &entry).await;
            counted.bytes += shown.size;
            all.insert(entry.path.clone(), (entry, shown));
        }
    }
    assert_eq!(counted, usage, "the sums are not those of what there is");
    Some(all)
}

/// Holds that a listing and a look tell the same. A file on a host that changed a moment ago has
/// another version at every look, for its next change might not show in its times.
fn check_same(listed: &Entry, looked: &Entry) {
    let is_sure = |entry: &&Entry| {
        entry.version.as_ref().is_none_or(|version| !version.as_str().contains("-unsure-"))
    };
    let mut looked = looked.clone();
    if ![listed, &looked].iter().all(is_sure) {
        looked.version.clone_from(&listed.version);
    }
    assert_eq!(looked, *listed);
}

/// Names are sorted by their bytes: those that they have on the host, or as text.
fn check_order(entries: &[Entry]) {
    let on_host: Vec<_> = entries.iter().map(|entry| host(entry.path.name())).collect();
    let as_text = entries.is_sorted_by(|one, next| one.path.name() < next.path.name());
    assert!(as_text || on_host.is_sorted_by(|one, next| one < next), "{entries:?}");
}

async fn look(files: &dyn FileSystem, entry: &Entry) -> Seen {
    let (kind, mode) = (entry.kind, entry.mode);
    let (size, content) = match kind {
        EntryKind::File => (entry.size, start(files, &entry.path, entry.size).await),
        EntryKind::Symlink => {
            let target = files.read_link(&entry.path).await.expect("a link can be read");
            (0, target.into())
        }
        EntryKind::Directory | EntryKind::Special => (0, Bytes::new()),
    };
    Seen { kind, size, mode, content }
}

async fn start(files: &dyn FileSystem, path: &SandboxPath, size: u64) -> Bytes {
    if size == 0 {
        return Bytes::new();
    }
    let span = Span::Between(0..LOOKED_AT);
    let content = files.read(path, span).await.expect("a file can be read");
    let pieces: Vec<Bytes> = content.body.try_collect().await.expect("to its end");
    let bytes = pieces.concat();
    assert_eq!(bytes.len() as u64, size.min(LOOKED_AT), "{path}");
    bytes.into()
}
