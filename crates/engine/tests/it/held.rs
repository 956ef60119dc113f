//! Trees in memory are changed in place while nobody holds them; whoever does sees nothing of it.

use futures::TryStreamExt as _;
use sandkeep_engine::{
    FileSystem, Limits, OpenOptions, Page, Point, SandboxId, Snapshots, Store, VirtualFs,
};

use crate::contents::{at, contents, is_there, read, sandbox, snapshot, write};

async fn tree() -> (Store, VirtualFs) {
    let store = Store::in_memory();
    let files = store.create(&sandbox("a"), Limits::default()).await.unwrap();
    for name in ["/dir/a", "/dir/m", "/dir/z", "/top"] {
        write(&files, name, name.as_bytes().to_vec()).await;
    }
    (store, files)
}

async fn add(files: &VirtualFs, round: &str) {
    for number in 0..200 {
        write(files, &format!("/dir/b-{round}-{number}"), "new").await;
        write(files, &format!("/new-{round}-{number}"), "new").await;
    }
}

#[tokio::test]
async fn a_snapshot_and_a_fork_do_not_see_files_that_are_made_later() {
    let (store, files) = tree().await;
    let before = contents(&files).await;
    let point = snapshot(&files, "before").await;
    add(&files, "1").await;
    let fork: SandboxId = sandbox("fork");
    files.fork(point.clone(), &fork, Limits::default()).await.unwrap();
    let fork = store.sandbox(&fork).await.unwrap();
    add(&files, "2").await;
    assert_eq!(contents(&fork).await, before);
    let Point::Snapshot(id) = point else { panic!("no snapshot") };
    assert_eq!(contents(&*Snapshots::open(&files, &id).await.unwrap()).await, before);
    // Nor does the tree see what is made in its fork.
    write(&fork, "/dir/b-fork", "fork").await;
    assert!(!is_there(&files, "/dir/b-fork").await);
    assert_eq!(contents(&files).await.len(), before.len() + 800);
}

#[tokio::test]
async fn a_listing_does_not_see_files_that_are_made_while_it_is_read() {
    let (_store, files) = tree().await;
    let mut listing = FileSystem::list(&files, &at("/dir"), Page::default()).await.unwrap();
    let mut names = vec![listing.try_next().await.unwrap().unwrap().path.name().to_owned()];
    add(&files, "1").await;
    while let Some(entry) = listing.try_next().await.unwrap() {
        names.push(entry.path.name().to_owned());
    }
    assert_eq!(names, ["a", "m", "z"]);
}

#[tokio::test]
async fn an_open_file_stays_what_it_is_while_files_are_made_beside_it() {
    let (_store, files) = tree().await;
    let open = FileSystem::open(&files, &at("/dir/m"), OpenOptions::Read).await.unwrap();
    add(&files, "1").await;
    assert_eq!(open.read_at(0, 100).await.unwrap(), b"/dir/m"[..]);
    assert_eq!(read(&files, &at("/dir/m")).await, b"/dir/m"[..]);
}
