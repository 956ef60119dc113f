//! Bodies in pieces, of a known length, and broken ones.

use bytes::Bytes;
use engine::{ByteStream, ErrorKind, WriteOptions};

use crate::body;
use crate::promise::promises;
use crate::tree::{Tree, append, at, create_new, refused, replace, replace_with};

promises! {
    a_body_in_many_pieces_is_put_together;
    empty_pieces_of_a_body_do_not_matter;
    a_body_of_the_announced_length_is_written;
    a_body_of_no_announced_bytes_makes_an_empty_file;
    a_body_shorter_than_announced_is_refused;
    a_body_longer_than_announced_is_refused;
    an_append_shorter_than_announced_is_refused;
    an_append_longer_than_announced_is_refused;
    a_body_that_breaks_off_makes_no_file;
    a_body_that_breaks_off_makes_no_parents;
    a_body_that_breaks_off_leaves_the_old_content;
    a_body_that_breaks_off_makes_no_new_file;
    an_append_that_breaks_off_leaves_the_old_content;
    a_body_that_breaks_off_at_once_changes_nothing;
    a_large_body_that_breaks_off_leaves_the_old_content;
    a_write_after_a_broken_one_succeeds;
}

async fn a_body_in_many_pieces_is_put_together(tree: Tree) {
    let bytes = body::pattern(1 << 20);
    let whole = bytes.clone();
    let pieces = (0..whole.len()).step_by(1021);
    let pieces = pieces.map(move |at| bytes.slice(at..bytes.len().min(at + 1021)));
    let written = tree.write(&at("/file"), body::pieces(pieces), replace()).await.unwrap();
    assert_eq!(written.bytes, 1 << 20);
    assert!(tree.content("/file").await == whole);
}

async fn empty_pieces_of_a_body_do_not_matter(tree: Tree) {
    let pieces = ["", "a", "", "", "b", ""].map(|piece| Bytes::from_static(piece.as_bytes()));
    tree.write(&at("/file"), body::pieces(pieces), replace()).await.unwrap();
    assert_eq!(tree.text("/file").await, "ab");
}

async fn a_body_of_the_announced_length_is_written(tree: Tree) {
    tree.try_put("/file", "hello", replace_with(5)).await.unwrap();
    assert_eq!(tree.text("/file").await, "hello");
}

async fn a_body_of_no_announced_bytes_makes_an_empty_file(tree: Tree) {
    tree.try_put("/file", "", replace_with(0)).await.unwrap();
    assert_eq!(tree.text("/file").await, "");
}

/// Holds that a body is refused as broken and changes nothing.
async fn broken(tree: &Tree, file: &str, body: ByteStream, options: WriteOptions) {
    let before = tree.picture().await;
    let outcome = tree.write(&at(file), body, options).await;
    assert_eq!(refused(outcome), ErrorKind::BrokenBody);
    assert_eq!(tree.picture().await, before);
}

async fn a_body_shorter_than_announced_is_refused(tree: Tree) {
    tree.put("/file", "old").await;
    broken(&tree, "/file", body::whole("12345"), replace_with(6)).await;
}

async fn a_body_longer_than_announced_is_refused(tree: Tree) {
    tree.put("/file", "old").await;
    broken(&tree, "/file", body::whole("12345"), replace_with(4)).await;
}

async fn an_append_shorter_than_announced_is_refused(tree: Tree) {
    tree.put("/file", "old").await;
    let options = WriteOptions { length: Some(6), ..append() };
    broken(&tree, "/file", body::whole("12345"), options).await;
}

async fn an_append_longer_than_announced_is_refused(tree: Tree) {
    tree.put("/file", "old").await;
    let options = WriteOptions { length: Some(4), ..append() };
    broken(&tree, "/file", body::whole("12345"), options).await;
}

async fn a_body_that_breaks_off_makes_no_file(tree: Tree) {
    broken(&tree, "/file", body::breaking_off("start"), replace()).await;
}

async fn a_body_that_breaks_off_makes_no_parents(tree: Tree) {
    broken(&tree, "/a/b/file", body::breaking_off("start"), replace()).await;
}

async fn a_body_that_breaks_off_leaves_the_old_content(tree: Tree) {
    tree.put("/file", "old").await;
    broken(&tree, "/file", body::breaking_off("start"), replace()).await;
}

async fn a_body_that_breaks_off_makes_no_new_file(tree: Tree) {
    broken(&tree, "/file", body::breaking_off("start"), create_new()).await;
}

async fn an_append_that_breaks_off_leaves_the_old_content(tree: Tree) {
    tree.put("/file", "old").await;
    broken(&tree, "/file", body::breaking_off("start"), append()).await;
}

async fn a_body_that_breaks_off_at_once_changes_nothing(tree: Tree) {
    tree.put("/file", "old").await;
    broken(&tree, "/file", body::breaking_off(""), replace()).await;
}

async fn a_large_body_that_breaks_off_leaves_the_old_content(tree: Tree) {
    tree.put("/file", "old").await;
    broken(&tree, "/file", body::breaking_off(body::pattern(4 << 20)), replace()).await;
}

async fn a_write_after_a_broken_one_succeeds(tree: Tree) {
    broken(&tree, "/file", body::breaking_off("start"), replace()).await;
    tree.put("/file", "whole").await;
    assert_eq!(tree.text("/file").await, "whole");
}
