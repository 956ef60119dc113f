//! Streams that hold only what another snapshot does not have.

use std::sync::Arc;

use sandkeep_engine::{
    Depth, ErrorKind, FileSystem as _, If, Limits, MetadataChange, Point, SandboxPath, SnapshotId,
    Store, Target, VirtualFs,
};

use super::travel::{
    at, doubled, exported, import, opened, point, seen, snapshot, snapshots, write, write_at,
};
use crate::contents::fill;
use crate::fixture::{id, memory, noise, stored};
use crate::meddling::Meddling;

/// A tree with a snapshot of it, here and there.
async fn shared(from: &VirtualFs, to: &VirtualFs) {
    write(from, "/log", noise(900_000)).await;
    write(from, "/gone", "gone").await;
    write(from, "/becomes-file/x", "x").await;
    write(from, "/becomes-dir", "y").await;
    for number in 0..100 {
        write(from, &format!("/old/sub/{number}"), noise(3000 + number)).await;
        write(from, &format!("/rest/{}/{number}", number % 7), noise(1000 + number)).await;
    }
    snapshot(from, "base").await;
    import(to, "base", &exported(from, point("base"), None).await).await.unwrap();
}

async fn changed(files: &VirtualFs) {
    write_at(files, "/log", 900_000, &noise(10_000)).await;
    write_at(files, "/log", 300_000, b"in the middle").await;
    files.remove(&at("/gone"), Depth::One, If::Always).await.unwrap();
    files.remove(&at("/becomes-file"), Depth::All, If::Always).await.unwrap();
    write(files, "/becomes-file", "a file").await;
    files.remove(&at("/becomes-dir"), Depth::All, If::Always).await.unwrap();
    write(files, "/becomes-dir/x", noise(2000)).await;
    files.rename(&at("/old/sub"), &at("/new"), Target::New).await.unwrap();
    write(files, "/new/7", "edited after the move").await;
    let change = MetadataChange { mode: Some(0o600), modified: None };
    files.set_metadata(&at("/rest/3/3"), change).await.unwrap();
    files.set_metadata(&at("/rest/4"), change).await.unwrap();
}

async fn catches_up(from: VirtualFs, to: VirtualFs) {
    shared(&from, &to).await;
    changed(&from).await;
    let stream = exported(&from, Point::Live, Some("base")).await;
    import(&to, "next", &stream).await.unwrap();
    assert_eq!(seen(&*opened(&to, "next").await).await, seen(&from).await);
    assert!(stream.len() < 40_000, "{} bytes", stream.len());
}

#[tokio::test]
async fn a_snapshot_and_what_changed_are_the_whole_from_memory_to_memory() {
    catches_up(memory().await, memory().await).await;
}

#[tokio::test]
async fn a_snapshot_and_what_changed_are_the_whole_from_memory_to_objects() {
    catches_up(memory().await, stored().await).await;
}

#[tokio::test]
async fn a_snapshot_and_what_changed_are_the_whole_from_objects_to_memory() {
    catches_up(stored().await, memory().await).await;
}

#[tokio::test]
async fn a_snapshot_and_what_changed_are_the_whole_from_objects_to_objects() {
    catches_up(stored().await, stored().await).await;
}

#[tokio::test]
async fn changes_travel_back_the_way_the_snapshot_came() {
    let (here, there) = (memory().await, stored().await);
    shared(&here, &there).await;
    let base = SnapshotId::parse("base").unwrap();
    there.snapshots().unwrap().restore(&base, &SandboxPath::root()).await.unwrap();
    changed(&there).await;
    let stream = exported(&there, Point::Live, Some("base")).await;
    import(&here, "back", &stream).await.unwrap();
    assert_eq!(seen(&*opened(&here, "back").await).await, seen(&there).await);
    assert!(stream.len() < 40_000, "{} bytes", stream.len());
}

#[tokio::test]
async fn a_chain_of_changes_can_be_followed_link_by_link() {
    let (from, to) = (memory().await, stored().await);
    shared(&from, &to).await;
    let mut last = "base".to_owned();
    for number in 0..5 {
        write(&from, &format!("/old/sub/{number}"), format!("change {number}")).await;
        let next = format!("link-{number}");
        snapshot(&from, &next).await;
        import(&to, &next, &exported(&from, point(&next), Some(&last)).await).await.unwrap();
        last = next;
    }
    assert_eq!(seen(&*opened(&to, &last).await).await, seen(&from).await);
}

#[tokio::test]
async fn nothing_changed_is_next_to_nothing() {
    let (from, to) = (memory().await, memory().await);
    shared(&from, &to).await;
    let stream = exported(&from, Point::Live, Some("base")).await;
    import(&to, "same", &stream).await.unwrap();
    assert_eq!(seen(&*opened(&to, "same").await).await, seen(&from).await);
    assert!(stream.len() < 300, "{} bytes", stream.len());
}

#[tokio::test]
async fn a_directory_that_moved_is_not_sent_again() {
    let (from, to) = (stored().await, stored().await);
    shared(&from, &to).await;
    from.rename(&at("/rest"), &at("/elsewhere"), Target::New).await.unwrap();
    let stream = exported(&from, Point::Live, Some("base")).await;
    import(&to, "moved", &stream).await.unwrap();
    assert_eq!(seen(&*opened(&to, "moved").await).await, seen(&from).await);
    assert!(stream.len() < 400, "{} bytes", stream.len());
}

#[tokio::test]
async fn bytes_that_shift_within_a_stored_file_are_not_sent_again() {
    let (from, to) = (stored().await, stored().await);
    shared(&from, &to).await;
    write(&from, "/log", [b"one line more".to_vec(), noise(900_000)].concat()).await;
    let stream = exported(&from, Point::Live, Some("base")).await;
    import(&to, "shifted", &stream).await.unwrap();
    assert_eq!(seen(&*opened(&to, "shifted").await).await, seen(&from).await);
    assert!(stream.len() < 300_000, "{} bytes", stream.len());
}

#[tokio::test]
async fn what_did_not_change_keeps_its_version() {
    let (from, to) = (memory().await, stored().await);
    shared(&from, &to).await;
    changed(&from).await;
    import(&to, "next", &exported(&from, Point::Live, Some("base")).await).await.unwrap();
    let (base, next) = (opened(&to, "base").await, opened(&to, "next").await);
    let version = async |files: &dyn sandkeep_engine::FileSystem, path| {
        files.stat(&at(path), sandkeep_engine::Links::Keep).await.unwrap().version
    };
    assert_eq!(version(&*base, "/rest/5/5").await, version(&*next, "/rest/5/5").await);
    assert_eq!(version(&*base, "/old/sub/8").await, version(&*next, "/new/8").await);
    assert_ne!(version(&*base, "/log").await, version(&*next, "/log").await);
    assert_ne!(version(&*base, "/rest/3/3").await, version(&*next, "/rest/3/3").await);
}

#[tokio::test]
async fn a_sandbox_without_the_snapshot_refuses_what_changed_since() {
    let (from, to) = (memory().await, memory().await);
    shared(&from, &memory().await).await;
    changed(&from).await;
    write(&to, "/gone", "something else").await;
    snapshot(&to, "base").await;
    let stream = exported(&from, Point::Live, Some("base")).await;
    let err = import(&to, "next", &stream).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::PreconditionFailed);
    assert!(err.message().contains("import that one first"), "{err}");
    assert_eq!(snapshots(&to).await, ["base"]);
}

#[tokio::test]
async fn one_change_among_many_costs_what_it_is() {
    let storage = Meddling::new();
    let store = Store::flushing(Arc::clone(&storage) as Arc<dyn storage::Storage>);
    let files = store.create(&id("trial"), Limits::default()).await.unwrap();
    fill(&files, 20_000, |number| format!("/{}/{}/{number}", number % 20, number % 400)).await;
    snapshot(&files, "base").await;
    write(&files, "/7/47/17447", noise(1000)).await;
    // Another server has nothing of the tree at hand.
    let there = Store::flushing(Arc::clone(&storage) as Arc<dyn storage::Storage>);
    let files = there.sandbox(&id("trial")).await.unwrap();
    storage.reads();
    let stream = exported(&files, Point::Live, Some("base")).await;
    assert!(stream.len() < 2000, "{} bytes", stream.len());
    import(&files, "next", &stream).await.unwrap();
    let reads = storage.reads();
    assert!(reads < 60, "{reads} objects were read");
    assert_eq!(seen(&*opened(&files, "next").await).await, seen(&files).await);
}

#[tokio::test]
async fn a_tree_that_copies_have_doubled_forty_times_goes_in_no_time() {
    let (from, to) = (memory().await, memory().await);
    doubled(&from, 40).await;
    snapshot(&from, "base").await;
    import(&to, "base", &exported(&from, point("base"), None).await).await.unwrap();
    from.rename(&at("/40/a"), &at("/moved"), Target::New).await.unwrap();
    from.remove(&at("/40"), Depth::All, If::Always).await.unwrap();
    let stream = exported(&from, Point::Live, Some("base")).await;
    let snapshot = import(&to, "next", &stream).await.unwrap();
    assert_eq!(snapshot.usage, from.usage().await.unwrap());
    assert!(stream.len() < 400, "{} bytes", stream.len());
}

#[tokio::test]
async fn a_state_that_only_looks_alike_is_no_base() {
    let (from, twin) = (memory().await, memory().await);
    for files in [&from, &twin] {
        write(files, "/file", noise(600)).await;
        snapshot(files, "base").await;
    }
    write(&from, "/file", "changed").await;
    let stream = exported(&from, Point::Live, Some("base")).await;
    let err = import(&twin, "next", &stream).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::PreconditionFailed);
}
