//! Readers while others change what they read: always the old or the new, never neither.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Depth, ErrorKind, If, Links, Page, Target};
use futures::TryStreamExt as _;
use tokio::task::JoinHandle;

use crate::promise::promises;
use crate::tree::{Tree, append, at, replace};

promises! {
    a_reader_never_sees_a_torn_file;
    a_file_is_never_missing_while_it_is_replaced;
    a_file_is_never_missing_while_another_is_moved_onto_it;
    a_directory_is_never_missing_while_another_is_moved_onto_it;
    a_reader_of_an_appended_file_sees_a_beginning_of_it;
    a_listing_shows_what_stays_while_others_come_and_go;
    a_listing_never_fails_because_a_child_vanished;
    a_version_and_a_content_belong_together;
    a_write_into_a_directory_that_is_removed_succeeds_or_is_refused;
}

/// Something that goes on until it is told to stop.
struct Background {
    stop: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Background {
    fn run<F>(tree: &Tree, step: impl Fn(Tree, usize) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send,
    {
        let (tree, stop) = (tree.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            let mut round = 0;
            while !stopped.load(Ordering::Relaxed) {
                step(tree.clone(), round).await;
                round += 1;
            }
        });
        Self { stop, task }
    }

    async fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.unwrap();
    }
}

async fn a_reader_never_sees_a_torn_file(tree: Tree) {
    let content = |round: usize| vec![b'a' + (round % 20) as u8; 100_000 + round % 20];
    tree.put("/file", content(0)).await;
    let writer = Background::run(&tree, move |tree, round| async move {
        tree.put("/file", content(round)).await;
    });
    for _ in 0..200 {
        let seen = tree.content("/file").await;
        assert_eq!(seen, content(usize::from(seen[0] - b'a')));
    }
    writer.stop().await;
}

async fn a_file_is_never_missing_while_it_is_replaced(tree: Tree) {
    tree.put("/dir/file", "x").await;
    let writer = Background::run(&tree, |tree, _| async move {
        tree.put("/dir/file", "x").await;
    });
    for _ in 0..300 {
        assert_eq!(tree.text("/dir/file").await, "x");
        assert_eq!(tree.names("/dir").await, ["file"]);
    }
    writer.stop().await;
}

async fn a_file_is_never_missing_while_another_is_moved_onto_it(tree: Tree) {
    tree.put("/file", "0").await;
    let mover = Background::run(&tree, |tree, round| async move {
        tree.put("/next", round.to_string()).await;
        tree.rename(&at("/next"), &at("/file"), Target::Replace).await.unwrap();
    });
    for _ in 0..300 {
        tree.text("/file").await.parse::<usize>().unwrap();
    }
    mover.stop().await;
}

async fn a_directory_is_never_missing_while_another_is_moved_onto_it(tree: Tree) {
    tree.put("/dir/file", "0").await;
    let mover = Background::run(&tree, |tree, round| async move {
        tree.put("/next/file", round.to_string()).await;
        tree.rename(&at("/next"), &at("/dir"), Target::Replace).await.unwrap();
    });
    for _ in 0..300 {
        tree.stat(&at("/dir"), Links::Follow).await.unwrap();
    }
    mover.stop().await;
}

async fn a_reader_of_an_appended_file_sees_a_beginning_of_it(tree: Tree) {
    let line = "0123456789\n";
    tree.put("/log", line).await;
    let writer = Background::run(&tree, move |tree, _| async move {
        tree.try_put("/log", line, append()).await.unwrap();
    });
    for _ in 0..200 {
        let seen = tree.text("/log").await;
        assert!(line.repeat(seen.len() / line.len() + 1).starts_with(&seen));
    }
    writer.stop().await;
}

async fn a_listing_shows_what_stays_while_others_come_and_go(tree: Tree) {
    for n in 0..50 {
        tree.put(&format!("/dir/stays-{n}"), "").await;
    }
    let churn = Background::run(&tree, |tree, round| async move {
        let passing = format!("/dir/{round}-passes");
        tree.put(&passing, "").await;
        tree.remove(&at(&passing), Depth::One, If::Always).await.unwrap();
    });
    for _ in 0..100 {
        let names = tree.names("/dir").await;
        assert_eq!(names.iter().filter(|name| name.starts_with("stays-")).count(), 50);
        assert!(names.is_sorted());
    }
    churn.stop().await;
}

async fn a_listing_never_fails_because_a_child_vanished(tree: Tree) {
    let churn = Background::run(&tree, |tree, _| async move {
        for n in 0..20 {
            tree.put(&format!("/dir/{n}"), "").await;
        }
        for n in 0..20 {
            tree.remove(&at(&format!("/dir/{n}")), Depth::One, If::Always).await.unwrap();
        }
    });
    for _ in 0..200 {
        tree.make_dir("/dir").await;
        let listing = tree.list(&at("/dir"), Page::default()).await.unwrap();
        listing.try_collect::<Vec<_>>().await.unwrap();
    }
    churn.stop().await;
}

async fn a_version_and_a_content_belong_together(tree: Tree) {
    tree.put("/file", "0").await;
    let writer = Background::run(&tree, |tree, round| async move {
        tree.put("/file", round.to_string()).await;
    });
    let mut seen = std::collections::HashMap::new();
    for _ in 0..200 {
        let content = tree.read(&at("/file"), engine::Span::Whole).await.unwrap();
        let version = content.entry.version.clone().unwrap();
        let bytes = crate::tree::gather(content.body).await.unwrap();
        assert_eq!(bytes.len() as u64, content.entry.size);
        assert_eq!(*seen.entry(version).or_insert_with(|| bytes.clone()), bytes);
    }
    writer.stop().await;
}

async fn a_write_into_a_directory_that_is_removed_succeeds_or_is_refused(tree: Tree) {
    let remover = Background::run(&tree, |tree, _| async move {
        match tree.remove(&at("/dir"), Depth::All, If::Always).await.map_err(|err| err.kind()) {
            // A removal may also find that the directory filled up again behind its back.
            Ok(()) | Err(ErrorKind::NotFound | ErrorKind::Busy | ErrorKind::DirectoryNotEmpty) => {}
            Err(kind) => panic!("the removal failed with {kind:?}"),
        }
    });
    for _ in 0..200 {
        let outcome = tree.try_put("/dir/sub/file", "x", replace()).await;
        match outcome.map_err(|err| err.kind()) {
            Ok(_) | Err(ErrorKind::NotFound | ErrorKind::Busy) => {}
            Err(kind) => panic!("the write failed with {kind:?}"),
        }
    }
    remover.stop().await;
    tree.put("/dir/sub/file", "last").await;
    assert_eq!(tree.text("/dir/sub/file").await, "last");
}
