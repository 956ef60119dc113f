//! Corners that a random walk seldom comes to.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, Create, Depth, ErrorKind, FileSystem, If, Limits, Links,
    MetadataChange, OpenOptions, Parents, Part, Result, Store, Target, VirtualFs, WriteMode,
    WriteOptions,
};
use storage::MemoryStorage;

use crate::contents::{at, contents, put, read, replacing, sandbox, write};
use crate::fixture::{memory, refusal, stored};

fn body(content: impl Into<Bytes>) -> sandkeep_engine::ByteStream {
    stream::iter([Ok(content.into())]).boxed()
}

fn part(offset: u64) -> WriteOptions {
    WriteOptions { mode: WriteMode::Part(Part { offset, total: None }), ..replacing() }
}

async fn within(limits: Limits) -> VirtualFs {
    let store = Store::flushing(Arc::new(MemoryStorage::default()));
    store.create(&sandbox("limited"), limits).await.unwrap()
}

/// Unpacks files with these names and contents.
async fn unpack(files: &VirtualFs, dir: &str, members: &[(&str, &str)]) -> Result<()> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    let archive = body(archive.into_inner().unwrap());
    files.unpack(&at(dir), archive, ArchiveFormat::Tar, ArchiveLimits::default()).await.map(drop)
}

#[tokio::test]
async fn a_link_to_a_name_that_no_directory_can_hold_makes_nothing() {
    let storage = Arc::new(MemoryStorage::default());
    let files = Store::flushing(storage.clone());
    let files = files.create(&sandbox("links"), Limits::default()).await.unwrap();
    write(&files, "/file", "1").await;
    files.symlink(&at("/link"), &"x".repeat(300)).await.unwrap();
    files.symlink(&at("/deep"), &format!("d/{}/e", "x".repeat(256))).await.unwrap();
    for link in ["/link", "/deep"] {
        let written = refusal(files.write(&at(link), body("x"), replacing())).await;
        assert_eq!(written, ErrorKind::InvalidPath);
    }
    let again = Store::flushing(storage).sandbox(&sandbox("links")).await.unwrap();
    assert_eq!(contents(&again).await.len(), 3);
}

#[tokio::test]
async fn a_link_that_is_spelled_otherwise_leads_to_the_same_file() {
    let files = stored().await;
    // The two bytes of `é`, escaped one by one, are `é` again.
    files.symlink(&at("/link"), "\u{10FEC3}\u{10FEA9}").await.unwrap();
    assert_eq!(files.read_link(&at("/link")).await.unwrap(), "é");
    write(&files, "/é", "1").await;
    files.write(&at("/link"), body("2"), replacing()).await.unwrap();
    assert_eq!(read(&files, &at("/é")).await, "2");
}

#[tokio::test]
async fn a_move_to_where_a_link_through_its_source_leads_ends_there() {
    let files = stored().await;
    write(&files, "/a/file", "1").await;
    files.create_dir(&at("/b"), Parents::Require).await.unwrap();
    files.symlink(&at("/a/out"), "../b").await.unwrap();
    files.symlink(&at("/link"), "a/out").await.unwrap();
    files.rename(&at("/a"), &at("/link/moved"), Target::New).await.unwrap();
    assert_eq!(read(&files, &at("/b/moved/file")).await, "1");
    assert_eq!(contents(&files).await.len(), 5);
}

#[tokio::test]
async fn a_large_part_that_only_replaces_needs_no_room() {
    let files = within(Limits { total_size: Some(4 << 20), ..Limits::default() }).await;
    write(&files, "/file", vec![1; 4 << 20]).await;
    files.write(&at("/file"), body(vec![2; 3 << 20]), part(1 << 20)).await.unwrap();
    assert_eq!(read(&files, &at("/file")).await[(1 << 20) - 1..][..2], [1, 2]);
    let outcome = files.write(&at("/file"), body(vec![3; 3 << 20]), part((1 << 20) + 1)).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::StorageFull);
}

#[tokio::test]
async fn an_archive_that_only_replaces_needs_no_room() {
    let limits = Limits { total_size: Some(100), nodes: Some(3), ..Limits::default() };
    let files = within(limits).await;
    unpack(&files, "/to", &[("file", &"x".repeat(90))]).await.unwrap();
    unpack(&files, "/to", &[("file", &"y".repeat(95))]).await.unwrap();
    assert_eq!(read(&files, &at("/to/file")).await, "y".repeat(95));
    let outcome = unpack(&files, "/to", &[("other", &"z".repeat(6))]).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::StorageFull);
}

#[tokio::test]
async fn files_of_one_archive_have_versions_of_their_own() {
    let files = memory().await;
    unpack(&files, "/", &[("a", "1"), ("b", "2")]).await.unwrap();
    let version = async || FileSystem::stat(&files, &at("/a"), Links::Keep).await.unwrap().version;
    let before = version().await;
    files.rename(&at("/b"), &at("/a"), Target::Replace).await.unwrap();
    let moved = version().await;
    assert_ne!(moved, before);
    unpack(&files, "/", &[("a", "3")]).await.unwrap();
    assert!(![before, moved].contains(&version().await));
}

#[tokio::test]
async fn a_file_over_a_limit_that_came_later_may_change_as_long_as_it_does_not_grow() {
    let files = within(Limits::default()).await;
    write(&files, "/file", vec![1; 100]).await;
    files.set_limits(Limits { file_size: Some(10), ..Limits::default() }).await.unwrap();
    files.write(&at("/file"), body("x"), part(50)).await.unwrap();
    let handle = files.open(&at("/file"), OpenOptions::Write(Create::Never)).await.unwrap();
    handle.write_at(90, Bytes::from_static(b"0123456789")).await.unwrap();
    handle.set_len(60).await.unwrap();
    let grown = handle.write_at(55, Bytes::from_static(b"0123456789")).await;
    assert_eq!(grown.unwrap_err().kind(), ErrorKind::FileTooLarge);
    assert_eq!(handle.stat().await.unwrap().size, 60);
}

#[tokio::test]
async fn the_root_keeps_its_mode_when_a_link_leads_to_it() {
    let files = memory().await;
    files.symlink(&at("/here"), ".").await.unwrap();
    let change = MetadataChange { mode: Some(0), modified: None };
    let outcome = refusal(files.set_metadata(&at("/here"), change)).await;
    assert_eq!(outcome, ErrorKind::InvalidArgument);
}

#[tokio::test]
async fn a_directory_in_the_place_of_a_link_that_leads_nowhere_is_refused_as_existing() {
    let files = memory().await;
    files.symlink(&at("/loop"), "loop").await.unwrap();
    let outcome = refusal(files.create_dir(&at("/loop"), Parents::Require)).await;
    assert_eq!(outcome, ErrorKind::AlreadyExists);
}

#[tokio::test]
async fn a_tree_cannot_become_deeper_than_any_path() {
    let files = stored().await;
    let deep = at(&"/d".repeat(2047));
    files.create_dir(&deep, Parents::Create).await.unwrap();
    write(&files, "/a/b/file", "1").await;
    let outcome = refusal(files.rename(&at("/d"), &at("/a/b/d"), Target::New)).await;
    assert_eq!(outcome, ErrorKind::InvalidPath);
    files.rename(&at("/d"), &at("/a/d"), Target::New).await.unwrap();
    files.remove(&at("/a"), Depth::All, If::Always).await.unwrap();
    assert_eq!(files.usage().await.unwrap().nodes(), 1);
}

#[tokio::test]
async fn copies_of_copies_are_refused_before_they_cannot_be_counted() {
    let files = stored().await;
    write(&files, "/0/file", "x").await;
    let mut level = 0_u32;
    let refused = loop {
        let (from, next) = (at(&format!("/{level}")), level + 1);
        let copy = |to: &str| {
            let to = at(&format!("/{next}/{to}"));
            let (files, from) = (files.clone(), from.clone());
            async move { files.copy(&from, &to, Target::New).await }
        };
        copy("a").await.unwrap();
        match copy("b").await {
            Ok(_) => files.remove(&from, Depth::All, If::Always).await.unwrap(),
            Err(err) => break err.kind(),
        }
        level = next;
        assert_eq!(files.usage().await.unwrap().bytes, 1 << level);
    };
    assert!(matches!(refused, ErrorKind::StorageFull | ErrorKind::TooManyNodes), "{refused:?}");
    assert!(level > 58, "refused at 2^{level}");
    files.batch(vec![put("/still", "here")]).await.unwrap();
}

#[tokio::test]
async fn a_handle_follows_its_file_into_a_directory_that_it_is_merged_with() {
    let files = stored().await;
    write(&files, "/from/sub/file", "1").await;
    write(&files, "/to/sub/file", "old").await;
    write(&files, "/to/sub/other", "other").await;
    let open = |path: &str| {
        let (files, path) = (files.clone(), at(path));
        async move { files.open(&path, OpenOptions::Write(Create::Never)).await.unwrap() }
    };
    let (moved, replaced) = (open("/from/sub/file").await, open("/to/sub/file").await);
    let stays = open("/to/sub/other").await;
    files.rename(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
    moved.write_at(1, Bytes::from_static(b"2")).await.unwrap();
    replaced.write_at(3, Bytes::from_static(b"er")).await.unwrap();
    stays.write_at(0, Bytes::from_static(b"O")).await.unwrap();
    assert_eq!(read(&files, &at("/to/sub/file")).await, "12");
    assert_eq!(read(&files, &at("/to/sub/other")).await, "Other");
    assert_eq!(replaced.read_at(0, 9).await.unwrap(), "older");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writes_at_once_to_a_file_without_a_name_all_arrive() {
    let files = stored().await;
    write(&files, "/file", vec![0; 64]).await;
    let open = async || files.open(&at("/file"), OpenOptions::Write(Create::Never)).await.unwrap();
    let (one, other) = (open().await, open().await);
    files.remove(&at("/file"), Depth::One, If::Always).await.unwrap();
    let writes: Vec<_> = (0..64_u8)
        .map(|n| {
            let file = if n % 2 == 0 { one.clone() } else { other.clone() };
            tokio::spawn(async move { file.write_at(n.into(), vec![n + 1].into()).await })
        })
        .collect();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    let expected: Vec<u8> = (1..=64).collect();
    assert_eq!(one.read_at(0, 99).await.unwrap(), expected);
    assert_eq!(other.read_at(0, 99).await.unwrap(), expected);
}

/// Two files change places all the time; whoever opens one must get that one and keep it.
async fn a_handle_is_of_one_file(files: VirtualFs) {
    write(&files, "/a", "a").await;
    write(&files, "/b", "b").await;
    let mover = tokio::spawn({
        let files = files.clone();
        async move {
            for _ in 0..300 {
                files.rename(&at("/a"), &at("/c"), Target::New).await.unwrap();
                files.rename(&at("/b"), &at("/a"), Target::New).await.unwrap();
                files.rename(&at("/c"), &at("/b"), Target::New).await.unwrap();
            }
        }
    });
    while !mover.is_finished() {
        let opened = files.open(&at("/a"), OpenOptions::Read).await;
        let Ok(handle) = opened else { continue };
        let first = handle.read_at(0, 9).await.unwrap();
        for _ in 0..5 {
            assert_eq!(handle.read_at(0, 9).await.unwrap(), first);
            assert_eq!(handle.stat().await.unwrap().size, 1);
            tokio::task::yield_now().await;
        }
    }
    mover.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handle_is_of_one_file_while_names_move_in_memory() {
    a_handle_is_of_one_file(memory().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_handle_is_of_one_file_while_names_move_in_objects() {
    a_handle_is_of_one_file(stored().await).await;
}
