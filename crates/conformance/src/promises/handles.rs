//! Open files: reads and writes at any offset.

use std::sync::Arc;

use bytes::Bytes;
use engine::{
    ArchiveFormat, ArchiveLimits, Create, Depth, EntryKind, ErrorKind, If, OpenFile, OpenOptions,
    Target,
};
use futures::future::try_join_all;

use crate::archive::Tar;
use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    a_handle_reads_at_any_offset;
    a_handle_reads_nothing_at_or_behind_the_end;
    a_handle_asked_for_more_than_there_is_gives_what_there_is;
    a_handle_asked_for_nothing_gives_nothing;
    a_handle_tells_what_the_file_is_now;
    a_handle_writes_in_place;
    a_handle_writes_behind_the_end;
    a_gap_reads_as_zeros;
    a_handle_reads_what_it_wrote;
    a_write_of_nothing_changes_nothing;
    a_write_through_a_handle_is_seen_by_the_path;
    a_write_through_a_handle_gives_a_new_version;
    a_handle_sees_what_another_wrote;
    a_handle_syncs;
    a_handle_for_reading_does_not_write;
    a_handle_cuts_the_file needs SetLen;
    a_handle_lengthens_the_file_with_zeros needs SetLen;
    a_handle_survives_a_rename needs LastingHandles;
    a_handle_survives_a_removal needs LastingHandles;
    opening_does_not_change_the_content;
    opening_makes_a_missing_file_when_it_may;
    opening_a_missing_file_is_not_found;
    opening_a_new_file_refuses_what_exists;
    opening_a_directory_is_refused;
    writes_at_once_to_different_parts_all_arrive;
    a_write_through_one_hard_link_leaves_the_other;
    an_offset_that_no_file_reaches_is_refused;
}

async fn opened(tree: &Tree, file: &str) -> Arc<dyn OpenFile> {
    tree.open(&at(file), OpenOptions::Write(Create::Never)).await.unwrap()
}

async fn digits(tree: &Tree) -> Arc<dyn OpenFile> {
    tree.put("/file", "0123456789").await;
    opened(tree, "/file").await
}

async fn a_handle_reads_at_any_offset(tree: Tree) {
    tree.put("/file", "0123456789").await;
    let file = tree.open(&at("/file"), OpenOptions::Read).await.unwrap();
    assert_eq!(file.read_at(7, 2).await.unwrap(), "78");
    assert_eq!(file.read_at(0, 3).await.unwrap(), "012");
}

async fn a_handle_reads_nothing_at_or_behind_the_end(tree: Tree) {
    let file = digits(&tree).await;
    assert!(file.read_at(10, 5).await.unwrap().is_empty());
    assert!(file.read_at(1 << 40, 5).await.unwrap().is_empty());
}

async fn a_handle_asked_for_more_than_there_is_gives_what_there_is(tree: Tree) {
    let file = digits(&tree).await;
    assert_eq!(file.read_at(8, 100).await.unwrap(), "89");
    assert_eq!(file.read_at(0, usize::MAX).await.unwrap(), "0123456789");
}

async fn a_handle_asked_for_nothing_gives_nothing(tree: Tree) {
    assert!(digits(&tree).await.read_at(3, 0).await.unwrap().is_empty());
}

async fn a_handle_tells_what_the_file_is_now(tree: Tree) {
    let file = digits(&tree).await;
    file.write_at(10, "more".into()).await.unwrap();
    let entry = file.stat().await.unwrap();
    assert_eq!((entry.kind, entry.size), (EntryKind::File, 14));
}

async fn a_handle_writes_in_place(tree: Tree) {
    digits(&tree).await.write_at(3, "abc".into()).await.unwrap();
    assert_eq!(tree.text("/file").await, "012abc6789");
}

async fn a_handle_writes_behind_the_end(tree: Tree) {
    digits(&tree).await.write_at(8, "abcd".into()).await.unwrap();
    assert_eq!(tree.text("/file").await, "01234567abcd");
}

async fn a_gap_reads_as_zeros(tree: Tree) {
    digits(&tree).await.write_at(12, "x".into()).await.unwrap();
    assert_eq!(tree.content("/file").await, b"0123456789\0\0x");
}

async fn a_handle_reads_what_it_wrote(tree: Tree) {
    let file = digits(&tree).await;
    file.write_at(4, "wrote".into()).await.unwrap();
    assert_eq!(file.read_at(3, 7).await.unwrap(), "3wrote9");
}

async fn a_write_of_nothing_changes_nothing(tree: Tree) {
    let file = digits(&tree).await;
    file.write_at(100, Bytes::new()).await.unwrap();
    assert_eq!(tree.text("/file").await, "0123456789");
}

async fn a_write_through_a_handle_is_seen_by_the_path(tree: Tree) {
    let file = digits(&tree).await;
    file.write_at(10, "ab".into()).await.unwrap();
    assert_eq!(tree.entry("/file").await.size, 12);
    assert_eq!(tree.text("/file").await, "0123456789ab");
}

async fn a_write_through_a_handle_gives_a_new_version(tree: Tree) {
    let file = digits(&tree).await;
    let mut last = tree.version("/file").await;
    // Of the same length and more often than a clock ticks: only a counted version can tell.
    for round in 0..50_u8 {
        file.write_at(0, vec![round].into()).await.unwrap();
        let version = tree.version("/file").await;
        assert_ne!(version, last, "round {round}");
        last = version;
    }
}

async fn a_handle_sees_what_another_wrote(tree: Tree) {
    let (one, two) = (digits(&tree).await, opened(&tree, "/file").await);
    one.write_at(0, "ab".into()).await.unwrap();
    assert_eq!(two.read_at(0, 3).await.unwrap(), "ab2");
}

async fn a_handle_syncs(tree: Tree) {
    let file = digits(&tree).await;
    file.write_at(0, "synced".into()).await.unwrap();
    file.sync().await.unwrap();
    assert_eq!(tree.text("/file").await, "synced6789");
}

async fn a_handle_for_reading_does_not_write(tree: Tree) {
    tree.put("/file", "0123456789").await;
    let file = tree.open(&at("/file"), OpenOptions::Read).await.unwrap();
    assert_eq!(refused(file.write_at(0, "x".into()).await), ErrorKind::PermissionDenied);
    assert_eq!(tree.text("/file").await, "0123456789");
}

async fn a_handle_cuts_the_file(tree: Tree) {
    digits(&tree).await.set_len(4).await.unwrap();
    assert_eq!(tree.text("/file").await, "0123");
}

async fn a_handle_lengthens_the_file_with_zeros(tree: Tree) {
    let file = digits(&tree).await;
    file.set_len(4).await.unwrap();
    file.set_len(6).await.unwrap();
    assert_eq!(tree.content("/file").await, b"0123\0\0");
}

async fn a_handle_survives_a_rename(tree: Tree) {
    let file = digits(&tree).await;
    tree.rename(&at("/file"), &at("/moved"), Target::New).await.unwrap();
    file.write_at(0, "ab".into()).await.unwrap();
    assert_eq!(tree.text("/moved").await, "ab23456789");
    assert_eq!(tree.names("/").await, ["moved"]);
}

async fn a_handle_survives_a_removal(tree: Tree) {
    let file = digits(&tree).await;
    tree.remove(&at("/file"), Depth::One, If::Always).await.unwrap();
    assert_eq!(file.read_at(0, 4).await.unwrap(), "0123");
    file.write_at(0, "ab".into()).await.unwrap();
    assert_eq!(file.read_at(0, 4).await.unwrap(), "ab23");
    assert!(tree.names("/").await.is_empty());
}

async fn opening_does_not_change_the_content(tree: Tree) {
    tree.put("/file", "content").await;
    let before = tree.version("/file").await;
    drop(opened(&tree, "/file").await);
    let options = OpenOptions::Write(Create::IfMissing);
    drop(tree.open(&at("/file"), options).await.unwrap());
    assert_eq!(tree.text("/file").await, "content");
    assert_eq!(tree.version("/file").await, before);
}

async fn opening_makes_a_missing_file_when_it_may(tree: Tree) {
    for (path, create) in [("/a/b/one", Create::IfMissing), ("/c/d/two", Create::New)] {
        let file = tree.open(&at(path), OpenOptions::Write(create)).await.unwrap();
        assert_eq!(tree.entry(path).await.size, 0);
        file.write_at(0, "content".into()).await.unwrap();
        assert_eq!(tree.text(path).await, "content");
    }
}

async fn opening_a_missing_file_is_not_found(tree: Tree) {
    for options in [OpenOptions::Read, OpenOptions::Write(Create::Never)] {
        assert_eq!(refused(tree.open(&at("/a/file"), options).await), ErrorKind::NotFound);
    }
    assert!(tree.names("/").await.is_empty());
}

async fn opening_a_new_file_refuses_what_exists(tree: Tree) {
    tree.put("/dir/file", "content").await;
    let options = OpenOptions::Write(Create::New);
    assert_eq!(refused(tree.open(&at("/dir/file"), options).await), ErrorKind::AlreadyExists);
    assert_eq!(refused(tree.open(&at("/dir"), options).await), ErrorKind::AlreadyExists);
    assert_eq!(tree.text("/dir/file").await, "content");
}

async fn opening_a_directory_is_refused(tree: Tree) {
    tree.make_dir("/dir").await;
    let write = [Create::Never, Create::IfMissing].map(OpenOptions::Write);
    for options in [OpenOptions::Read].into_iter().chain(write) {
        assert_eq!(refused(tree.open(&at("/dir"), options).await), ErrorKind::IsADirectory);
        assert_eq!(refused(tree.open(&at("/"), options).await), ErrorKind::IsADirectory);
    }
}

async fn writes_at_once_to_different_parts_all_arrive(tree: Tree) {
    let file = digits(&tree).await;
    let writes = (0..64_u8).map(|part| {
        let file = Arc::clone(&file);
        async move { file.write_at(u64::from(part) * 1000, vec![part; 1000].into()).await }
    });
    try_join_all(writes).await.unwrap();
    let expected: Vec<u8> = (0..64).flat_map(|part| [part; 1000]).collect();
    assert!(tree.content("/file").await == expected);
}

async fn a_write_through_one_hard_link_leaves_the_other(tree: Tree) {
    let archive = Tar::new().file("one", "0123456789").hard_link("two", "one").body();
    tree.unpack(&at("/"), archive, ArchiveFormat::Tar, ArchiveLimits::default()).await.unwrap();
    opened(&tree, "/one").await.write_at(0, "abc".into()).await.unwrap();
    tree.try_put("/one", "!", crate::tree::append()).await.unwrap();
    assert_eq!(tree.text("/one").await, "abc3456789!");
    assert_eq!(tree.text("/two").await, "0123456789");
}

async fn an_offset_that_no_file_reaches_is_refused(tree: Tree) {
    let file = digits(&tree).await;
    for offset in [u64::MAX - 1, u64::MAX, i64::MAX.unsigned_abs()] {
        let outcome = file.write_at(offset, "xyz".into()).await;
        assert_eq!(refused(outcome), ErrorKind::FileTooLarge, "{offset}");
        assert!(file.read_at(offset, 3).await.unwrap().is_empty());
    }
    assert_eq!(tree.text("/file").await, "0123456789");
}
