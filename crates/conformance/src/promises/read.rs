//! What reading a file gives.

use bytes::Bytes;
use engine::{Depth, EntryKind, ErrorKind, If, Span, Target};
use futures::StreamExt as _;

use crate::body::pattern;
use crate::promise::promises;
use crate::tree::{Tree, append, at, gather, refused};

promises! {
    a_file_reads_back_what_was_written;
    an_empty_file_reads_empty;
    every_byte_reads_back_as_it_is;
    a_large_file_reads_back_byte_for_byte;
    a_read_tells_what_file_it_opened;
    a_missing_file_is_not_read;
    a_directory_is_not_read;
    the_root_is_not_read;
    a_file_beneath_a_file_is_not_read;
    a_read_goes_on_with_the_old_content_when_the_file_is_replaced;
    a_read_goes_on_when_the_file_is_removed;
    a_read_goes_on_when_the_file_is_moved;
    a_read_ends_where_the_file_ended_when_it_was_opened;
    a_read_may_be_dropped_halfway;
    a_read_sees_the_write_before_it;
}

const LARGE: usize = 8 << 20;

async fn a_file_reads_back_what_was_written(tree: Tree) {
    tree.put("/file", "hello").await;
    assert_eq!(tree.text("/file").await, "hello");
}

async fn an_empty_file_reads_empty(tree: Tree) {
    tree.put("/file", "").await;
    assert_eq!(tree.text("/file").await, "");
}

async fn every_byte_reads_back_as_it_is(tree: Tree) {
    let bytes: Vec<u8> = (0..=255).collect();
    tree.put("/file", bytes.clone()).await;
    assert_eq!(tree.content("/file").await, bytes);
}

async fn a_large_file_reads_back_byte_for_byte(tree: Tree) {
    let bytes = pattern(LARGE + 1);
    tree.put("/file", bytes.clone()).await;
    assert!(tree.content("/file").await == bytes);
}

async fn a_read_tells_what_file_it_opened(tree: Tree) {
    tree.put("/file", "hello").await;
    let content = tree.read(&at("/file"), Span::Whole).await.unwrap();
    assert_eq!(content.range, 0..5);
    assert_eq!((content.entry.kind, content.entry.size), (EntryKind::File, 5));
    assert_eq!(content.entry.path, at("/file"));
    assert_eq!(content.entry.version, Some(tree.version("/file").await));
}

async fn a_missing_file_is_not_read(tree: Tree) {
    assert_eq!(refused(tree.read(&at("/missing"), Span::Whole).await), ErrorKind::NotFound);
}

async fn a_directory_is_not_read(tree: Tree) {
    tree.make_dir("/dir").await;
    assert_eq!(refused(tree.read(&at("/dir"), Span::Whole).await), ErrorKind::IsADirectory);
}

async fn the_root_is_not_read(tree: Tree) {
    assert_eq!(refused(tree.read(&at("/"), Span::Whole).await), ErrorKind::IsADirectory);
}

async fn a_file_beneath_a_file_is_not_read(tree: Tree) {
    tree.put("/file", "x").await;
    let outcome = tree.read(&at("/file/child"), Span::Whole).await;
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
}

/// Begins to read a large file, lets `meddle` happen, and reads on to the end.
async fn reading_while(tree: &Tree, meddle: impl Future<Output = ()>) -> Vec<u8> {
    let mut content = tree.read(&at("/file"), Span::Whole).await.unwrap();
    let mut bytes = content.body.next().await.unwrap().unwrap().to_vec();
    meddle.await;
    bytes.extend(gather(content.body).await.unwrap());
    bytes
}

async fn a_read_goes_on_with_the_old_content_when_the_file_is_replaced(tree: Tree) {
    let old = pattern(LARGE);
    tree.put("/file", old.clone()).await;
    let read = reading_while(&tree, async { drop(tree.put("/file", "new").await) }).await;
    assert!(read == old);
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_read_goes_on_when_the_file_is_removed(tree: Tree) {
    let old = pattern(LARGE);
    tree.put("/file", old.clone()).await;
    let removal = async { tree.remove(&at("/file"), Depth::One, If::Always).await.unwrap() };
    assert!(reading_while(&tree, removal).await == old);
}

async fn a_read_goes_on_when_the_file_is_moved(tree: Tree) {
    let old = pattern(LARGE);
    tree.put("/file", old.clone()).await;
    let moved = async {
        drop(tree.rename(&at("/file"), &at("/elsewhere/file"), Target::New).await.unwrap());
    };
    assert!(reading_while(&tree, moved).await == old);
}

async fn a_read_ends_where_the_file_ended_when_it_was_opened(tree: Tree) {
    let old = pattern(LARGE);
    tree.put("/file", old.clone()).await;
    let growth = async { drop(tree.try_put("/file", "more", append()).await.unwrap()) };
    assert!(reading_while(&tree, growth).await == old);
}

async fn a_read_may_be_dropped_halfway(tree: Tree) {
    tree.put("/file", pattern(LARGE)).await;
    let mut content = tree.read(&at("/file"), Span::Whole).await.unwrap();
    content.body.next().await.unwrap().unwrap();
    drop(content);
    tree.put("/file", "new").await;
    assert_eq!(tree.text("/file").await, "new");
}

async fn a_read_sees_the_write_before_it(tree: Tree) {
    for round in 0..50 {
        let text = Bytes::from(format!("round {round}"));
        tree.put("/file", text.clone()).await;
        assert_eq!(tree.content("/file").await, text);
    }
}
