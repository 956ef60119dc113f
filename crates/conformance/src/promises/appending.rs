//! Adding to the end of files.

use bytes::Bytes;
use engine::ErrorKind;

use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, append, at, refused};

promises! {
    an_append_adds_to_the_end;
    an_append_makes_a_missing_file;
    an_append_makes_missing_parents;
    an_append_answers_with_the_file_as_it_is;
    an_append_says_whether_the_file_is_new;
    an_append_of_nothing_keeps_the_content;
    an_append_in_many_pieces_is_put_together;
    an_append_gives_a_new_version;
    an_append_to_a_directory_is_refused;
    an_append_beneath_a_file_is_refused;
}

async fn an_append_adds_to_the_end(tree: Tree) {
    tree.put("/file", "one").await;
    tree.try_put("/file", " two", append()).await.unwrap();
    tree.try_put("/file", " three", append()).await.unwrap();
    assert_eq!(tree.text("/file").await, "one two three");
}

async fn an_append_makes_a_missing_file(tree: Tree) {
    tree.try_put("/file", "first", append()).await.unwrap();
    assert_eq!(tree.text("/file").await, "first");
}

async fn an_append_makes_missing_parents(tree: Tree) {
    tree.try_put("/a/b/file", "first", append()).await.unwrap();
    assert_eq!(tree.text("/a/b/file").await, "first");
}

async fn an_append_answers_with_the_file_as_it_is(tree: Tree) {
    tree.put("/file", "12345").await;
    let written = tree.try_put("/file", "678", append()).await.unwrap();
    assert_eq!((written.bytes, written.entry.size), (3, 8));
    assert_eq!(written.entry.version, Some(tree.version("/file").await));
}

async fn an_append_says_whether_the_file_is_new(tree: Tree) {
    assert!(tree.try_put("/file", "one", append()).await.unwrap().created);
    assert!(!tree.try_put("/file", "two", append()).await.unwrap().created);
}

async fn an_append_of_nothing_keeps_the_content(tree: Tree) {
    tree.put("/file", "text").await;
    tree.try_put("/file", "", append()).await.unwrap();
    assert_eq!(tree.text("/file").await, "text");
}

async fn an_append_in_many_pieces_is_put_together(tree: Tree) {
    tree.put("/file", "0").await;
    let pieces = (1..=100).map(|n| Bytes::from(format!(",{n}")));
    tree.write(&at("/file"), body::pieces(pieces), append()).await.unwrap();
    let expected: Vec<String> = (0..=100).map(|n| n.to_string()).collect();
    assert_eq!(tree.text("/file").await, expected.join(","));
}

async fn an_append_gives_a_new_version(tree: Tree) {
    tree.put("/file", "text").await;
    let before = tree.version("/file").await;
    tree.try_put("/file", "more", append()).await.unwrap();
    assert_ne!(tree.version("/file").await, before);
}

async fn an_append_to_a_directory_is_refused(tree: Tree) {
    tree.make_dir("/dir").await;
    assert_eq!(refused(tree.try_put("/dir", "x", append()).await), ErrorKind::IsADirectory);
}

async fn an_append_beneath_a_file_is_refused(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.try_put("/file/child", "x", append()).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
}
