//! A store that was written long ago can be read for ever.
//!
//! `tests/golden/store.txt` has every ref and every object of one, each a line of hexadecimal
//! digits. It is never written again, unless the formats of docs/decisions/0003 and 0004 are.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt as _;
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, Entry, EntryKind, ErrorKind, FileSystem, If, Limits, Links,
    MetadataChange, NewSnapshot, Parents, Part, Point, Result, SnapshotId, Step, Store, Target,
    UnixTime, VirtualFs, WriteMode,
};
use storage::{
    Domain, Expected, MemoryStorage, ObjectId, ObjectKey, Objects as _, RefKey, Refs as _,
};

use crate::contents::{at, contents, fill, put, read, sandbox, write};

const LIMITS: Limits = Limits { file_size: Some(1 << 30), total_size: None, nodes: Some(5000) };
const LONG_AGO: UnixTime = UnixTime { seconds: -86_400, nanoseconds: 7 };

/// Bytes that are not all alike and still compress well.
fn lines(count: usize) -> Vec<u8> {
    (0..count).fold(String::new(), |text, n| text + &format!("this is line {n}\n")).into()
}

/// Makes one of everything that the formats can hold.
async fn furnish(files: &VirtualFs) {
    write(files, "/empty", "").await;
    write(files, "/inline", "0123456789").await;
    write(files, "/one-chunk", lines(100)).await;
    write(files, "/some-chunks", lines(12_000)).await;
    write(files, "/dir/sub/deep", "deep").await;
    write(files, "/dir/\u{10FEFF}\u{10FEFE}", "not UTF-8 on a host").await;
    files.symlink(&at("/dir/link"), "../inline").await.unwrap();
    files.create_dir(&at("/dir/empty"), Parents::Require).await.unwrap();
    // Every second MiB is a hole, so that there are more extents than fit into a directory page.
    for n in 0..12 {
        let (mode, parents) =
            (WriteMode::Part(Part { offset: n << 20, total: None }), Parents::Require);
        let (file, content, expected) = (at("/sparse"), Bytes::from_static(b"x"), If::Always);
        files.batch(vec![Step::Write { file, content, mode, parents, expected }]).await.unwrap();
    }
    fill(files, 150, |n| format!("/many/{n}")).await;
    let change = MetadataChange { mode: Some(0o640), modified: Some(LONG_AGO) };
    files.set_metadata(&at("/inline"), change).await.unwrap();
    let id = Some(SnapshotId::parse("kept").unwrap());
    let labels = [("by".to_owned(), "test".to_owned())].into();
    let new = NewSnapshot { id, message: "kept".into(), labels };
    let snapshots = files.snapshots().unwrap();
    snapshots.create(new).await.unwrap();
    snapshots.fork(Point::Live, &sandbox("fork"), Limits::default()).await.unwrap();
    write(files, "/inline", "changed since").await;
}

async fn check_furnished(files: &dyn FileSystem) {
    let held = contents(files).await;
    let text = |path: &str| held[&at(path)].content.clone();
    assert_eq!(held.len(), 162);
    assert_eq!(text("/empty"), "");
    assert!(text("/one-chunk") == lines(100));
    assert!(text("/some-chunks") == lines(12_000));
    assert_eq!(text("/dir/sub/deep"), "deep");
    assert_eq!(text("/dir/\u{10FEFF}\u{10FEFE}"), "not UTF-8 on a host");
    assert_eq!(text("/dir/link"), "../inline");
    assert_eq!(held[&at("/dir/empty")].kind, EntryKind::Directory);
    assert_eq!(text("/many/149"), "file 149");
    let sparse = text("/sparse");
    assert_eq!(sparse.len(), (11 << 20) + 1);
    assert!(
        sparse.chunks(1 << 20).all(|part| part[0] == b'x' && part[1..].iter().all(|b| *b == 0))
    );
}

/// Every ref and every object of a storage, a line each.
async fn dump(storage: &MemoryStorage) -> String {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    };
    let mut text = String::new();
    for (key, kept) in storage.list_refs("", None, 1000).await.unwrap() {
        writeln!(text, "ref {} {}", key.as_str(), hex(&kept.value)).unwrap();
    }
    for listed in storage.list(None, None, 1000).await.unwrap() {
        let ObjectKey { domain, id } = listed.key;
        let bytes = storage.get(&listed.key).await.unwrap().unwrap();
        writeln!(text, "object {domain} {id} {}", hex(&bytes)).unwrap();
    }
    text
}

/// A storage with what a dump holds.
async fn loaded(dump: &str) -> Arc<MemoryStorage> {
    let bytes = |hex: &str| -> Vec<u8> {
        let pairs = hex.as_bytes().chunks(2);
        pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    };
    let storage = Arc::new(MemoryStorage::default());
    for line in dump.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ref", key, value] => {
                let key = RefKey::new(key).unwrap();
                storage.swap(&key, &Expected::Absent, bytes(value).into()).await.unwrap();
            }
            ["object", domain, id, value] => {
                let (domain, id) = (bytes(domain), bytes(id));
                let domain = Domain(domain.try_into().unwrap());
                let key = ObjectKey { domain, id: ObjectId(id.try_into().unwrap()) };
                storage.put_many(vec![(key, bytes(value).into())]).await.unwrap();
            }
            _ => panic!("a line of something else"),
        }
    }
    storage
}

async fn golden() -> (Arc<MemoryStorage>, Store) {
    let storage = loaded(include_str!("../golden/store.txt")).await;
    (storage.clone(), Store::flushing(storage))
}

#[tokio::test]
#[ignore = "the golden file is not written again"]
#[expect(clippy::disallowed_methods, reason = "the golden file is no sandbox's")]
async fn the_golden_store_is_written() {
    let storage = Arc::new(MemoryStorage::default());
    let files = Store::flushing(storage.clone()).create(&sandbox("old"), LIMITS).await.unwrap();
    furnish(&files).await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/store.txt");
    std::fs::write(path, dump(&storage).await).unwrap();
}

#[tokio::test]
async fn an_old_store_holds_what_it_held() {
    let (_, store) = golden().await;
    let files = store.sandbox(&sandbox("old")).await.unwrap();
    check_furnished(&files).await;
    assert_eq!(files.limits(), LIMITS);
    assert_eq!(read(&files, &at("/inline")).await, "changed since");
}

#[tokio::test]
async fn an_old_snapshot_holds_what_it_held() {
    let (_, store) = golden().await;
    let files = store.sandbox(&sandbox("old")).await.unwrap();
    let id = SnapshotId::parse("kept").unwrap();
    let snapshots = files.snapshots().unwrap();
    let kept = snapshots.stat(&id).await.unwrap();
    assert_eq!((kept.message.as_str(), kept.labels["by"].as_str()), ("kept", "test"));
    let tree = snapshots.open(&id).await.unwrap();
    check_furnished(&*tree).await;
    let Entry { mode, modified, size, .. } = tree.stat(&at("/inline"), Links::Keep).await.unwrap();
    assert_eq!((mode, modified, size), (Some(0o640), Some(LONG_AGO), 10));
}

#[tokio::test]
async fn an_old_store_can_be_written() {
    let (storage, store) = golden().await;
    let fork = store.sandbox(&sandbox("fork")).await.unwrap();
    fork.batch(vec![put("/many/75", "new"), put("/many/new", "new")]).await.unwrap();
    let again = Store::flushing(storage).sandbox(&sandbox("fork")).await.unwrap();
    assert_eq!(read(&again, &at("/many/75")).await, "new");
    assert_eq!(contents(&again).await.len(), 163);
}

#[tokio::test]
async fn the_same_names_make_the_pages_that_they_made_long_ago() {
    let (storage, store) = golden().await;
    let before = storage.list(None, None, 1000).await.unwrap().len();
    let fork = store.sandbox(&sandbox("fork")).await.unwrap();
    fork.rename(&at("/many"), &at("/moved"), Target::New).await.unwrap();
    fork.rename(&at("/moved"), &at("/many"), Target::New).await.unwrap();
    // Only the root's page is new, for its names changed twice.
    let more = storage.list(None, None, 1000).await.unwrap().len() - before;
    assert!(more <= 2, "{more} new objects");
}

/// Reads every byte of two sandboxes and a snapshot.
async fn read_everything(store: &Store) -> Result<()> {
    let old = store.sandbox(&sandbox("old")).await?;
    read_tree(&old).await?;
    let kept = SnapshotId::parse("kept").unwrap();
    read_tree(&*old.snapshots().unwrap().open(&kept).await?).await?;
    read_tree(&store.sandbox(&sandbox("fork")).await?).await
}

async fn read_tree(files: &dyn FileSystem) -> Result<()> {
    let archive = files.pack(&at("/"), ArchiveFormat::Tar, ArchiveLimits::default()).await?;
    archive.try_for_each(|_| async { Ok(()) }).await
}

#[tokio::test]
async fn damage_to_any_object_is_seen_and_told() {
    let lines: Vec<&str> = include_str!("../golden/store.txt").lines().collect();
    let (mut told, refs) = (0, lines.iter().filter(|line| line.starts_with("ref ")).count());
    for (number, line) in lines.iter().enumerate() {
        let (rest, last) = line.split_at(line.len() - 1);
        let damaged = format!("{rest}{}", if last == "0" { "1" } else { "0" });
        let mut lines = lines.clone();
        lines[number] = &damaged;
        let store = Store::flushing(loaded(&lines.join("\n")).await);
        if let Err(err) = read_everything(&store).await {
            assert_eq!(err.kind(), ErrorKind::Io, "{err}");
            told += 1;
        }
    }
    // What only states in between had is read by nobody.
    assert!(told > refs + 20, "{told} of {}", lines.len());
}
