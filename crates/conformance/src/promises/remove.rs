//! Removing files and directories.

use engine::{Depth, ErrorKind, If};

use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    a_removed_file_is_gone;
    a_removed_empty_directory_is_gone;
    a_removed_tree_is_gone;
    a_removal_of_all_takes_a_file_too;
    a_removal_of_one_leaves_a_full_directory;
    a_removal_leaves_the_siblings;
    a_removal_of_a_missing_path_is_not_found;
    a_removal_that_expects_nothing_there_finds_nothing;
    a_removal_beneath_a_file_is_refused;
    the_root_cannot_be_removed;
    a_removed_name_can_be_used_again;
    a_removed_file_can_become_a_directory;
    a_directory_of_a_thousand_files_is_removed;
    a_tree_as_deep_as_a_path_can_be_is_removed;
}

async fn removed(tree: &Tree, path: &str, depth: Depth) {
    tree.remove(&at(path), depth, If::Always).await.unwrap();
}

async fn a_removed_file_is_gone(tree: Tree) {
    tree.put("/file", "x").await;
    removed(&tree, "/file", Depth::One).await;
    assert_eq!(tree.absence("/file").await, ErrorKind::NotFound);
    assert!(tree.names("/").await.is_empty());
}

async fn a_removed_empty_directory_is_gone(tree: Tree) {
    tree.make_dir("/dir").await;
    removed(&tree, "/dir", Depth::One).await;
    assert_eq!(tree.absence("/dir").await, ErrorKind::NotFound);
}

async fn a_removed_tree_is_gone(tree: Tree) {
    tree.put("/dir/sub/file", "x").await;
    tree.put("/dir/file", "x").await;
    tree.make_dir("/dir/empty").await;
    removed(&tree, "/dir", Depth::All).await;
    assert!(tree.names("/").await.is_empty());
}

async fn a_removal_of_all_takes_a_file_too(tree: Tree) {
    tree.put("/file", "x").await;
    removed(&tree, "/file", Depth::All).await;
    assert!(tree.names("/").await.is_empty());
}

async fn a_removal_of_one_leaves_a_full_directory(tree: Tree) {
    tree.put("/dir/file", "x").await;
    let outcome = tree.remove(&at("/dir"), Depth::One, If::Always).await;
    assert_eq!(refused(outcome), ErrorKind::DirectoryNotEmpty);
    assert_eq!(tree.text("/dir/file").await, "x");
}

async fn a_removal_leaves_the_siblings(tree: Tree) {
    tree.put("/dir/sub/file", "x").await;
    tree.put("/dir/subway", "kept").await;
    removed(&tree, "/dir/sub", Depth::All).await;
    assert_eq!(tree.names("/dir").await, ["subway"]);
}

async fn a_removal_of_a_missing_path_is_not_found(tree: Tree) {
    for depth in [Depth::One, Depth::All] {
        let outcome = tree.remove(&at("/missing"), depth, If::Always).await;
        assert_eq!(refused(outcome), ErrorKind::NotFound);
        let outcome = tree.remove(&at("/missing/child"), depth, If::Always).await;
        assert_eq!(refused(outcome), ErrorKind::NotFound);
    }
}

async fn a_removal_that_expects_nothing_there_finds_nothing(tree: Tree) {
    let outcome = tree.remove(&at("/missing"), Depth::One, If::Missing).await;
    assert_eq!(refused(outcome), ErrorKind::NotFound);
}

async fn a_removal_beneath_a_file_is_refused(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.remove(&at("/file/child"), Depth::All, If::Always).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
}

async fn the_root_cannot_be_removed(tree: Tree) {
    tree.put("/file", "x").await;
    for depth in [Depth::One, Depth::All] {
        let outcome = tree.remove(&at("/"), depth, If::Always).await;
        assert_eq!(refused(outcome), ErrorKind::InvalidArgument);
    }
    assert_eq!(tree.text("/file").await, "x");
}

async fn a_removed_name_can_be_used_again(tree: Tree) {
    tree.put("/file", "old").await;
    removed(&tree, "/file", Depth::One).await;
    tree.put("/file", "new").await;
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_removed_file_can_become_a_directory(tree: Tree) {
    tree.put("/name", "x").await;
    removed(&tree, "/name", Depth::One).await;
    tree.put("/name/file", "x").await;
    assert_eq!(tree.names("/name").await, ["file"]);
}

async fn a_directory_of_a_thousand_files_is_removed(tree: Tree) {
    tree.put_all((0..1000).map(|n| format!("/dir/{n}"))).await;
    removed(&tree, "/dir", Depth::All).await;
    assert!(tree.names("/").await.is_empty());
}

async fn a_tree_as_deep_as_a_path_can_be_is_removed(tree: Tree) {
    let levels = "/x".repeat(2046);
    let deepest = format!("{levels}/xyz");
    assert_eq!(deepest.len(), engine::MAX_PATH);
    tree.make_dir(&levels).await;
    tree.put(&deepest, "deep").await;
    assert_eq!(tree.text(&deepest).await, "deep");
    removed(&tree, "/x", Depth::All).await;
    assert!(tree.names("/").await.is_empty());
}
