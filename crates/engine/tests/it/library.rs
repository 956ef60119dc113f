//! Files by their paths as text.

use std::sync::Arc;

use proptest::prelude::*;
use sandkeep_engine::{
    Create, Depth, Durability, EntryKind, ErrorKind, Files, HostFs, HostOptions, Limits,
    MetadataChange, Mounts, NewSnapshot, OpenOptions, SandboxPath, Store, Target, UnixTime,
};

use crate::fixture::{files, id, limited, noise, refusal, stored_files};

fn path(raw: &str) -> SandboxPath {
    SandboxPath::clamped(raw).unwrap()
}

#[tokio::test]
async fn every_spelling_of_a_path_is_one_file() {
    let files = files().await;
    files.write(r"\a\b\..\c.txt", "1").await.unwrap();
    assert_eq!(files.read("a/c.txt").await.unwrap(), "1");
    assert_eq!(files.read("/../a/./c.txt/").await.unwrap(), "1");
}

#[tokio::test]
async fn a_path_that_cannot_be_one_is_refused() {
    let files = files().await;
    assert_eq!(refusal(files.exists("a\0")).await, ErrorKind::InvalidPath);
    assert_eq!(refusal(files.write("a\0", "")).await, ErrorKind::InvalidPath);
    assert_eq!(refusal(files.copy("a", "b\0", Target::New)).await, ErrorKind::InvalidPath);
}

#[tokio::test]
async fn an_error_names_the_path() {
    let err = files().await.read("no/such").await.unwrap_err();
    assert_eq!(err.to_string(), "path not found: /no/such");
}

#[tokio::test]
async fn a_file_a_directory_and_nothing_are_told_apart() {
    let files = files().await;
    files.write("dir/file", "").await.unwrap();
    assert!(files.exists("dir").await.unwrap() && files.exists("dir/file").await.unwrap());
    assert!(files.is_file("dir/file").await.unwrap() && !files.is_file("dir").await.unwrap());
    assert!(files.is_directory("dir").await.unwrap());
    assert!(!files.is_directory("dir/file").await.unwrap());
    assert!(!files.exists("nothing").await.unwrap());
    assert!(!files.is_file("nothing").await.unwrap());
    assert!(!files.is_directory("nothing").await.unwrap());
}

#[tokio::test]
async fn nothing_exists_beneath_a_file() {
    let files = files().await;
    files.write("file", "").await.unwrap();
    assert!(!files.exists("file/x").await.unwrap());
}

#[tokio::test]
async fn a_link_counts_as_what_it_leads_to() {
    let files = files().await;
    files.write("real", "1").await.unwrap();
    files.tree().symlink(&path("link"), "real").await.unwrap();
    files.tree().symlink(&path("lost"), "nowhere").await.unwrap();
    assert!(files.is_file("link").await.unwrap());
    assert!(!files.exists("lost").await.unwrap());
}

#[tokio::test]
async fn an_entry_tells_everything_about_a_file() {
    let files = files().await;
    files.write("dir/a.txt", "hello").await.unwrap();
    let entry = files.entry("dir/a.txt").await.unwrap().unwrap();
    assert_eq!((entry.path.as_str(), entry.kind), ("/dir/a.txt", EntryKind::File));
    assert_eq!((entry.size, entry.mode), (5, Some(0o644)));
    assert!(entry.created.is_some() && entry.created == entry.modified);
    let dir = files.entry("dir").await.unwrap().unwrap();
    assert_eq!((dir.kind, dir.size, dir.mode), (EntryKind::Directory, 0, Some(0o755)));
}

#[tokio::test]
async fn a_directory_is_made_with_its_parents_and_may_be_made_again() {
    let files = files().await;
    files.create_directory("a/b/c").await.unwrap();
    files.create_directory("a/b/c").await.unwrap();
    files.create_directory("/").await.unwrap();
    assert_eq!(files.list_names("a").await.unwrap(), ["b"]);
}

#[tokio::test]
async fn a_directory_never_takes_the_place_of_a_file() {
    let files = files().await;
    files.write("f", "").await.unwrap();
    assert_eq!(refusal(files.create_directory("f")).await, ErrorKind::AlreadyExists);
    assert_eq!(refusal(files.create_directory("f/sub")).await, ErrorKind::NotADirectory);
}

#[tokio::test]
async fn a_listing_gives_names_or_entries_of_the_children_only() {
    let files = files().await;
    files.write("d/file2", "22").await.unwrap();
    files.write("d/file1", "1").await.unwrap();
    files.write("d/sub/nested", "").await.unwrap();
    assert_eq!(files.list_names("d").await.unwrap(), ["file1", "file2", "sub"]);
    let entries = files.list_entries("d").await.unwrap();
    let sizes: Vec<_> = entries.iter().map(|entry| (entry.path.as_str(), entry.size)).collect();
    assert_eq!(sizes, [("/d/file1", 1), ("/d/file2", 2), ("/d/sub", 0)]);
}

#[tokio::test]
async fn a_listing_of_nothing_or_of_a_file_is_an_error() {
    let files = files().await;
    files.write("f", "").await.unwrap();
    assert_eq!(refusal(files.list_names("nothing")).await, ErrorKind::NotFound);
    assert_eq!(refusal(files.list_names("f")).await, ErrorKind::NotADirectory);
}

#[tokio::test]
async fn small_and_large_contents_come_back_as_they_were_written() {
    let files = stored_files().await;
    let bytes = noise(1_000_000);
    files.write("small", bytes[..300].to_vec()).await.unwrap();
    files.write("large", bytes.clone()).await.unwrap();
    assert_eq!(files.read("small").await.unwrap(), bytes[..300]);
    assert_eq!(files.read("large").await.unwrap(), bytes);
}

#[tokio::test]
async fn a_write_makes_parents_and_says_whether_the_file_is_new() {
    let files = files().await;
    assert!(files.write("a/b/c", "1").await.unwrap().created);
    assert!(!files.write("a/b/c", "22").await.unwrap().created);
    assert_eq!(files.read("a/b/c").await.unwrap(), "22");
}

#[tokio::test]
async fn a_write_over_a_file_keeps_its_mode_and_when_it_was_made() {
    let files = files().await;
    files.write("run", "1").await.unwrap();
    let change = MetadataChange { mode: Some(0o755), ..MetadataChange::default() };
    files.tree().set_metadata(&path("run"), change).await.unwrap();
    let before = files.entry("run").await.unwrap().unwrap();
    let after = files.write("run", "2").await.unwrap().entry;
    assert_eq!((after.mode, after.created), (Some(0o755), before.created));
    assert!(after.modified >= before.modified);
}

#[tokio::test]
async fn nothing_is_read_from_or_written_to_a_directory() {
    let files = files().await;
    files.create_directory("d").await.unwrap();
    assert_eq!(refusal(files.read("d")).await, ErrorKind::IsADirectory);
    assert_eq!(refusal(files.write("d", "1")).await, ErrorKind::IsADirectory);
    assert_eq!(refusal(files.append("/", "1")).await, ErrorKind::IsADirectory);
}

#[tokio::test]
async fn an_append_makes_a_missing_file_and_its_parents() {
    let files = files().await;
    files.append("log/today", "one ").await.unwrap();
    files.append("log/today", "two").await.unwrap();
    assert_eq!(files.read("log/today").await.unwrap(), "one two");
}

#[tokio::test]
async fn a_file_too_large_to_be_read_in_one_piece_is_refused_before_it_is_read() {
    let files = files().await;
    let handle = files.tree().open(&path("huge"), OpenOptions::Write(Create::New)).await.unwrap();
    handle.set_len(1 << 40).await.unwrap();
    assert_eq!(refusal(files.read("huge")).await, ErrorKind::LimitExceeded);
}

#[tokio::test]
async fn a_copy_is_a_file_of_its_own_with_mode_and_time() {
    let files = files().await;
    files.write("a", "1").await.unwrap();
    let modified = UnixTime { seconds: 86_400, nanoseconds: 7 };
    let change = MetadataChange { mode: Some(0o600), modified: Some(modified) };
    files.tree().set_metadata(&path("a"), change).await.unwrap();
    let copy = files.copy("a", "new/b", Target::New).await.unwrap();
    assert_eq!((copy.mode, copy.modified), (Some(0o600), Some(modified)));
    files.write("a", "2").await.unwrap();
    assert_eq!(files.read("new/b").await.unwrap(), "1");
}

#[tokio::test]
async fn a_copy_or_move_onto_something_is_refused_unless_it_may_overwrite() {
    let files = files().await;
    files.write("a", "1").await.unwrap();
    files.write("b", "2").await.unwrap();
    assert_eq!(refusal(files.copy("a", "b", Target::New)).await, ErrorKind::AlreadyExists);
    assert_eq!(refusal(files.rename("a", "b", Target::New)).await, ErrorKind::AlreadyExists);
    files.rename("a", "b", Target::Merge).await.unwrap();
    assert_eq!(files.read("b").await.unwrap(), "1");
    assert!(!files.exists("a").await.unwrap());
}

#[tokio::test]
async fn a_directory_moved_over_another_is_merged_with_it() {
    let files = files().await;
    files.write("from/k1", "new").await.unwrap();
    files.write("from/deep/x", "x").await.unwrap();
    files.write("to/k1", "old").await.unwrap();
    files.write("to/k2", "kept").await.unwrap();
    files.rename("from", "to", Target::Merge).await.unwrap();
    assert_eq!(files.list_names("to").await.unwrap(), ["deep", "k1", "k2"]);
    assert_eq!(files.read("to/k1").await.unwrap(), "new");
    assert!(!files.exists("from").await.unwrap());
}

#[tokio::test]
async fn a_directory_copied_over_another_is_merged_with_it() {
    let files = files().await;
    files.write("from/k1", "new").await.unwrap();
    files.write("to/k2", "kept").await.unwrap();
    files.copy("from", "to", Target::Merge).await.unwrap();
    assert_eq!(files.list_names("to").await.unwrap(), ["k1", "k2"]);
    assert!(files.exists("from/k1").await.unwrap());
}

#[tokio::test]
async fn a_file_and_a_directory_never_overwrite_each_other() {
    let files = files().await;
    files.write("file", "1").await.unwrap();
    files.write("dir/x", "2").await.unwrap();
    assert_eq!(refusal(files.rename("file", "dir", Target::Merge)).await, ErrorKind::IsADirectory);
    assert_eq!(refusal(files.copy("dir", "file", Target::Merge)).await, ErrorKind::NotADirectory);
    assert_eq!(files.read("file").await.unwrap(), "1");
    assert_eq!(files.read("dir/x").await.unwrap(), "2");
}

#[tokio::test]
async fn a_removal_takes_a_full_directory_only_when_told() {
    let files = files().await;
    files.write("d/x", "").await.unwrap();
    assert_eq!(refusal(files.remove("d", Depth::One)).await, ErrorKind::DirectoryNotEmpty);
    files.remove("d/x", Depth::One).await.unwrap();
    files.remove("d", Depth::One).await.unwrap();
    assert_eq!(refusal(files.remove("d", Depth::One)).await, ErrorKind::NotFound);
}

#[tokio::test]
async fn the_root_is_never_removed() {
    let files = files().await;
    assert_eq!(refusal(files.remove("/..", Depth::All)).await, ErrorKind::InvalidArgument);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the host is looked at from outside the tree")]
async fn nothing_of_the_host_is_seen_or_touched() {
    let dir = tempfile::tempdir().unwrap();
    let of_host = dir.path().join("of-host").display().to_string();
    let of_tree = dir.path().join("of-tree").display().to_string();
    std::fs::write(&of_host, "host").unwrap();
    let files = files().await;
    assert!(!files.exists(&of_host).await.unwrap());
    assert_eq!(refusal(files.read("../../../../etc/passwd")).await, ErrorKind::NotFound);
    files.write(&of_tree, "tree").await.unwrap();
    files.write(&of_host, "tree").await.unwrap();
    files.remove("/", Depth::All).await.unwrap_err();
    assert_eq!(std::fs::read(&of_host).unwrap(), b"host");
    assert!(std::fs::metadata(&of_tree).is_err());
    files.tree().symlink(&path("out"), "/etc/passwd").await.unwrap();
    assert_eq!(refusal(files.read("out")).await, ErrorKind::OutsideSandbox);
}

#[tokio::test]
async fn sandboxes_of_one_store_do_not_see_each_other() {
    let store = Store::in_memory();
    let one = store.create(&id("one"), Limits::default()).await.unwrap();
    let other = store.create(&id("other"), Limits::default()).await.unwrap();
    let (one, other) = (Files::new(Arc::new(one)), Files::new(Arc::new(other)));
    one.write("f", "1").await.unwrap();
    assert!(!other.exists("f").await.unwrap());
    assert_eq!(other.usage().await.unwrap().nodes(), 1);
}

#[tokio::test]
async fn a_new_tree_holds_its_root_and_nothing_else() {
    let usage = files().await.usage().await.unwrap();
    assert_eq!((usage.bytes, usage.files, usage.directories, usage.nodes()), (0, 0, 1, 1));
}

#[tokio::test]
async fn the_statistics_count_bytes_files_and_directories() {
    let files = files().await;
    files.write("a", "12345").await.unwrap();
    files.write("d/b", "123").await.unwrap();
    let usage = files.usage().await.unwrap();
    assert_eq!((usage.bytes, usage.files, usage.directories, usage.nodes()), (8, 2, 2, 4));
}

#[tokio::test]
async fn each_limit_is_inclusive_and_says_what_it_is() {
    let limits = Limits { file_size: Some(4), total_size: Some(6), nodes: Some(4) };
    let files = limited(limits).await;
    files.write("a", "1234").await.unwrap();
    let err = files.write("a", "12345").await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::FileTooLarge);
    assert!(err.message().contains("limit of 4 bytes") && err.message().contains("5 bytes"));
    files.write("b", "12").await.unwrap();
    let err = files.append("b", "3").await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::StorageFull);
    assert!(
        err.message().contains("limit of 6 bytes") && err.message().contains("6 bytes are used")
    );
    files.create_directory("c").await.unwrap();
    let err = files.create_directory("d").await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::TooManyNodes);
    assert!(err.message().contains("limit of 4 nodes"));
}

#[tokio::test]
async fn a_tree_comes_back_from_its_bytes() {
    let files = files().await;
    files.write("keep", "1").await.unwrap();
    files.write("dir/gone", "2").await.unwrap();
    let saved = files.create_snapshot().await.unwrap();
    files.remove("dir", Depth::All).await.unwrap();
    files.write("keep", "changed").await.unwrap();
    files.write("new", "3").await.unwrap();
    files.restore_snapshot(saved).await.unwrap();
    assert_eq!(files.list_names("/").await.unwrap(), ["dir", "keep"]);
    assert_eq!(files.read("dir/gone").await.unwrap(), "2");
    assert_eq!(files.read("keep").await.unwrap(), "1");
}

#[tokio::test]
async fn bytes_of_one_tree_restore_another() {
    let from = files().await;
    from.write("a/large", noise(300_000)).await.unwrap();
    let to = stored_files().await;
    to.restore_snapshot(from.create_snapshot().await.unwrap()).await.unwrap();
    assert_eq!(to.read("a/large").await.unwrap(), noise(300_000));
}

#[tokio::test]
async fn a_restore_leaves_no_snapshot_behind() {
    let files = files().await;
    let saved = files.create_snapshot().await.unwrap();
    files.restore_snapshot(saved).await.unwrap();
    assert!(files.snapshots().unwrap().list(None, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_checkpoint_takes_back_what_went_wrong() {
    let files = files().await;
    files.write("plan", "good").await.unwrap();
    let before = files.snapshots().unwrap().create(NewSnapshot::default()).await.unwrap();
    files.remove("plan", Depth::One).await.unwrap();
    files.write("plan/worse", "bad").await.unwrap();
    files.snapshots().unwrap().restore(&before.id, &SandboxPath::root()).await.unwrap();
    assert_eq!(files.read("plan").await.unwrap(), "good");
}

#[tokio::test]
async fn the_library_works_on_a_real_directory_too() {
    let dir = tempfile::tempdir().unwrap();
    let (limits, durability, mounts) = (Limits::default(), Durability::Relaxed, Mounts::Stay);
    let options = HostOptions { limits, durability, mounts, staging: Vec::new() };
    let files = Files::new(Arc::new(HostFs::open(dir.path(), options).unwrap()));
    files.write_lines(r"notes\today", ["one", "two"]).await.unwrap();
    assert_eq!(files.read_lines("notes/today").await.unwrap(), ["one", "two"]);
    assert_eq!(files.list_names("../..").await.unwrap(), ["notes"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn contents_of_every_length_come_back(len in 0..300_000_usize) {
        let bytes = noise(len);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = runtime.block_on(async {
            let files = files().await;
            files.write("f", bytes.clone()).await.unwrap();
            files.read("f").await.unwrap()
        });
        prop_assert_eq!(read, bytes);
    }
}
