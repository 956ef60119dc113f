//! Moves and copies that merge directories.

use engine::{ErrorKind, Target};

use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    a_merging_rename_joins_two_directories needs Merge;
    a_merging_rename_leaves_no_source needs Merge;
    a_merging_rename_onto_nothing_is_a_rename needs Merge;
    a_merging_rename_replaces_a_file_by_a_file needs Merge;
    a_merging_rename_does_not_replace_a_directory_by_a_file needs Merge;
    a_merging_rename_does_not_replace_a_file_by_a_directory needs Merge;
    a_merging_rename_with_a_conflict_deep_inside_changes_nothing needs Merge;
    a_merging_rename_onto_itself_changes_nothing needs Merge;
    a_merging_rename_onto_itself_through_a_link_changes_nothing needs Merge, Links;
    a_merging_rename_into_itself_is_an_invalid_argument needs Merge;
    a_merging_copy_joins_two_directories needs Merge;
    a_merging_copy_leaves_the_source needs Merge;
    a_merging_copy_with_a_conflict_deep_inside_changes_nothing needs Merge;
    a_merging_copy_onto_itself_changes_nothing needs Merge;
}

/// Two directories that share a directory and a file.
async fn two_directories(tree: &Tree) {
    tree.put("/from/sub/new", "new").await;
    tree.put("/from/sub/shared", "from").await;
    tree.put("/from/only-from", "from").await;
    tree.put("/to/sub/old", "old").await;
    tree.put("/to/sub/shared", "to").await;
    tree.put("/to/only-to", "to").await;
}

async fn assert_merged(tree: &Tree) {
    assert_eq!(tree.names("/to").await, ["only-from", "only-to", "sub"]);
    assert_eq!(tree.names("/to/sub").await, ["new", "old", "shared"]);
    assert_eq!(tree.text("/to/sub/shared").await, "from");
    assert_eq!(tree.text("/to/only-to").await, "to");
}

async fn a_merging_rename_joins_two_directories(tree: Tree) {
    two_directories(&tree).await;
    tree.rename(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
    assert_merged(&tree).await;
}

async fn a_merging_rename_leaves_no_source(tree: Tree) {
    two_directories(&tree).await;
    tree.rename(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
    assert_eq!(tree.names("/").await, ["to"]);
}

async fn a_merging_rename_onto_nothing_is_a_rename(tree: Tree) {
    tree.put("/from/file", "content").await;
    tree.rename(&at("/from"), &at("/a/to"), Target::Merge).await.unwrap();
    assert_eq!(tree.text("/a/to/file").await, "content");
    assert_eq!(tree.names("/").await, ["a"]);
}

async fn a_merging_rename_replaces_a_file_by_a_file(tree: Tree) {
    tree.put("/from", "new").await;
    tree.put("/to", "old").await;
    tree.rename(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
    assert_eq!(tree.text("/to").await, "new");
    assert_eq!(tree.names("/").await, ["to"]);
}

/// Holds that merging is refused with this kind and changes nothing, moved or copied.
async fn conflict(tree: &Tree, from: &str, to: &str, kind: ErrorKind) {
    let before = tree.picture().await;
    assert_eq!(refused(tree.rename(&at(from), &at(to), Target::Merge).await), kind);
    assert_eq!(tree.picture().await, before);
    assert_eq!(refused(tree.copy(&at(from), &at(to), Target::Merge).await), kind);
    assert_eq!(tree.picture().await, before);
}

async fn a_merging_rename_does_not_replace_a_directory_by_a_file(tree: Tree) {
    tree.put("/from", "new").await;
    tree.make_dir("/to").await;
    conflict(&tree, "/from", "/to", ErrorKind::IsADirectory).await;
}

async fn a_merging_rename_does_not_replace_a_file_by_a_directory(tree: Tree) {
    tree.put("/from/file", "new").await;
    tree.put("/to", "old").await;
    conflict(&tree, "/from", "/to", ErrorKind::NotADirectory).await;
}

async fn a_merging_rename_with_a_conflict_deep_inside_changes_nothing(tree: Tree) {
    two_directories(&tree).await;
    tree.put("/from/sub/zone/file", "new").await;
    tree.put("/to/sub/zone", "old").await;
    let before = tree.picture().await;
    let outcome = tree.rename(&at("/from"), &at("/to"), Target::Merge).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
    assert_eq!(tree.picture().await, before);
}

async fn a_merging_rename_onto_itself_through_a_link_changes_nothing(tree: Tree) {
    tree.put("/a/dir/sub/file", "x").await;
    tree.symlink(&at("/link"), "a").await.unwrap();
    let before = tree.picture().await;
    tree.rename(&at("/a/dir"), &at("/link/dir"), Target::Merge).await.unwrap();
    assert_eq!(tree.picture().await, before);
}

async fn a_merging_rename_onto_itself_changes_nothing(tree: Tree) {
    tree.put("/dir/file", "content").await;
    let before = tree.picture().await;
    tree.rename(&at("/dir"), &at("/dir"), Target::Merge).await.unwrap();
    assert_eq!(tree.picture().await, before);
}

async fn a_merging_rename_into_itself_is_an_invalid_argument(tree: Tree) {
    tree.put("/dir/sub/file", "content").await;
    conflict(&tree, "/dir", "/dir/sub", ErrorKind::InvalidArgument).await;
    conflict(&tree, "/dir", "/dir/new", ErrorKind::InvalidArgument).await;
}

async fn a_merging_copy_joins_two_directories(tree: Tree) {
    two_directories(&tree).await;
    tree.copy(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
    assert_merged(&tree).await;
}

async fn a_merging_copy_leaves_the_source(tree: Tree) {
    two_directories(&tree).await;
    tree.copy(&at("/from"), &at("/to"), Target::Merge).await.unwrap();
    assert_eq!(tree.names("/from").await, ["only-from", "sub"]);
    assert_eq!(tree.names("/from/sub").await, ["new", "shared"]);
    assert_eq!(tree.text("/from/sub/shared").await, "from");
}

async fn a_merging_copy_with_a_conflict_deep_inside_changes_nothing(tree: Tree) {
    two_directories(&tree).await;
    tree.put("/from/sub/zone", "new").await;
    tree.put("/to/sub/zone/file", "old").await;
    let before = tree.picture().await;
    let outcome = tree.copy(&at("/from"), &at("/to"), Target::Merge).await;
    assert_eq!(refused(outcome), ErrorKind::IsADirectory);
    assert_eq!(tree.picture().await, before);
}

async fn a_merging_copy_onto_itself_changes_nothing(tree: Tree) {
    tree.put("/dir/file", "content").await;
    let before = tree.picture().await;
    tree.copy(&at("/dir"), &at("/dir"), Target::Merge).await.unwrap();
    assert_eq!(tree.picture().await, before);
}
