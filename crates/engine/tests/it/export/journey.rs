//! A state is the same wherever it arrives.

use std::time::Instant;

use futures::{FutureExt as _, StreamExt as _, stream};
use sandkeep_engine::{
    Error, ErrorKind, FileSystem as _, Limits, Links, MetadataChange, NewSnapshot, OpenOptions,
    Parents, Point, SandboxPath, Store, Target, UnixTime, VirtualFs,
};

use super::travel::{
    at, doubled, exported, import, opened, point, seen, snapshots, write, write_at,
};
use crate::fixture::{id, memory, noise, stored};

/// A tree with a bit of everything.
async fn filled(files: &VirtualFs) {
    write(files, "/empty", "").await;
    write(files, "/small", "a few bytes").await;
    write(files, "/dir/inline", vec![7; 512]).await;
    write(files, "/dir/chunk", vec![7; 513]).await;
    write(files, "/dir/deeper/large", noise(700_000)).await;
    write_at(files, "/sparse", 3_000_000, b"end").await;
    write_at(files, "/sparse", 1_000_000, &noise(5000)).await;
    files.symlink(&at("/link"), "dir/../small").await.unwrap();
    files.create_dir(&at("/void"), Parents::Require).await.unwrap();
    write(files, "/name \u{10FE80}é\n", "not UTF-8").await;
    let modified = Some(UnixTime { seconds: -5, nanoseconds: 999_999_999 });
    let change = MetadataChange { mode: Some(0o401), modified };
    files.set_metadata(&at("/small"), change).await.unwrap();
    files.copy(&at("/dir"), &at("/copy"), Target::New).await.unwrap();
    files.copy(&at("/dir/deeper/large"), &at("/again"), Target::New).await.unwrap();
}

async fn travels(from: VirtualFs, to: VirtualFs) {
    filled(&from).await;
    let stream = exported(&from, Point::Live, None).await;
    let snapshot = import(&to, "arrived", &stream).await.unwrap();
    assert_eq!(seen(&*opened(&to, "arrived").await).await, seen(&from).await);
    assert_eq!(snapshot.usage, from.usage().await.unwrap());
}

async fn in_files(dir: &tempfile::TempDir) -> VirtualFs {
    let store = Store::open(&format!("file:{}", dir.path().display())).await.unwrap();
    store.create(&id("trial"), Limits::default()).await.unwrap()
}

#[tokio::test]
async fn a_state_travels_from_memory_to_memory() {
    travels(memory().await, memory().await).await;
}

#[tokio::test]
async fn a_state_travels_from_memory_to_objects() {
    travels(memory().await, stored().await).await;
}

#[tokio::test]
async fn a_state_travels_from_objects_to_memory() {
    travels(stored().await, memory().await).await;
}

#[tokio::test]
async fn a_state_travels_from_objects_to_objects() {
    travels(stored().await, stored().await).await;
}

#[tokio::test]
async fn a_state_travels_from_memory_to_files_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to, back) = (memory().await, in_files(&dir).await, memory().await);
    filled(&from).await;
    import(&to, "there", &exported(&from, Point::Live, None).await).await.unwrap();
    import(&back, "back", &exported(&to, point("there"), None).await).await.unwrap();
    assert_eq!(seen(&*opened(&back, "back").await).await, seen(&from).await);
}

#[tokio::test]
async fn an_empty_tree_travels() {
    let (from, to) = (memory().await, stored().await);
    import(&to, "empty", &exported(&from, Point::Live, None).await).await.unwrap();
    assert_eq!(seen(&*opened(&to, "empty").await).await, seen(&from).await);
}

#[tokio::test]
async fn a_stream_is_the_same_after_any_number_of_journeys() {
    let (from, to) = (memory().await, memory().await);
    filled(&from).await;
    let stream = exported(&from, Point::Live, None).await;
    import(&to, "once", &stream).await.unwrap();
    assert_eq!(exported(&to, point("once"), None).await, stream);
}

#[tokio::test]
async fn copies_are_sent_once() {
    let files = memory().await;
    for number in 0..50 {
        write(&files, &format!("/dir/{number}"), noise(20_000 + number)).await;
    }
    let alone = exported(&files, Point::Live, None).await.len();
    files.copy(&at("/dir"), &at("/copy"), Target::New).await.unwrap();
    files.copy(&at("/dir/7"), &at("/file"), Target::New).await.unwrap();
    let stream = exported(&files, Point::Live, None).await;
    assert!(stream.len() < alone + 200, "{} bytes after {alone}", stream.len());
}

#[tokio::test]
async fn a_tree_that_copies_have_doubled_forty_times_travels_in_no_time() {
    let (from, to) = (memory().await, stored().await);
    doubled(&from, 40).await;
    let began = Instant::now();
    let stream = exported(&from, Point::Live, None).await;
    let snapshot = import(&to, "doubled", &stream).await.unwrap();
    assert_eq!(snapshot.usage.files, 1 << 40);
    assert!(stream.len() < 4096 && began.elapsed().as_secs() < 5);
}

#[tokio::test]
async fn a_gibibyte_of_holes_costs_nothing() {
    let (from, to) = (memory().await, stored().await);
    let options = OpenOptions::Write(sandkeep_engine::Create::New);
    from.open(&at("/holes"), options).await.unwrap().set_len(1 << 30).await.unwrap();
    let stream = exported(&from, Point::Live, None).await;
    let snapshot = import(&to, "holes", &stream).await.unwrap();
    assert!(stream.len() < 400, "{} bytes", stream.len());
    assert_eq!(snapshot.usage.bytes, 1 << 30);
}

#[tokio::test]
async fn a_file_of_crumbs_arrives_whole() {
    let (from, to) = (memory().await, memory().await);
    for offset in (0..40_000).step_by(200) {
        write_at(&from, "/crumbs", offset, &noise(3)).await;
    }
    write_at(&from, "/crumbs", 90_000, &noise(70_000)).await;
    write_at(&from, "/crumbs", 160_000, b"tail").await;
    let stream = exported(&from, Point::Live, None).await;
    import(&to, "whole", &stream).await.unwrap();
    assert_eq!(seen(&*opened(&to, "whole").await).await, seen(&from).await);
}

#[tokio::test]
async fn overwritten_bytes_do_not_travel() {
    let files = memory().await;
    let secret = noise(100_000);
    write(&files, "/file", secret.clone()).await;
    write_at(&files, "/file", 1000, &vec![b'x'; 98_000]).await;
    let stream = exported(&files, Point::Live, None).await;
    let holds = |part: &[u8]| stream.windows(part.len()).any(|window| window == part);
    assert!(holds(&secret[99_500..99_600]), "what is left of the chunk is sent as it is");
    assert!(!holds(&secret[50_000..50_100]), "what was overwritten is not sent");
}

#[tokio::test]
async fn a_tree_as_deep_as_can_be_travels() {
    let (from, to) = (memory().await, stored().await);
    let upper = at(&"/d".repeat(1024));
    from.create_dir(&upper, Parents::Create).await.unwrap();
    from.create_dir(&at(&"/e".repeat(1024)), Parents::Create).await.unwrap();
    from.rename(&at("/e"), &upper.join("e").unwrap(), Target::New).await.unwrap();
    let stream = exported(&from, Point::Live, None).await;
    let snapshot = import(&to, "deep", &stream).await.unwrap();
    assert_eq!(snapshot.usage.directories, 2049);
}

#[tokio::test]
async fn what_arrives_can_be_restored_forked_and_changed() {
    let (from, store) = (memory().await, Store::in_memory());
    filled(&from).await;
    let to = store.create(&id("trial"), Limits::default()).await.unwrap();
    import(&to, "arrived", &exported(&from, Point::Live, None).await).await.unwrap();
    let snapshots = to.snapshots().unwrap();
    let arrived = sandkeep_engine::SnapshotId::parse("arrived").unwrap();
    snapshots.restore(&arrived, &SandboxPath::root()).await.unwrap();
    snapshots.fork(point("arrived"), &id("fork"), Limits::default()).await.unwrap();
    let fork = store.sandbox(&id("fork")).await.unwrap();
    write(&fork, "/dir/chunk", "changed").await;
    assert_eq!(to.usage().await.unwrap(), from.usage().await.unwrap());
    assert_eq!(fork.stat(&at("/dir/chunk"), Links::Keep).await.unwrap().size, 7);
}

#[tokio::test]
async fn no_version_arrives_twice() {
    let files = stored().await;
    write(&files, "/a", "one").await;
    write(&files, "/b", "two").await;
    let stream = exported(&files, Point::Live, None).await;
    let mut versions = Vec::new();
    for (id, path) in [("x", "/a"), ("x", "/b"), ("y", "/a"), ("y", "/b")] {
        if !snapshots(&files).await.contains(&id.to_owned()) {
            import(&files, id, &stream).await.unwrap();
        }
        let entry = opened(&files, id).await.stat(&at(path), Links::Keep).await.unwrap();
        versions.push(entry.version.unwrap().to_string());
    }
    versions.push(files.stat(&at("/a"), Links::Keep).await.unwrap().version.unwrap().to_string());
    versions.sort();
    versions.dedup();
    assert_eq!(versions.len(), 5);
}

#[tokio::test]
async fn an_export_that_nobody_reads_to_its_end_leaves_the_tree_as_it_is() {
    let files = stored().await;
    filled(&files).await;
    let before = seen(&files).await;
    let mut stream = files.snapshots().unwrap().export(Point::Live, None).await.unwrap();
    stream.next().await.unwrap().unwrap();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    assert_eq!(seen(&files).await, before);
}

#[tokio::test]
async fn an_import_that_nobody_waits_for_leaves_nothing() {
    let (from, to) = (memory().await, stored().await);
    filled(&from).await;
    let bytes = exported(&from, Point::Live, None).await;
    let pieces: Vec<_> =
        bytes[..bytes.len() - 1].chunks(5000).map(|piece| Ok(piece.to_vec().into())).collect();
    let endless = stream::iter(pieces).chain(stream::pending()).boxed();
    let mut import = to.snapshots().unwrap().import(endless, NewSnapshot::default()).boxed();
    let waited = tokio::time::timeout(std::time::Duration::from_millis(300), &mut import).await;
    assert!(waited.is_err(), "it waits for the last byte");
    drop(import);
    assert!(snapshots(&to).await.is_empty());
}

#[tokio::test]
async fn a_body_that_breaks_off_is_told_as_such() {
    let (from, to) = (memory().await, memory().await);
    filled(&from).await;
    let bytes = exported(&from, Point::Live, None).await;
    let err = Error::new(ErrorKind::BrokenBody, "the body broke off");
    let broken = stream::iter([Ok(bytes[..400].to_vec().into()), Err(err)]).boxed();
    let outcome = to.snapshots().unwrap().import(broken, NewSnapshot::default()).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::BrokenBody);
    assert!(snapshots(&to).await.is_empty());
}
