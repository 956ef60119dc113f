//! Putting whole files in place.

use engine::{EntryKind, ErrorKind, Parents, WriteOptions};

use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, at, create_new, refused, replace};

promises! {
    a_write_makes_the_file;
    a_write_makes_missing_parents;
    a_write_replaces_the_whole_content;
    an_empty_body_makes_an_empty_file;
    an_empty_body_empties_a_file;
    a_write_answers_with_the_file_as_it_is;
    a_write_says_whether_the_file_is_new;
    a_write_leaves_nothing_else_beside_the_file;
    a_write_leaves_its_siblings_alone;
    a_write_onto_a_directory_is_refused;
    a_write_onto_the_root_is_refused;
    a_write_beneath_a_file_is_refused;
    a_refused_write_changes_nothing;
    a_new_file_is_made;
    a_new_file_must_not_exist;
    a_new_file_does_not_take_the_place_of_a_directory;
    a_new_file_says_that_it_is_new;
    required_parents_that_are_missing_are_not_found needs RequiredParents;
    required_parents_that_exist_suffice needs RequiredParents;
}

async fn a_write_makes_the_file(tree: Tree) {
    tree.put("/file", "x").await;
    assert_eq!(tree.entry("/file").await.kind, EntryKind::File);
}

async fn a_write_makes_missing_parents(tree: Tree) {
    tree.put("/a/b/c/file", "x").await;
    assert_eq!(tree.entry("/a/b").await.kind, EntryKind::Directory);
    assert_eq!(tree.text("/a/b/c/file").await, "x");
}

async fn a_write_replaces_the_whole_content(tree: Tree) {
    tree.put("/file", "a long text").await;
    tree.put("/file", "short").await;
    assert_eq!(tree.text("/file").await, "short");
    assert_eq!(tree.entry("/file").await.size, 5);
}

async fn an_empty_body_makes_an_empty_file(tree: Tree) {
    tree.write(&at("/file"), body::pieces([]), replace()).await.unwrap();
    assert_eq!(tree.entry("/file").await.size, 0);
}

async fn an_empty_body_empties_a_file(tree: Tree) {
    tree.put("/file", "text").await;
    tree.put("/file", "").await;
    assert_eq!(tree.text("/file").await, "");
}

async fn a_write_answers_with_the_file_as_it_is(tree: Tree) {
    let written = tree.put("/dir/file", "hello").await;
    assert_eq!(written.bytes, 5);
    assert_eq!(written.entry.path, at("/dir/file"));
    assert_eq!((written.entry.kind, written.entry.size), (EntryKind::File, 5));
}

async fn a_write_says_whether_the_file_is_new(tree: Tree) {
    assert!(tree.put("/file", "one").await.created);
    assert!(!tree.put("/file", "two").await.created);
}

async fn a_write_leaves_nothing_else_beside_the_file(tree: Tree) {
    tree.put("/dir/file", "one").await;
    tree.put("/dir/file", "two").await;
    assert_eq!(tree.names("/dir").await, ["file"]);
    assert_eq!(tree.names("/").await, ["dir"]);
}

async fn a_write_leaves_its_siblings_alone(tree: Tree) {
    tree.put("/dir/sibling", "as it was").await;
    tree.put("/dir/file", "x").await;
    assert_eq!(tree.text("/dir/sibling").await, "as it was");
}

async fn a_write_onto_a_directory_is_refused(tree: Tree) {
    tree.put("/dir/file", "x").await;
    assert_eq!(refused(tree.try_put("/dir", "x", replace()).await), ErrorKind::IsADirectory);
    assert_eq!(tree.text("/dir/file").await, "x");
}

async fn a_write_onto_the_root_is_refused(tree: Tree) {
    assert_eq!(refused(tree.try_put("/", "x", replace()).await), ErrorKind::IsADirectory);
}

async fn a_write_beneath_a_file_is_refused(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.try_put("/file/sub/child", "x", replace()).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
    assert_eq!(tree.text("/file").await, "x");
}

async fn a_refused_write_changes_nothing(tree: Tree) {
    tree.put("/dir/file", "x").await;
    let before = tree.picture().await;
    refused(tree.try_put("/dir", "new", replace()).await);
    refused(tree.try_put("/dir/file/child", "new", replace()).await);
    refused(tree.try_put("/dir/file", "new", create_new()).await);
    assert_eq!(tree.picture().await, before);
}

async fn a_new_file_is_made(tree: Tree) {
    tree.try_put("/dir/file", "x", create_new()).await.unwrap();
    assert_eq!(tree.text("/dir/file").await, "x");
}

async fn a_new_file_must_not_exist(tree: Tree) {
    tree.put("/file", "old").await;
    let outcome = tree.try_put("/file", "new", create_new()).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    assert_eq!(tree.text("/file").await, "old");
}

async fn a_new_file_does_not_take_the_place_of_a_directory(tree: Tree) {
    tree.make_dir("/dir").await;
    let outcome = tree.try_put("/dir", "new", create_new()).await;
    assert_eq!(refused(outcome), ErrorKind::AlreadyExists);
    assert_eq!(tree.entry("/dir").await.kind, EntryKind::Directory);
}

async fn a_new_file_says_that_it_is_new(tree: Tree) {
    assert!(tree.try_put("/file", "x", create_new()).await.unwrap().created);
}

async fn required_parents_that_are_missing_are_not_found(tree: Tree) {
    let options = WriteOptions { parents: Parents::Require, ..replace() };
    let outcome = tree.try_put("/missing/file", "x", options).await;
    assert_eq!(refused(outcome), ErrorKind::NotFound);
    assert!(tree.names("/").await.is_empty());
}

async fn required_parents_that_exist_suffice(tree: Tree) {
    tree.make_dir("/dir").await;
    let options = WriteOptions { parents: Parents::Require, ..replace() };
    tree.try_put("/dir/file", "x", options).await.unwrap();
    assert_eq!(tree.text("/dir/file").await, "x");
}
