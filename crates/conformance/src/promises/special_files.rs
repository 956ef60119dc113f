//! FIFOs, which stand for sockets and devices too: seen and removed, never opened.

use engine::{Create, Depth, EntryKind, ErrorKind, If, Links, OpenOptions, Page, Span, Target};

use crate::promise::promises;
use crate::tree::{Tree, append, at, refused, replace};

promises! {
    a_fifo_is_listed needs Fifos;
    a_fifo_is_told_from_a_file needs Fifos, DetailedListings, Links;
    a_fifo_is_not_read needs Fifos;
    a_fifo_is_not_written needs Fifos;
    a_fifo_is_not_opened needs Fifos;
    a_fifo_is_no_directory needs Fifos;
    a_fifo_can_be_moved needs Fifos;
    a_fifo_can_be_replaced_by_a_move needs Fifos;
    a_fifo_can_be_removed needs Fifos;
    a_directory_that_holds_a_fifo_can_be_removed needs Fifos;
}

async fn a_fifo_is_listed(tree: Tree) {
    tree.fifo("/fifo");
    assert_eq!(tree.names("/").await, ["fifo"]);
    assert_ne!(tree.entry("/fifo").await.kind, EntryKind::Directory);
}

async fn a_fifo_is_told_from_a_file(tree: Tree) {
    tree.fifo("/fifo");
    assert_eq!(tree.entry("/fifo").await.kind, EntryKind::Special);
    assert_eq!(tree.stat(&at("/fifo"), Links::Keep).await.unwrap().kind, EntryKind::Special);
    assert_eq!(tree.page("/", Page::default()).await[0].kind, EntryKind::Special);
}

async fn a_fifo_is_not_read(tree: Tree) {
    tree.fifo("/fifo");
    assert_eq!(refused(tree.read(&at("/fifo"), Span::Whole).await), ErrorKind::NotAFile);
    assert_eq!(refused(tree.read(&at("/fifo"), Span::Last(1)).await), ErrorKind::NotAFile);
}

async fn a_fifo_is_not_written(tree: Tree) {
    tree.fifo("/fifo");
    assert_eq!(refused(tree.try_put("/fifo", "x", replace()).await), ErrorKind::NotAFile);
    assert_eq!(refused(tree.try_put("/fifo", "x", append()).await), ErrorKind::NotAFile);
    assert_eq!(refused(tree.read(&at("/fifo"), Span::Whole).await), ErrorKind::NotAFile);
}

async fn a_fifo_is_not_opened(tree: Tree) {
    tree.fifo("/fifo");
    for options in [OpenOptions::Read, OpenOptions::Write(Create::IfMissing)] {
        assert_eq!(refused(tree.open(&at("/fifo"), options).await), ErrorKind::NotAFile);
    }
}

async fn a_fifo_is_no_directory(tree: Tree) {
    tree.fifo("/fifo");
    let outcome = tree.list(&at("/fifo"), Page::default()).await.map(drop);
    assert_eq!(refused(outcome), ErrorKind::NotADirectory);
    assert_eq!(tree.absence("/fifo/child").await, ErrorKind::NotADirectory);
}

async fn a_fifo_can_be_moved(tree: Tree) {
    tree.fifo("/fifo");
    tree.rename(&at("/fifo"), &at("/dir/moved"), Target::New).await.unwrap();
    assert_eq!(tree.names("/dir").await, ["moved"]);
}

async fn a_fifo_can_be_replaced_by_a_move(tree: Tree) {
    tree.fifo("/fifo");
    tree.put("/file", "content").await;
    tree.rename(&at("/file"), &at("/fifo"), Target::Replace).await.unwrap();
    assert_eq!(tree.text("/fifo").await, "content");
}

async fn a_fifo_can_be_removed(tree: Tree) {
    tree.fifo("/fifo");
    tree.remove(&at("/fifo"), Depth::One, If::Always).await.unwrap();
    assert!(tree.names("/").await.is_empty());
}

async fn a_directory_that_holds_a_fifo_can_be_removed(tree: Tree) {
    tree.make_dir("/dir/sub").await;
    tree.fifo("/dir/sub/fifo");
    tree.remove(&at("/dir"), Depth::All, If::Always).await.unwrap();
    assert!(tree.names("/").await.is_empty());
}
