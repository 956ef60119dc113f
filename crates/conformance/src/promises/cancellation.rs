//! Operations that are abandoned halfway: they happened whole, or not at all.

use bytes::Bytes;
use engine::{ArchiveFormat, ArchiveLimits, ErrorKind, Links, Target, WriteOptions};
use tokio::task::JoinHandle;

use crate::archive::Tar;
use crate::body::{pattern, stalling};
use crate::promise::promises;
use crate::tree::{Tree, append, at, create_new, replace};

promises! {
    an_abandoned_write_leaves_nothing;
    an_abandoned_write_leaves_no_parents;
    an_abandoned_new_file_leaves_nothing;
    an_abandoned_replacement_leaves_the_old_content;
    an_abandoned_append_leaves_the_old_content;
    an_abandoned_large_write_leaves_the_old_content;
    an_abandoned_write_keeps_nobody_waiting;
    a_stalled_write_keeps_nobody_waiting;
    a_stalled_write_is_not_seen;
    an_abandoned_unpacking_leaves_nothing;
    an_abandoned_copy_is_whole_or_nothing;
    an_abandoned_move_is_in_one_place;
    an_abandoned_write_counts_nothing needs Usage;
}

/// Begins to write, waits until the beginning was taken and more is asked for, and leaves it so.
async fn stalled(tree: &Tree, file: &str, start: Bytes, options: WriteOptions) -> JoinHandle<()> {
    let (body, more_wanted) = stalling(start);
    let (tree, file) = (tree.clone(), at(file));
    let write = tokio::spawn(async move { drop(tree.write(&file, body, options).await) });
    more_wanted.await.unwrap();
    write
}

/// Begins to write and then drops the future.
async fn abandoned(tree: &Tree, file: &str, start: Bytes, options: WriteOptions) {
    let write = stalled(tree, file, start, options).await;
    write.abort();
    assert!(write.await.unwrap_err().is_cancelled());
}

fn start() -> Bytes {
    Bytes::from_static(b"the start of a body")
}

async fn an_abandoned_write_leaves_nothing(tree: Tree) {
    abandoned(&tree, "/file", start(), replace()).await;
    assert!(tree.names("/").await.is_empty());
}

async fn an_abandoned_write_leaves_no_parents(tree: Tree) {
    abandoned(&tree, "/a/b/file", start(), replace()).await;
    assert!(tree.names("/").await.is_empty());
}

async fn an_abandoned_new_file_leaves_nothing(tree: Tree) {
    abandoned(&tree, "/file", start(), create_new()).await;
    assert!(tree.names("/").await.is_empty());
    tree.try_put("/file", "new", create_new()).await.unwrap();
}

async fn an_abandoned_replacement_leaves_the_old_content(tree: Tree) {
    tree.put("/dir/file", "old").await;
    abandoned(&tree, "/dir/file", start(), replace()).await;
    assert_eq!(tree.text("/dir/file").await, "old");
    assert_eq!(tree.names("/dir").await, ["file"]);
}

async fn an_abandoned_append_leaves_the_old_content(tree: Tree) {
    tree.put("/file", "old").await;
    abandoned(&tree, "/file", start(), append()).await;
    assert_eq!(tree.text("/file").await, "old");
}

async fn an_abandoned_large_write_leaves_the_old_content(tree: Tree) {
    tree.put("/file", "old").await;
    abandoned(&tree, "/file", pattern(4 << 20), replace()).await;
    assert_eq!(tree.text("/file").await, "old");
    assert_eq!(tree.names("/").await, ["file"]);
}

async fn an_abandoned_write_keeps_nobody_waiting(tree: Tree) {
    for options in [replace(), create_new(), append()] {
        abandoned(&tree, "/file", start(), options).await;
    }
    tree.try_put("/file", "one", create_new()).await.unwrap();
    tree.try_put("/file", " two", append()).await.unwrap();
    assert_eq!(tree.text("/file").await, "one two");
}

async fn a_stalled_write_keeps_nobody_waiting(tree: Tree) {
    tree.put("/file", "old").await;
    let mut writes = Vec::new();
    for options in [replace(), append(), replace(), append()] {
        writes.push(stalled(&tree, "/file", start(), options).await);
    }
    tree.put("/file", "one").await;
    tree.try_put("/file", " two", append()).await.unwrap();
    assert_eq!(tree.text("/file").await, "one two");
    writes.iter().for_each(JoinHandle::abort);
}

async fn a_stalled_write_is_not_seen(tree: Tree) {
    tree.put("/dir/file", "old").await;
    let before = (tree.picture().await, tree.version("/dir/file").await);
    let replacement = stalled(&tree, "/dir/file", start(), replace()).await;
    let creation = stalled(&tree, "/dir/new", start(), create_new()).await;
    assert_eq!((tree.picture().await, tree.version("/dir/file").await), before);
    replacement.abort();
    creation.abort();
}

async fn an_abandoned_unpacking_leaves_nothing(tree: Tree) {
    let archive = Tar::new().file("one", "first").file("two", &"x".repeat(5000)).bytes();
    let (body, more_wanted) = stalling(archive[..3000].to_vec());
    let files = tree.clone();
    let unpacking = tokio::spawn(async move {
        drop(files.unpack(&at("/to"), body, ArchiveFormat::Tar, ArchiveLimits::default()).await);
    });
    more_wanted.await.unwrap();
    unpacking.abort();
    assert!(unpacking.await.unwrap_err().is_cancelled());
    assert!(tree.names("/").await.is_empty());
}

/// Lets an operation begin and drops it, a little later each round.
async fn interrupted(round: usize, operation: impl Future<Output = ()> + Send + 'static) {
    let task = tokio::spawn(operation);
    for _ in 0..round * 5 {
        tokio::task::yield_now().await;
    }
    task.abort();
    // Whether it was in time does not matter.
    drop(task.await);
}

async fn an_abandoned_copy_is_whole_or_nothing(tree: Tree) {
    for n in 0..20 {
        tree.put(&format!("/from/{n:02}"), "content").await;
    }
    let expected = tree.names("/from").await;
    for round in 0..20 {
        let (files, to) = (tree.clone(), format!("/to-{round}"));
        let copy = at(&to);
        interrupted(round, async move {
            files.copy(&at("/from"), &copy, Target::New).await.unwrap();
        })
        .await;
        // It may still happen, but only whole.
        for _ in 0..20 {
            match tree.list(&at(&to), engine::Page::default()).await.map(drop) {
                Err(err) => assert_eq!(err.kind(), ErrorKind::NotFound),
                Ok(()) => assert_eq!(tree.names(&to).await, expected),
            }
        }
    }
}

async fn an_abandoned_move_is_in_one_place(tree: Tree) {
    for round in 0..20 {
        let (from, to) = (format!("/from-{round}"), format!("/to-{round}"));
        tree.put(&format!("{from}/file"), "content").await;
        let (files, source, destination) = (tree.clone(), at(&from), at(&to));
        interrupted(round, async move {
            files.rename(&source, &destination, Target::New).await.unwrap();
        })
        .await;
        // It may still happen, but only from here to there: whoever finds the one name gone must
        // find the other, and never both.
        let gone = tree.stat(&at(&from), Links::Follow).await.is_err();
        let there = tree.stat(&at(&to), Links::Follow).await.is_ok();
        let gone_at_last = tree.stat(&at(&from), Links::Follow).await.is_err();
        assert!(there || !gone, "round {round}: it is nowhere");
        assert!(gone_at_last || !there, "round {round}: it is in two places");
    }
}

async fn an_abandoned_write_counts_nothing(tree: Tree) {
    tree.put("/file", "old").await;
    let before = tree.usage().await.unwrap();
    abandoned(&tree, "/file", start(), replace()).await;
    abandoned(&tree, "/a/b/new", start(), replace()).await;
    assert_eq!(tree.usage().await.unwrap(), before);
}
