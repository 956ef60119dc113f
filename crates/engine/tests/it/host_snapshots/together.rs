//! Snapshots of directories beside virtual trees: compared, forked, carried elsewhere.

use std::fs;

use futures::{StreamExt as _, TryStreamExt as _};
use sandkeep_engine::{
    DifferenceKind, ErrorKind, FileSystem as _, If, Limits, NewSnapshot, Parents, Point, SandboxId,
    SandboxPath, Snapshots as _, Store, WriteMode, WriteOptions,
};

use super::{World, bytes, path, snapshot};

fn at(name: &str) -> Point {
    Point::Snapshot(snapshot(name))
}

async fn differences(world: &World, from: Point, to: Point) -> Vec<(String, DifferenceKind)> {
    let found = world.snapshots().diff(from, to).await.unwrap();
    let told = found.map_ok(|difference| (difference.path.to_string(), difference.kind));
    told.try_collect().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_is_compared_with_another_and_with_the_directory_as_it_is() {
    let world = World::new();
    for name in ["kept", "changed", "removed"] {
        world.write(name, "one");
    }
    world.take("one").await;
    world.write("changed", "two");
    fs::remove_file(world.root.join("removed")).unwrap();
    world.take("two").await;
    world.write("added", "three");

    use DifferenceKind::{Added, Modified, Removed};
    let first = vec![("/changed".to_owned(), Modified), ("/removed".to_owned(), Removed)];
    assert_eq!(differences(&world, at("one"), at("two")).await, first);
    let second = vec![("/added".to_owned(), Added)];
    assert_eq!(differences(&world, at("two"), Point::Live).await, second);
    assert_eq!(differences(&world, Point::Live, Point::Live).await, []);
    world.restore("one").await.unwrap();
    assert_eq!(differences(&world, at("one"), Point::Live).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_a_snapshot_or_of_the_directory_is_a_virtual_sandbox() {
    let world = World::new();
    world.write("dir/file", "one");
    world.take("one").await;
    world.write("dir/file", "now");
    let store = Store::flushing(std::sync::Arc::clone(&world.storage) as _);
    for (name, from, wanted) in [("then", at("one"), "one"), ("now", Point::Live, "now")] {
        let id = SandboxId::parse(name).unwrap();
        world.snapshots().fork(from, &id, Limits::default()).await.unwrap();
        let fork = store.sandbox(&id).await.unwrap();
        assert_eq!(bytes(&fork, "/dir/file").await.unwrap(), wanted.as_bytes());
        let options = WriteOptions {
            mode: WriteMode::Replace,
            parents: Parents::Create,
            expected: If::Always,
            length: None,
        };
        let body = futures::stream::iter([Ok("forked".into())]).boxed();
        fork.write(&path("/dir/file"), body, options).await.unwrap();
    }
    assert_eq!(world.read("dir/file"), "now");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_beyond_its_limits_is_refused() {
    let world = World::new();
    world.write("file", "four");
    let id = SandboxId::parse("fork").unwrap();
    let tight = |total_size| Limits { total_size: Some(total_size), ..Limits::default() };
    let refused = world.snapshots().fork(Point::Live, &id, tight(3)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::StorageFull);
    world.snapshots().fork(Point::Live, &id, tight(4)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_is_carried_to_another_server_and_back() {
    let (here, there) = (World::new(), World::new());
    here.write("dir/file", "carried");
    fs::create_dir(here.root.join("empty")).unwrap();
    here.take("one").await;
    let stream = here.snapshots().export(at("one"), None).await.unwrap();
    let new = NewSnapshot { id: Some(snapshot("came")), ..NewSnapshot::default() };
    there.snapshots().import(stream, new).await.unwrap();
    there.write("surplus", "goes");
    there.restore("came").await.unwrap();
    assert_eq!(super::picture::picture(&there.root), super::picture::picture(&here.root));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reserved_name_in_a_snapshot_from_elsewhere_is_refused() {
    let world = World::new();
    world.write("kept", "x");
    let store = Store::in_memory();
    let elsewhere = SandboxId::parse("elsewhere").unwrap();
    let hostile = store.create(&elsewhere, Limits::default()).await.unwrap();
    let name = "/dir/.sandkeep-tmp-0123456789abcdef";
    hostile.symlink(&path(name), "x").await.unwrap();
    let stream = hostile.export(Point::Live, None).await.unwrap();
    let new = NewSnapshot { id: Some(snapshot("hostile")), ..NewSnapshot::default() };
    world.snapshots().import(stream, new).await.unwrap();
    let before = super::picture::picture(&world.root);
    let root = SandboxPath::root();
    let refused = world.snapshots().restore(&snapshot("hostile"), &root).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidPath);
    assert_eq!(super::picture::picture(&world.root), before);
    world.assert_nothing_staged();
}
