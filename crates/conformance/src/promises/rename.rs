//! Moving files and directories.

use engine::{EntryKind, ErrorKind, Target};

use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    a_rename_moves_a_file;
    a_rename_moves_a_directory_with_everything_in_it;
    a_rename_makes_missing_parents;
    a_rename_answers_with_what_was_moved;
    a_rename_keeps_the_time_of_the_content;
    a_rename_to_a_new_name_refuses_a_file;
    a_rename_to_a_new_name_refuses_a_directory;
    a_rename_replaces_a_file;
    a_rename_replaces_a_full_directory_by_a_file;
    a_rename_replaces_a_file_by_a_directory;
    a_rename_replaces_a_full_directory_by_a_directory;
    a_rename_that_may_replace_needs_nothing_to_replace;
    a_rename_onto_itself_changes_nothing;
    a_rename_of_a_directory_onto_itself_changes_nothing;
    a_rename_into_itself_is_an_invalid_argument;
    a_rename_onto_its_own_parent_is_refused;
    a_rename_to_a_name_that_begins_alike_is_not_into_itself;
    a_rename_that_changes_only_the_case_works;
    a_rename_of_a_missing_path_is_not_found;
    a_rename_of_a_missing_path_makes_no_parents;
    a_rename_of_a_missing_path_leaves_the_destination;
    a_rename_beneath_a_file_is_refused;
    the_root_cannot_be_renamed;
    nothing_can_be_renamed_onto_the_root;
    a_renamed_name_can_be_used_again;
}

async fn renamed(tree: &Tree, from: &str, to: &str, target: Target) {
    tree.rename(&at(from), &at(to), target).await.unwrap();
}

async fn a_rename_moves_a_file(tree: Tree) {
    tree.put("/from", "content").await;
    renamed(&tree, "/from", "/to", Target::New).await;
    assert_eq!(tree.names("/").await, ["to"]);
    assert_eq!(tree.text("/to").await, "content");
}

async fn a_rename_moves_a_directory_with_everything_in_it(tree: Tree) {
    tree.put("/from/sub/file", "content").await;
    tree.make_dir("/from/empty").await;
    renamed(&tree, "/from", "/to", Target::New).await;
    assert_eq!(tree.names("/").await, ["to"]);
    assert_eq!(tree.names("/to").await, ["empty", "sub"]);
    assert_eq!(tree.text("/to/sub/file").await, "content");
}

async fn a_rename_makes_missing_parents(tree: Tree) {
    tree.put("/from", "content").await;
    renamed(&tree, "/from", "/a/b/to", Target::New).await;
    assert_eq!(tree.text("/a/b/to").await, "content");
}

async fn a_rename_answers_with_what_was_moved(tree: Tree) {
    tree.put("/from", "content").await;
    let entry = tree.rename(&at("/from"), &at("/to"), Target::New).await.unwrap();
    assert_eq!((entry.path, entry.kind, entry.size), (at("/to"), EntryKind::File, 7));
}

async fn a_rename_keeps_the_time_of_the_content(tree: Tree) {
    tree.put("/from", "content").await;
    let before = tree.entry("/from").await.modified;
    renamed(&tree, "/from", "/to", Target::New).await;
    assert_eq!(tree.entry("/to").await.modified, before);
}

/// Holds that a move to a new name is refused and changes nothing.
async fn taken(tree: &Tree, from: &str, to: &str) {
    let before = tree.picture().await;
    let outcome = tree.rename(&at(from), &at(to), Target::New).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    assert_eq!(tree.picture().await, before);
}

async fn a_rename_to_a_new_name_refuses_a_file(tree: Tree) {
    tree.put("/from", "one").await;
    tree.put("/to", "two").await;
    taken(&tree, "/from", "/to").await;
}

async fn a_rename_to_a_new_name_refuses_a_directory(tree: Tree) {
    tree.put("/from/file", "one").await;
    tree.make_dir("/to").await;
    taken(&tree, "/from", "/to").await;
    taken(&tree, "/from/file", "/to").await;
}

async fn a_rename_replaces_a_file(tree: Tree) {
    tree.put("/from", "new").await;
    tree.put("/to", "old").await;
    renamed(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.text("/to").await, "new");
    assert_eq!(tree.names("/").await, ["to"]);
}

async fn a_rename_replaces_a_full_directory_by_a_file(tree: Tree) {
    tree.put("/from", "new").await;
    tree.put("/to/sub/file", "old").await;
    renamed(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.text("/to").await, "new");
    assert_eq!(tree.names("/").await, ["to"]);
}

async fn a_rename_replaces_a_file_by_a_directory(tree: Tree) {
    tree.put("/from/file", "new").await;
    tree.put("/to", "old").await;
    renamed(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.text("/to/file").await, "new");
    assert_eq!(tree.names("/").await, ["to"]);
}

async fn a_rename_replaces_a_full_directory_by_a_directory(tree: Tree) {
    tree.put("/from/file", "new").await;
    tree.put("/to/other/file", "old").await;
    renamed(&tree, "/from", "/to", Target::Replace).await;
    assert_eq!(tree.names("/to").await, ["file"]);
    assert_eq!(tree.names("/").await, ["to"]);
}

async fn a_rename_that_may_replace_needs_nothing_to_replace(tree: Tree) {
    tree.put("/from", "content").await;
    renamed(&tree, "/from", "/a/to", Target::Replace).await;
    assert_eq!(tree.text("/a/to").await, "content");
}

async fn a_rename_onto_itself_changes_nothing(tree: Tree) {
    tree.put("/file", "content").await;
    let before = (tree.picture().await, tree.version("/file").await);
    for target in [Target::New, Target::Replace] {
        renamed(&tree, "/file", "/file", target).await;
    }
    assert_eq!((tree.picture().await, tree.version("/file").await), before);
}

async fn a_rename_of_a_directory_onto_itself_changes_nothing(tree: Tree) {
    tree.put("/dir/file", "content").await;
    let before = tree.picture().await;
    for target in [Target::New, Target::Replace] {
        renamed(&tree, "/dir", "/dir", target).await;
    }
    assert_eq!(tree.picture().await, before);
}

/// Holds that a move contradicts itself and changes nothing.
async fn invalid(tree: &Tree, from: &str, to: &str, target: Target) {
    let before = tree.picture().await;
    let outcome = tree.rename(&at(from), &at(to), target).await;
    assert_eq!(refused(outcome), ErrorKind::InvalidArgument, "{from} to {to} as {target:?}");
    assert_eq!(tree.picture().await, before);
}

async fn a_rename_into_itself_is_an_invalid_argument(tree: Tree) {
    tree.put("/dir/sub/file", "content").await;
    for target in [Target::New, Target::Replace] {
        invalid(&tree, "/dir", "/dir/inner", target).await;
        invalid(&tree, "/dir", "/dir/sub", target).await;
        invalid(&tree, "/dir", "/dir/new/deeper", target).await;
    }
}

async fn a_rename_onto_its_own_parent_is_refused(tree: Tree) {
    tree.put("/dir/sub/file", "content").await;
    invalid(&tree, "/dir/sub/file", "/dir/sub", Target::Replace).await;
    invalid(&tree, "/dir/sub", "/dir", Target::Replace).await;
    taken(&tree, "/dir/sub", "/dir").await;
}

async fn a_rename_to_a_name_that_begins_alike_is_not_into_itself(tree: Tree) {
    tree.put("/dir/file", "content").await;
    renamed(&tree, "/dir", "/dir-2/dir", Target::New).await;
    assert_eq!(tree.text("/dir-2/dir/file").await, "content");
}

async fn a_rename_that_changes_only_the_case_works(tree: Tree) {
    tree.put("/name", "content").await;
    renamed(&tree, "/name", "/NAME", Target::New).await;
    assert_eq!(tree.names("/").await, ["NAME"]);
}

async fn a_rename_of_a_missing_path_is_not_found(tree: Tree) {
    for target in [Target::New, Target::Replace] {
        let outcome = tree.rename(&at("/missing"), &at("/to"), target).await;
        assert_eq!(refused(outcome), ErrorKind::NotFound);
        let outcome = tree.rename(&at("/missing"), &at("/missing"), target).await;
        assert_eq!(refused(outcome), ErrorKind::NotFound);
    }
}

async fn a_rename_of_a_missing_path_makes_no_parents(tree: Tree) {
    refused(tree.rename(&at("/missing"), &at("/a/b/to"), Target::New).await);
    assert!(tree.names("/").await.is_empty());
}

async fn a_rename_of_a_missing_path_leaves_the_destination(tree: Tree) {
    tree.put("/to/file", "kept").await;
    refused(tree.rename(&at("/missing"), &at("/to"), Target::Replace).await);
    assert_eq!(tree.text("/to/file").await, "kept");
}

async fn a_rename_beneath_a_file_is_refused(tree: Tree) {
    tree.put("/from", "one").await;
    tree.put("/file", "two").await;
    for (from, to) in [("/from", "/file/to"), ("/file/from", "/to")] {
        let outcome = tree.rename(&at(from), &at(to), Target::New).await;
        assert_eq!(refused(outcome), ErrorKind::NotADirectory);
    }
    assert_eq!(tree.names("/").await, ["file", "from"]);
}

async fn the_root_cannot_be_renamed(tree: Tree) {
    tree.put("/dir/file", "content").await;
    invalid(&tree, "/", "/to", Target::New).await;
    invalid(&tree, "/", "/dir", Target::Replace).await;
}

async fn nothing_can_be_renamed_onto_the_root(tree: Tree) {
    tree.put("/dir/file", "content").await;
    invalid(&tree, "/dir", "/", Target::Replace).await;
    invalid(&tree, "/dir/file", "/", Target::Replace).await;
}

async fn a_renamed_name_can_be_used_again(tree: Tree) {
    tree.put("/from", "old").await;
    renamed(&tree, "/from", "/to", Target::New).await;
    tree.put("/from", "new").await;
    assert_eq!(tree.text("/to").await, "old");
    assert_eq!(tree.text("/from").await, "new");
}
