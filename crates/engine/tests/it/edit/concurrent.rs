//! Others who change the file meanwhile.

#![expect(clippy::disallowed_methods, reason = "some of them do so without asking anybody")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _};
use sandkeep_engine::{
    Durability, Edit, ErrorKind, FileSystem, HostFs, HostOptions, If, Limits, Links, Mounts, Span,
    edit,
};

use super::instead;
use crate::contents::{at, read, write};
use crate::fixture::{memory, refusal};

async fn trees() -> (Vec<Arc<dyn FileSystem>>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: Vec::new(),
    };
    let host = HostFs::open(dir.path(), options).unwrap();
    (vec![Arc::new(memory().await), Arc::new(host)], dir)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_edit_is_lost_among_many() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        let words = |number| format!("<{number}>\n");
        let content: String = (0..8).map(words).collect();
        write(&**files, "/f", content).await;
        let edits = (0..8).map(|number| {
            let files = Arc::clone(files);
            tokio::spawn(async move {
                let wish = instead(&format!("<{number}>"), &format!("[{number}]"));
                // Whoever lost too often says so, and nothing of it happened.
                while let Err(err) = edit(&*files, &at("/f"), wish.clone()).await {
                    assert_eq!(err.kind(), ErrorKind::Busy);
                }
            })
        });
        for edit in edits.collect::<Vec<_>>() {
            edit.await.unwrap();
        }
        let expected: String = (0..8).map(|number| format!("[{number}]\n")).collect();
        assert_eq!(read(&**files, &at("/f")).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_others_write_meanwhile_is_kept() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        write(&**files, "/f", "old\n").await;
        let others = Arc::clone(files);
        let appending = tokio::spawn(async move {
            for number in 0..200 {
                let body = futures::stream::iter([Ok(format!("{number}\n").into())]);
                let options = sandkeep_engine::WriteOptions {
                    mode: sandkeep_engine::WriteMode::Append,
                    ..crate::contents::replacing()
                };
                others.write(&at("/f"), Box::pin(body), options).await.unwrap();
            }
        });
        let mut word = 0;
        let mut edits = 0;
        while !appending.is_finished() || edits == 0 {
            let old = if word == 0 { "old".to_owned() } else { format!("word {word}\n") };
            let new = if word == 0 { "word 1".to_owned() } else { format!("word {}\n", word + 1) };
            match edit(&**files, &at("/f"), instead(&old, &new)).await {
                Ok(_) => (word, edits) = (word + 1, edits + 1),
                Err(err) => assert_eq!(err.kind(), ErrorKind::Busy, "{err}"),
            }
        }
        appending.await.unwrap();
        let content = read(&**files, &at("/f")).await;
        let content = std::str::from_utf8(&content).unwrap();
        let lines: BTreeSet<&str> = content.lines().collect();
        assert!(lines.contains(&*format!("word {word}")), "{content}");
        assert_eq!(lines.len(), 201, "{content}");
    }
}

fn shorten(file: &Path) {
    std::fs::OpenOptions::new().write(true).open(file).unwrap().set_len(10).unwrap();
}

/// Code in the sandbox may shorten a file at any moment, which is not the server's failure.
#[tokio::test]
async fn a_file_that_others_shorten_while_it_is_read_is_busy() {
    let (trees, dir) = trees().await;
    let host = trees.last().unwrap();
    write(&**host, "/f", "x".repeat(1 << 20)).await;
    let mut body = host.read(&at("/f"), Span::Whole).await.unwrap().body;
    body.next().await.unwrap().unwrap();
    shorten(&dir.path().join("f"));
    let broken = body.try_collect::<Vec<_>>().await.unwrap_err();
    assert_eq!(broken.kind(), ErrorKind::Busy, "{broken}");
}

/// However often it is tried, an edit finds a whole file or says that it found none.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_edit_of_a_file_that_others_shorten_is_made_anew() {
    let (trees, dir) = trees().await;
    let host = trees.last().unwrap();
    let content = format!("old{}", "x".repeat(1 << 20));
    write(&**host, "/f", content.clone()).await;
    let path = dir.path().join("f");
    let shortening = std::thread::spawn(move || {
        for _ in 0..200 {
            shorten(&path);
            std::fs::write(&path, &content).unwrap();
        }
    });
    let dry = Edit { dry_run: true, ..instead("old", "new") };
    while !shortening.is_finished() {
        if let Err(err) = edit(&**host, &at("/f"), dry.clone()).await {
            let kinds = [ErrorKind::Busy, ErrorKind::PreconditionFailed];
            assert!(kinds.contains(&err.kind()), "{err}");
        }
    }
    shortening.join().unwrap();
}

#[tokio::test]
async fn an_edit_of_another_version_than_expected_is_refused() {
    let (trees, _dir) = trees().await;
    for files in &trees {
        write(&**files, "/f", "old").await;
        let version = files.stat(&at("/f"), Links::Follow).await.unwrap().version.unwrap();
        write(&**files, "/f", "old, too").await;
        let expecting = |expected| Edit { expected, ..instead("old", "new") };
        let stale = If::Matches(vec![version]);
        let refused = refusal(edit(&**files, &at("/f"), expecting(stale.clone()))).await;
        assert_eq!(refused, ErrorKind::PreconditionFailed);
        let dry = Edit { dry_run: true, ..expecting(stale) };
        assert_eq!(refusal(edit(&**files, &at("/f"), dry)).await, ErrorKind::PreconditionFailed);
        let version = files.stat(&at("/f"), Links::Follow).await.unwrap().version.unwrap();
        edit(&**files, &at("/f"), expecting(If::Matches(vec![version]))).await.unwrap();
        assert_eq!(read(&**files, &at("/f")).await, "new, too");
    }
}
