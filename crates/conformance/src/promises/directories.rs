//! Making directories.

use engine::{EntryKind, ErrorKind, Parents};

use crate::promise::promises;
use crate::tree::{Tree, at, refused};

promises! {
    a_directory_is_made;
    a_directory_is_made_with_its_parents;
    a_made_directory_is_answered;
    a_directory_that_exists_is_a_success;
    a_directory_is_new_once;
    a_directory_that_exists_keeps_what_it_holds;
    the_root_exists_already;
    a_directory_does_not_take_the_place_of_a_file;
    a_directory_beneath_a_file_is_refused;
    a_refused_directory_leaves_no_parents;
    a_hundred_levels_are_made_at_once;
    a_directory_with_required_parents_is_made needs RequiredParents;
    a_directory_with_missing_required_parents_is_not_found needs RequiredParents;
    a_directory_that_must_be_new_must_not_exist needs RequiredParents;
    the_root_is_never_new needs RequiredParents;
    a_directory_behind_a_link_to_one_exists_already needs Links;
    a_directory_does_not_take_the_place_of_a_dangling_link needs Links;
}

async fn a_directory_is_made(tree: Tree) {
    tree.make_dir("/dir").await;
    assert_eq!(tree.entry("/dir").await.kind, EntryKind::Directory);
    assert!(tree.names("/dir").await.is_empty());
}

async fn a_directory_is_made_with_its_parents(tree: Tree) {
    tree.make_dir("/a/b/c").await;
    assert_eq!(tree.names("/a").await, ["b"]);
    assert_eq!(tree.names("/a/b").await, ["c"]);
}

async fn a_made_directory_is_answered(tree: Tree) {
    let entry = tree.make_dir("/a/b").await;
    assert_eq!((entry.path, entry.kind), (at("/a/b"), EntryKind::Directory));
}

async fn a_directory_that_exists_is_a_success(tree: Tree) {
    tree.make_dir("/a/b").await;
    assert_eq!(tree.make_dir("/a/b").await.kind, EntryKind::Directory);
    assert_eq!(tree.make_dir("/a").await.kind, EntryKind::Directory);
}

async fn a_directory_is_new_once(tree: Tree) {
    for (dir, is_new) in [("/a/b", true), ("/a/b", false), ("/a", false), ("/a/c", true)] {
        let made = tree.create_dir(&at(dir), Parents::Create).await.unwrap();
        assert_eq!(made.created, is_new, "{dir}");
    }
    assert!(!tree.create_dir(&at("/"), Parents::Create).await.unwrap().created);
}

async fn a_directory_that_exists_keeps_what_it_holds(tree: Tree) {
    tree.put("/dir/file", "x").await;
    tree.make_dir("/dir").await;
    assert_eq!(tree.text("/dir/file").await, "x");
}

async fn the_root_exists_already(tree: Tree) {
    assert_eq!(tree.make_dir("/").await.kind, EntryKind::Directory);
}

async fn a_directory_does_not_take_the_place_of_a_file(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.create_dir(&at("/file"), Parents::Create).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    assert_eq!(tree.text("/file").await, "x");
}

async fn a_directory_beneath_a_file_is_refused(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.create_dir(&at("/file/a/b"), Parents::Create).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
}

async fn a_refused_directory_leaves_no_parents(tree: Tree) {
    tree.put("/file", "x").await;
    let before = tree.picture().await;
    refused(tree.create_dir(&at("/file/a/b"), Parents::Create).await);
    assert_eq!(tree.picture().await, before);
}

async fn a_hundred_levels_are_made_at_once(tree: Tree) {
    let deep = "/level".repeat(100);
    tree.make_dir(&deep).await;
    tree.put(&format!("{deep}/file"), "deep").await;
    assert_eq!(tree.text(&format!("{deep}/file")).await, "deep");
}

async fn a_directory_with_required_parents_is_made(tree: Tree) {
    tree.make_dir("/dir").await;
    tree.create_dir(&at("/dir/sub"), Parents::Require).await.unwrap();
    assert_eq!(tree.names("/dir").await, ["sub"]);
}

async fn a_directory_with_missing_required_parents_is_not_found(tree: Tree) {
    let outcome = tree.create_dir(&at("/missing/sub"), Parents::Require).await;
    assert_eq!(refused(outcome), ErrorKind::NotFound);
    assert!(tree.names("/").await.is_empty());
}

async fn a_directory_that_must_be_new_must_not_exist(tree: Tree) {
    tree.put("/dir/file", "x").await;
    let outcome = tree.create_dir(&at("/dir"), Parents::Require).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    let outcome = tree.create_dir(&at("/dir/file"), Parents::Require).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
}

async fn the_root_is_never_new(tree: Tree) {
    let outcome = tree.create_dir(&at("/"), Parents::Require).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
}

async fn a_directory_behind_a_link_to_one_exists_already(tree: Tree) {
    tree.put("/dir/file", "x").await;
    tree.link("/link", "dir").await;
    tree.make_dir("/link").await;
    tree.make_dir("/link/sub").await;
    assert_eq!(tree.names("/dir").await, ["file", "sub"]);
}

async fn a_directory_does_not_take_the_place_of_a_dangling_link(tree: Tree) {
    tree.link("/link", "nowhere").await;
    let outcome = tree.create_dir(&at("/link"), Parents::Create).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    assert_eq!(tree.absence("/nowhere").await, ErrorKind::NotFound);
}
