//! How much a tree may hold.

use engine::{
    ArchiveFormat, ArchiveLimits, Create, Depth, ErrorKind, If, Limits, OpenOptions, Parents,
    Target,
};
use futures::future::join_all;

use crate::archive::Tar;
use crate::body;
use crate::promise::{UNLIMITED, promises};
use crate::tree::{Tree, append, at, refused, replace, replace_with};

const TEN_A_FILE: Limits = Limits { file_size: Some(10), ..UNLIMITED };
const HUNDRED_IN_ALL: Limits = Limits { total_size: Some(100), ..UNLIMITED };
const FIVE_NODES: Limits = Limits { nodes: Some(5), ..UNLIMITED };

promises! {
    a_file_may_be_as_long_as_the_limit within TEN_A_FILE;
    a_file_longer_than_the_limit_is_refused within TEN_A_FILE;
    an_announced_length_over_the_limit_is_refused within TEN_A_FILE;
    an_append_over_the_limit_is_refused within TEN_A_FILE;
    a_write_at_an_offset_over_the_limit_is_refused within TEN_A_FILE;
    a_length_over_the_limit_is_refused needs SetLen within TEN_A_FILE;
    an_archive_with_a_file_over_the_limit_leaves_nothing within TEN_A_FILE;
    a_body_without_end_is_cut_off_at_the_limit within TEN_A_FILE;
    a_tree_may_be_as_full_as_the_limit within HUNDRED_IN_ALL;
    a_write_that_overfills_the_tree_is_refused within HUNDRED_IN_ALL;
    a_replacement_needs_room_for_the_difference_only within HUNDRED_IN_ALL;
    an_append_that_overfills_the_tree_is_refused within HUNDRED_IN_ALL;
    a_copy_that_overfills_the_tree_leaves_nothing within HUNDRED_IN_ALL;
    an_archive_that_overfills_the_tree_leaves_nothing within HUNDRED_IN_ALL;
    a_removal_makes_room within HUNDRED_IN_ALL;
    a_full_tree_can_still_be_renamed_in within HUNDRED_IN_ALL;
    a_body_without_end_is_cut_off_when_the_tree_is_full within HUNDRED_IN_ALL;
    writers_at_once_never_overfill_the_tree within HUNDRED_IN_ALL;
    a_tree_may_hold_as_many_nodes_as_the_limit within FIVE_NODES;
    a_file_too_many_is_refused within FIVE_NODES;
    a_directory_too_many_is_refused within FIVE_NODES;
    a_link_too_many_is_refused needs Links within FIVE_NODES;
    parents_too_many_are_refused within FIVE_NODES;
    a_copy_of_too_many_nodes_leaves_nothing within FIVE_NODES;
    an_archive_of_too_many_nodes_leaves_nothing within FIVE_NODES;
    a_replacement_needs_no_further_node within FIVE_NODES;
    a_removed_node_makes_room_for_another within FIVE_NODES;
    an_archive_may_be_unpacked_again_and_again within FIVE_NODES;
    a_directory_that_is_there_may_be_made_again_when_the_tree_is_full within FIVE_NODES;
    a_rename_onto_itself_through_a_link_makes_no_room needs Links within HUNDRED_IN_ALL;
}

const TOO_LARGE: ErrorKind = ErrorKind::FileTooLarge;
const FULL: ErrorKind = ErrorKind::StorageFull;
const TOO_MANY: ErrorKind = ErrorKind::TooManyNodes;

fn text(len: usize) -> String {
    "x".repeat(len)
}

async fn a_file_may_be_as_long_as_the_limit(tree: Tree) {
    tree.put("/file", text(10)).await;
    tree.put("/other", text(10)).await;
    assert_eq!(tree.entry("/file").await.size, 10);
}

async fn a_file_longer_than_the_limit_is_refused(tree: Tree) {
    tree.put("/file", "old").await;
    assert_eq!(refused(tree.try_put("/file", text(11), replace()).await), TOO_LARGE);
    assert_eq!(refused(tree.try_put("/a/new", text(11), replace()).await), TOO_LARGE);
    assert_eq!(tree.names("/").await, ["file"]);
    assert_eq!(tree.text("/file").await, "old");
}

async fn an_announced_length_over_the_limit_is_refused(tree: Tree) {
    assert_eq!(refused(tree.try_put("/file", text(11), replace_with(11)).await), TOO_LARGE);
    assert!(tree.names("/").await.is_empty());
}

async fn an_append_over_the_limit_is_refused(tree: Tree) {
    tree.put("/file", text(8)).await;
    assert_eq!(refused(tree.try_put("/file", "123", append()).await), TOO_LARGE);
    assert_eq!(tree.entry("/file").await.size, 8);
    tree.try_put("/file", "12", append()).await.unwrap();
    assert_eq!(tree.entry("/file").await.size, 10);
}

async fn a_write_at_an_offset_over_the_limit_is_refused(tree: Tree) {
    let file = tree.open(&at("/file"), OpenOptions::Write(Create::New)).await.unwrap();
    assert_eq!(refused(file.write_at(8, "123".into()).await), TOO_LARGE);
    assert_eq!(tree.entry("/file").await.size, 0);
    file.write_at(8, "12".into()).await.unwrap();
    assert_eq!(tree.entry("/file").await.size, 10);
}

async fn a_length_over_the_limit_is_refused(tree: Tree) {
    let file = tree.open(&at("/file"), OpenOptions::Write(Create::New)).await.unwrap();
    assert_eq!(refused(file.set_len(11).await), TOO_LARGE);
    file.set_len(10).await.unwrap();
    assert_eq!(tree.entry("/file").await.size, 10);
}

/// Holds that an archive is refused with this kind and leaves nothing.
async fn nothing_unpacked(tree: &Tree, archive: Tar, kind: ErrorKind) {
    let before = tree.picture().await;
    let outcome =
        tree.unpack(&at("/to"), archive.body(), ArchiveFormat::Tar, ArchiveLimits::default()).await;
    assert_eq!(refused(outcome), kind);
    assert_eq!(tree.picture().await, before);
}

async fn an_archive_with_a_file_over_the_limit_leaves_nothing(tree: Tree) {
    let archive = Tar::new().file("first", "x").file("second", &text(11));
    nothing_unpacked(&tree, archive, TOO_LARGE).await;
}

async fn a_body_without_end_is_cut_off_at_the_limit(tree: Tree) {
    tree.put("/file", "old").await;
    let outcome = tree.write(&at("/file"), body::endless(), replace()).await;
    assert_eq!(refused(outcome), TOO_LARGE);
    assert_eq!(tree.text("/file").await, "old");
}

async fn a_tree_may_be_as_full_as_the_limit(tree: Tree) {
    tree.put("/one", text(60)).await;
    tree.put("/two", text(40)).await;
    assert_eq!(tree.entry("/two").await.size, 40);
}

async fn a_write_that_overfills_the_tree_is_refused(tree: Tree) {
    tree.put("/one", text(60)).await;
    assert_eq!(refused(tree.try_put("/a/two", text(41), replace()).await), FULL);
    assert_eq!(refused(tree.try_put("/one", text(101), replace()).await), FULL);
    assert_eq!(tree.names("/").await, ["one"]);
    assert_eq!(tree.text("/one").await, text(60));
}

async fn a_replacement_needs_room_for_the_difference_only(tree: Tree) {
    tree.put("/one", text(90)).await;
    tree.put("/one", text(100)).await;
    tree.put("/one", text(80)).await;
    tree.put("/two", text(20)).await;
    assert_eq!(tree.entry("/two").await.size, 20);
}

async fn an_append_that_overfills_the_tree_is_refused(tree: Tree) {
    tree.put("/one", text(60)).await;
    tree.put("/two", text(30)).await;
    assert_eq!(refused(tree.try_put("/two", text(11), append()).await), FULL);
    assert_eq!(tree.entry("/two").await.size, 30);
}

async fn a_copy_that_overfills_the_tree_leaves_nothing(tree: Tree) {
    tree.put("/from/one", text(30)).await;
    tree.put("/from/two", text(30)).await;
    let outcome = tree.copy(&at("/from"), &at("/to"), Target::New).await;
    assert_eq!(refused(outcome), FULL);
    assert_eq!(tree.names("/").await, ["from"]);
}

async fn an_archive_that_overfills_the_tree_leaves_nothing(tree: Tree) {
    let archive = Tar::new().file("first", &text(60)).file("second", &text(41));
    nothing_unpacked(&tree, archive, FULL).await;
}

async fn a_removal_makes_room(tree: Tree) {
    tree.put("/one", text(100)).await;
    tree.remove(&at("/one"), Depth::One, If::Always).await.unwrap();
    tree.put("/two", text(100)).await;
    assert_eq!(tree.entry("/two").await.size, 100);
}

async fn a_full_tree_can_still_be_renamed_in(tree: Tree) {
    tree.put("/one", text(100)).await;
    tree.rename(&at("/one"), &at("/two"), Target::New).await.unwrap();
    assert_eq!(tree.names("/").await, ["two"]);
}

async fn a_body_without_end_is_cut_off_when_the_tree_is_full(tree: Tree) {
    tree.put("/one", text(60)).await;
    let outcome = tree.write(&at("/two"), body::endless(), replace()).await;
    assert_eq!(refused(outcome), FULL);
    assert_eq!(tree.names("/").await, ["one"]);
}

async fn writers_at_once_never_overfill_the_tree(tree: Tree) {
    let tree = &tree;
    let writes = (0..16).map(|n| async move {
        tree.try_put(&format!("/{n}"), text(10), replace_with(10)).await.is_ok()
    });
    let succeeded = join_all(writes).await.into_iter().filter(|succeeded| *succeeded).count();
    assert_eq!(succeeded, 10);
    assert_eq!(tree.names("/").await.len(), 10);
}

/// A tree of four nodes beside the root.
async fn five_nodes(tree: &Tree) {
    tree.put("/dir/one", "1").await;
    tree.put("/dir/two", "2").await;
    tree.make_dir("/empty").await;
}

async fn a_tree_may_hold_as_many_nodes_as_the_limit(tree: Tree) {
    five_nodes(&tree).await;
    assert_eq!(tree.names("/").await, ["dir", "empty"]);
}

async fn a_file_too_many_is_refused(tree: Tree) {
    five_nodes(&tree).await;
    assert_eq!(refused(tree.try_put("/new", "x", replace()).await), TOO_MANY);
    assert_eq!(refused(tree.try_put("/new", "x", append()).await), TOO_MANY);
    let options = OpenOptions::Write(Create::New);
    assert_eq!(refused(tree.open(&at("/new"), options).await), TOO_MANY);
    assert_eq!(tree.names("/").await, ["dir", "empty"]);
}

async fn a_directory_too_many_is_refused(tree: Tree) {
    five_nodes(&tree).await;
    assert_eq!(refused(tree.create_dir(&at("/new"), Parents::Create).await), TOO_MANY);
    assert_eq!(tree.names("/").await, ["dir", "empty"]);
}

async fn a_link_too_many_is_refused(tree: Tree) {
    five_nodes(&tree).await;
    assert_eq!(refused(tree.symlink(&at("/new"), "dir").await), TOO_MANY);
    assert_eq!(tree.names("/").await, ["dir", "empty"]);
}

async fn parents_too_many_are_refused(tree: Tree) {
    tree.make_dir("/dir").await;
    assert_eq!(refused(tree.try_put("/a/b/c/file", "x", replace()).await), TOO_MANY);
    assert_eq!(refused(tree.create_dir(&at("/a/b/c/d"), Parents::Create).await), TOO_MANY);
    assert_eq!(tree.names("/").await, ["dir"]);
}

async fn a_copy_of_too_many_nodes_leaves_nothing(tree: Tree) {
    tree.put("/dir/one", "1").await;
    tree.put("/dir/two", "2").await;
    let outcome = tree.copy(&at("/dir"), &at("/to"), Target::New).await;
    assert_eq!(refused(outcome), TOO_MANY);
    assert_eq!(tree.names("/").await, ["dir"]);
}

async fn an_archive_of_too_many_nodes_leaves_nothing(tree: Tree) {
    let archive = Tar::new().file("a", "").file("b", "").file("c", "").file("d", "");
    nothing_unpacked(&tree, archive, TOO_MANY).await;
}

async fn a_replacement_needs_no_further_node(tree: Tree) {
    five_nodes(&tree).await;
    tree.put("/dir/one", "new").await;
    tree.rename(&at("/dir/one"), &at("/dir/two"), Target::Replace).await.unwrap();
    assert_eq!(tree.text("/dir/two").await, "new");
}

async fn a_removed_node_makes_room_for_another(tree: Tree) {
    five_nodes(&tree).await;
    tree.remove(&at("/dir"), Depth::All, If::Always).await.unwrap();
    tree.put("/a/b/file", "x").await;
    assert_eq!(tree.names("/").await, ["a", "empty"]);
}

async fn an_archive_may_be_unpacked_again_and_again(tree: Tree) {
    for _ in 0..5 {
        let archive = Tar::new().directory("dir/").body();
        tree.unpack(&at("/to"), archive, ArchiveFormat::Tar, ArchiveLimits::default())
            .await
            .unwrap();
    }
}

async fn a_directory_that_is_there_may_be_made_again_when_the_tree_is_full(tree: Tree) {
    tree.create_dir(&at("/a/b/c/d"), Parents::Create).await.unwrap();
    tree.create_dir(&at("/a/b/c/d"), Parents::Create).await.unwrap();
}

async fn a_rename_onto_itself_through_a_link_makes_no_room(tree: Tree) {
    tree.put("/dir/file", text(90)).await;
    tree.symlink(&at("/link"), "dir").await.unwrap();
    tree.rename(&at("/dir/file"), &at("/link/file"), Target::Replace).await.unwrap();
    assert_eq!(tree.text("/dir/file").await, text(90));
    assert_eq!(refused(tree.try_put("/more", text(20), replace()).await), FULL);
}
