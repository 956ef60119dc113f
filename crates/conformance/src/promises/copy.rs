//! Copying files and trees.

use engine::{EntryKind, ErrorKind, MetadataChange, Target, UnixTime};

use crate::body::pattern;
use crate::promise::promises;
use crate::tree::{Tree, append, at, refused};

promises! {
    a_copy_of_a_file_has_its_content;
    a_copy_of_a_large_file_has_its_content;
    a_copy_of_a_tree_has_everything_in_it;
    a_copy_leaves_the_original;
    a_copy_is_a_file_of_its_own;
    a_copy_makes_missing_parents;
    a_copy_answers_with_the_copy;
    a_copy_keeps_the_time_of_the_content;
    a_copy_keeps_modes_and_times needs Metadata;
    a_copy_to_a_new_name_refuses_what_exists;
    a_copy_replaces_a_file;
    a_copy_replaces_a_full_directory_whole;
    a_copy_replaces_a_full_directory_by_a_file;
    a_copy_replaces_a_file_by_a_tree;
    a_copy_onto_itself_changes_nothing;
    a_copy_into_itself_is_an_invalid_argument;
    a_copy_onto_its_own_parent_is_refused;
    a_copy_of_a_missing_path_is_not_found;
    a_copy_of_a_missing_path_changes_nothing;
    a_copy_beneath_a_file_is_refused;
    a_copy_onto_the_root_is_refused;
    a_copy_of_a_wide_tree_is_whole;
}

async fn copied(tree: &Tree, from: &str, to: &str, target: Target) {
    tree.copy(&at(from), &at(to), target).await.unwrap();
}

async fn a_copy_of_a_file_has_its_content(tree: Tree) {
    tree.put("/from", "content").await;
    copied(&tree, "/from", "/to", Target::New).await;
    assert_eq!(tree.text("/to").await, "content");
}

async fn a_copy_of_a_large_file_has_its_content(tree: Tree) {
    let bytes = pattern((5 << 20) + 3);
    tree.put("/from", bytes.clone()).await;
    copied(&tree, "/from", "/to", Target::New).await;
    assert!(tree.content("/to").await == bytes);
}

async fn a_copy_of_a_tree_has_everything_in_it(tree: Tree) {
    tree.put("/from/sub/file", "content").await;
    tree.put("/from/file", "other").await;
    tree.make_dir("/from/empty").await;
    copied(&tree, "/from", "/to", Target::New).await;
    assert_eq!(tree.names("/to").await, ["empty", "file", "sub"]);
    assert_eq!(tree.text("/to/sub/file").await, "content");
    assert_eq!(tree.entry("/to/empty").await.kind, EntryKind::Directory);
}

async fn a_copy_leaves_the_original(tree: Tree) {
    tree.put("/from/file", "content").await;
    copied(&tree, "/from", "/to", Target::New).await;
    assert_eq!(tree.names("/").await, ["from", "to"]);
    assert_eq!(tree.text("/from/file").await, "content");
}

async fn a_copy_is_a_file_of_its_own(tree: Tree) {
    tree.put("/from", "content").await;
    copied(&tree, "/from", "/to", Target::New).await;
    tree.try_put("/to", " and more", append()).await.unwrap();
    assert_eq!(tree.text("/from").await, "content");
    assert_eq!(tree.text("/to").await, "content and more");
}

async fn a_copy_makes_missing_parents(tree: Tree) {
    tree.put("/from", "content").await;
    copied(&tree, "/from", "/a/b/to", Target::New).await;
    assert_eq!(tree.text("/a/b/to").await, "content");
}

async fn a_copy_answers_with_the_copy(tree: Tree) {
    tree.put("/from", "content").await;
    let entry = tree.copy(&at("/from"), &at("/to"), Target::New).await.unwrap();
    assert_eq!((entry.path, entry.kind, entry.size), (at("/to"), EntryKind::File, 7));
}

async fn a_copy_keeps_the_time_of_the_content(tree: Tree) {
    tree.put("/dir/from", "content").await;
    let before = tree.entry("/dir/from").await.modified;
    copied(&tree, "/dir", "/copied", Target::New).await;
    assert_eq!(tree.entry("/copied/from").await.modified, before);
}

async fn a_copy_keeps_modes_and_times(tree: Tree) {
    tree.put("/from/file", "content").await;
    let long_ago = Some(UnixTime { seconds: 1_000_000_000, nanoseconds: 123_456_789 });
    for (path, mode) in [("/from/file", 0o640), ("/from", 0o750)] {
        let change = MetadataChange { mode: Some(mode), modified: long_ago };
        tree.set_metadata(&at(path), change).await.unwrap();
    }
    copied(&tree, "/from", "/to", Target::New).await;
    for (path, mode) in [("/to/file", 0o640), ("/to", 0o750)] {
        let entry = tree.entry(path).await;
        assert_eq!((entry.mode, entry.modified), (Some(mode), long_ago), "{path}");
    }
}

async fn a_copy_to_a_new_name_refuses_what_exists(tree: Tree) {
    tree.put("/from/file", "one").await;
    tree.put("/to/other", "two").await;
    let before = tree.picture().await;
    for (from, to) in [("/from", "/to"), ("/from/file", "/to/other"), ("/from/file", "/to")] {
        let outcome = tree.copy(&at(from), &at(to), Target::New).await;
        assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    }
    assert_eq!(tree.picture().await, before);
}

async fn a_copy_replaces_a_file(tree: Tree) {
    tree.put("/from", "new").await;
    tree.put("/to", "old").await;
    copied(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.text("/to").await, "new");
    assert_eq!(tree.names("/").await, ["from", "to"]);
}

async fn a_copy_replaces_a_full_directory_whole(tree: Tree) {
    tree.put("/from/file", "new").await;
    tree.put("/to/other/file", "old").await;
    copied(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.names("/to").await, ["file"]);
    assert_eq!(tree.names("/").await, ["from", "to"]);
}

async fn a_copy_replaces_a_full_directory_by_a_file(tree: Tree) {
    tree.put("/from", "new").await;
    tree.put("/to/file", "old").await;
    copied(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.text("/to").await, "new");
}

async fn a_copy_replaces_a_file_by_a_tree(tree: Tree) {
    tree.put("/from/file", "new").await;
    tree.put("/to", "old").await;
    copied(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.text("/to/file").await, "new");
}

async fn a_copy_onto_itself_changes_nothing(tree: Tree) {
    tree.put("/dir/file", "content").await;
    let before = (tree.picture().await, tree.version("/dir/file").await);
    for target in [Target::New, Target::Replace] {
        copied(&tree, "/dir/file", "/dir/file", target).await;
        copied(&tree, "/dir", "/dir", target).await;
    }
    assert_eq!((tree.picture().await, tree.version("/dir/file").await), before);
}

/// Holds that a copy contradicts itself and changes nothing.
async fn invalid(tree: &Tree, from: &str, to: &str, target: Target) {
    let before = tree.picture().await;
    let outcome = tree.copy(&at(from), &at(to), target).await;
    assert_eq!(refused(outcome), ErrorKind::InvalidArgument, "{from} to {to} as {target:?}");
    assert_eq!(tree.picture().await, before);
}

async fn a_copy_into_itself_is_an_invalid_argument(tree: Tree) {
    tree.put("/dir/sub/file", "content").await;
    for target in [Target::New, Target::Replace] {
        invalid(&tree, "/dir", "/dir/inner", target).await;
        invalid(&tree, "/dir", "/dir/sub", target).await;
        invalid(&tree, "/", "/to", target).await;
    }
}

async fn a_copy_onto_its_own_parent_is_refused(tree: Tree) {
    tree.put("/dir/sub/file", "content").await;
    invalid(&tree, "/dir/sub", "/dir", Target::Replace).await;
    invalid(&tree, "/dir/sub/file", "/dir/sub", Target::Replace).await;
}

async fn a_copy_of_a_missing_path_is_not_found(tree: Tree) {
    for target in [Target::New, Target::Replace] {
        let outcome = tree.copy(&at("/missing"), &at("/to"), target).await;
        assert_eq!(refused(outcome), ErrorKind::NotFound);
    }
}

async fn a_copy_of_a_missing_path_changes_nothing(tree: Tree) {
    tree.put("/to/file", "kept").await;
    let before = tree.picture().await;
    refused(tree.copy(&at("/missing"), &at("/to"), Target::Replace).await);
    refused(tree.copy(&at("/missing"), &at("/a/b/to"), Target::New).await);
    assert_eq!(tree.picture().await, before);
}

async fn a_copy_beneath_a_file_is_refused(tree: Tree) {
    tree.put("/from", "one").await;
    tree.put("/file", "two").await;
    let outcome = tree.copy(&at("/from"), &at("/file/to"), Target::New).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
}

async fn a_copy_onto_the_root_is_refused(tree: Tree) {
    tree.put("/dir/file", "content").await;
    invalid(&tree, "/dir", "/", Target::Replace).await;
}

async fn a_copy_of_a_wide_tree_is_whole(tree: Tree) {
    for n in 0..200 {
        tree.put(&format!("/from/{}/{n}", n % 10), n.to_string()).await;
    }
    copied(&tree, "/from", "/to", Target::New).await;
    for n in 0..200 {
        assert_eq!(tree.text(&format!("/to/{}/{n}", n % 10)).await, n.to_string());
    }
}
