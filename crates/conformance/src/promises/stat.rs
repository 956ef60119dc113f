//! What is told of a file or directory.

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{EntryKind, ErrorKind};

use crate::promise::promises;
use crate::tree::Tree;

promises! {
    the_root_is_a_directory;
    a_missing_path_is_not_found;
    a_path_beneath_a_missing_directory_is_not_found;
    a_path_beneath_a_file_is_not_a_directory;
    a_file_is_a_file_of_its_length;
    a_directory_is_a_directory;
    an_entry_is_at_the_path_that_was_asked_for;
    a_new_file_was_modified_just_now;
    a_later_write_is_not_modified_earlier;
    a_file_has_the_version_that_its_write_answered;
    a_version_stays_while_the_file_does;
    every_write_gives_a_new_version;
    a_file_written_again_as_before_has_a_new_version;
    a_new_file_can_be_read_and_written_by_its_owner needs Metadata;
    a_new_directory_can_be_entered_by_its_owner needs Metadata;
}

async fn the_root_is_a_directory(tree: Tree) {
    let root = tree.entry("/").await;
    assert_eq!(root.kind, EntryKind::Directory);
    assert!(root.path.is_root());
}

async fn a_missing_path_is_not_found(tree: Tree) {
    assert_eq!(tree.absence("/missing").await, ErrorKind::NotFound);
}

async fn a_path_beneath_a_missing_directory_is_not_found(tree: Tree) {
    assert_eq!(tree.absence("/missing/file").await, ErrorKind::NotFound);
}

async fn a_path_beneath_a_file_is_not_a_directory(tree: Tree) {
    tree.put("/file", "x").await;
    assert_eq!(tree.absence("/file/child").await, ErrorKind::NotADirectory);
}

async fn a_file_is_a_file_of_its_length(tree: Tree) {
    tree.put("/file", "four").await;
    let entry = tree.entry("/file").await;
    assert_eq!((entry.kind, entry.size), (EntryKind::File, 4));
}

async fn a_directory_is_a_directory(tree: Tree) {
    tree.make_dir("/dir").await;
    assert_eq!(tree.entry("/dir").await.kind, EntryKind::Directory);
}

async fn an_entry_is_at_the_path_that_was_asked_for(tree: Tree) {
    tree.put("/dir/file", "x").await;
    assert_eq!(tree.entry("/dir/file").await.path.as_str(), "/dir/file");
}

async fn a_new_file_was_modified_just_now(tree: Tree) {
    tree.put("/file", "x").await;
    let modified = tree.entry("/file").await.modified.unwrap().seconds;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    assert!(now.abs_diff(modified.unsigned_abs()) < 120, "{modified} is not about {now}");
}

async fn a_later_write_is_not_modified_earlier(tree: Tree) {
    tree.put("/file", "one").await;
    let before = tree.entry("/file").await.modified.unwrap();
    tree.put("/file", "two").await;
    assert!(tree.entry("/file").await.modified.unwrap() >= before);
}

async fn a_file_has_the_version_that_its_write_answered(tree: Tree) {
    let written = tree.put("/file", "x").await;
    assert_eq!(written.entry.version, Some(tree.version("/file").await));
}

async fn a_version_stays_while_the_file_does(tree: Tree) {
    tree.put("/file", "x").await;
    let before = tree.version("/file").await;
    tree.put("/sibling", "y").await;
    tree.content("/file").await;
    assert_eq!(tree.version("/file").await, before);
}

async fn every_write_gives_a_new_version(tree: Tree) {
    let mut versions = HashSet::new();
    // Far more often than a clock ticks, and always of the same length.
    for round in 100..300 {
        let written = tree.put("/file", round.to_string()).await;
        assert!(versions.insert(written.entry.version.unwrap()), "round {round}");
    }
}

async fn a_file_written_again_as_before_has_a_new_version(tree: Tree) {
    let first = tree.put("/file", "same").await.entry.version;
    let second = tree.put("/file", "same").await.entry.version;
    assert_ne!(first, second);
}

async fn a_new_file_can_be_read_and_written_by_its_owner(tree: Tree) {
    tree.put("/file", "x").await;
    let mode = tree.entry("/file").await.mode.unwrap();
    assert_eq!(mode & 0o7711, 0o600, "{mode:o}");
}

async fn a_new_directory_can_be_entered_by_its_owner(tree: Tree) {
    tree.make_dir("/dir").await;
    let mode = tree.entry("/dir").await.mode.unwrap();
    assert_eq!(mode & 0o5700, 0o700, "{mode:o}");
}
