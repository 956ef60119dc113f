//! What a restore brings back, and what it leaves alone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use sandkeep_engine::{ErrorKind, Limits};

use super::children::told_by_nobody;
use super::picture::{assert_same, inode, picture};
use super::{Staged, World, path, snapshot};
use crate::fixture::noise;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn set_time(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789);
    fs::File::open(path).unwrap().set_modified(time).unwrap();
}

/// A tree with something of everything.
fn plant(world: &World) {
    world.write("dir/plain", "plain");
    world.write("dir/large", noise(1 << 20));
    world.write("dir/deeper/and/deeper/file", "deep");
    world.write("closed/file", "within");
    fs::create_dir_all(world.root.join("empty/inner")).unwrap();
    for name in [&b"a\xff"[..], b"a\xc3(", "ä\n".as_bytes()] {
        fs::write(world.root.join(OsStr::from_bytes(name)), name).unwrap();
    }
    symlink("dir/plain", world.root.join("inward")).unwrap();
    symlink("nowhere", world.root.join("dangling")).unwrap();
    symlink("../outside", world.root.join("outward")).unwrap();
    let sparse = fs::File::create(world.root.join("sparse")).unwrap();
    sparse.set_len(64 << 20).unwrap();
    sparse.write_all_at(b"island", 32 << 20).unwrap();
    set_mode(&world.root.join("dir/plain"), 0o600);
    set_mode(&world.root.join("empty"), 0o700);
    set_time(&world.root.join("dir/plain"), 1_000_000_000);
    set_time(&world.root.join("dir/deeper"), 1_100_000_000);
    set_time(&world.root.join("dir"), 1_200_000_000);
    set_mode(&world.root.join("closed"), 0o500);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_any_more_is_not_brought_back() {
    let world = World::new();
    let names: Vec<String> = (0..3000).map(|number| format!("dir/{number}")).collect();
    names.iter().for_each(|name| world.write(name, "before"));
    world.take("one").await;
    names.iter().for_each(|name| world.write(name, "afterwards"));
    let soon = Duration::from_millis(1);
    tokio::time::timeout(soon, world.restore("one")).await.expect_err("it is too fast to give up");
    // Another one waits for its turn, so that the first has ended by then.
    world.take("two").await;
    let restored = names.iter().filter(|name| world.read(name) == "before").count();
    assert_eq!(restored, 0);
    world.assert_nothing_staged();
    world.restore("one").await.unwrap();
    assert_eq!(world.read("dir/0"), "before");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_comes_back() {
    let world = World::new();
    plant(&world);
    let before = picture(&world.root);
    world.take("one").await;
    for entry in fs::read_dir(&world.root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    world.restore("one").await.unwrap();
    assert_same(&picture(&world.root), &before);
    let sparse = fs::metadata(world.root.join("sparse")).unwrap();
    assert!(sparse.blocks() * 512 < 4 << 20, "{} blocks", sparse.blocks());
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "secret");
    world.assert_nothing_staged();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_every_kind_are_taken_back() {
    let world = World::new();
    plant(&world);
    let before = picture(&world.root);
    world.take("one").await;

    world.write("dir/plain", "other");
    world.write("dir/deeper/and/new", "new");
    world.write("new/directory/file", "new");
    fs::remove_dir_all(world.root.join("dir/deeper/and/deeper")).unwrap();
    fs::remove_dir_all(world.root.join("closed")).unwrap();
    world.write("closed", "a file now");
    fs::remove_file(world.root.join("inward")).unwrap();
    symlink("elsewhere", world.root.join("inward")).unwrap();
    fs::remove_file(world.root.join("dangling")).unwrap();
    fs::create_dir(world.root.join("dangling")).unwrap();
    set_mode(&world.root.join("empty"), 0o755);
    let large = fs::File::options().write(true).open(world.root.join("dir/large")).unwrap();
    large.write_all_at(b"y", 77).unwrap();
    fs::rename(world.root.join("sparse"), world.root.join("dir/moved")).unwrap();
    world.restore("one").await.unwrap();
    assert_same(&picture(&world.root), &before);
    world.assert_nothing_staged();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_unchanged_keeps_its_number() {
    let world = World::new();
    plant(&world);
    world.take("one").await;
    world.write("dir/plain", "other");
    let kept = ["dir", "dir/large", "dir/deeper/and/deeper/file", "inward", "sparse", "empty"];
    let before = kept.map(|name| inode(&world.root.join(name)));
    let changed = inode(&world.root.join("dir/plain"));
    world.restore("one").await.unwrap();
    assert_eq!(kept.map(|name| inode(&world.root.join(name))), before);
    assert_ne!(inode(&world.root.join("dir/plain")), changed);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_back_is_not_brought_back_again() {
    let world = World::new();
    plant(&world);
    world.take("one").await;
    fs::remove_dir_all(world.root.join("dir")).unwrap();
    world.restore("one").await.unwrap();
    let names = ["dir/plain", "dir/large", "dir/deeper/and/deeper/file"];
    let before = names.map(|name| inode(&world.root.join(name)));
    world.restore("one").await.unwrap();
    assert_eq!(names.map(|name| inode(&world.root.join(name))), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_looks_the_same_and_is_not_comes_back() {
    let world = World::new();
    world.write("file", "one");
    world.take("one").await;
    let file = fs::File::options().write(true).open(world.root.join("file")).unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    file.write_all_at(b"two", 0).unwrap();
    file.set_modified(time).unwrap();
    world.restore("one").await.unwrap();
    assert_eq!(world.read("file"), "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_subtree_comes_back_and_the_rest_stays() {
    let world = World::new();
    plant(&world);
    let before = picture(&world.root);
    world.take("one").await;
    fs::remove_dir_all(world.root.join("dir/deeper")).unwrap();
    world.write("dir/plain", "stays changed");
    world.write("surplus", "stays");
    let restore = |text| {
        let (snapshots, path) = (world.snapshots(), path(text));
        async move { snapshots.restore(&snapshot("one"), &path).await }
    };
    restore("/dir/deeper/and").await.unwrap();
    assert_eq!(world.read("dir/deeper/and/deeper/file"), "deep");
    assert_eq!(world.read("dir/plain"), "stays changed");
    assert_eq!(world.read("surplus"), "stays");

    restore("/dir/plain").await.unwrap();
    assert_eq!(world.read("dir/plain"), "plain");
    restore("/surplus").await.unwrap();
    assert!(!world.root.join("surplus").exists());
    restore("/never/was").await.unwrap();
    restore("/").await.unwrap();
    assert_same(&picture(&world.root), &before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_in_the_way_of_a_subtree_is_not_followed() {
    let world = World::new();
    world.write("dir/secret", "inside");
    world.take("one").await;
    fs::remove_dir_all(world.root.join("dir")).unwrap();
    symlink(&world.outside, world.root.join("dir")).unwrap();
    let refused = world.snapshots().restore(&snapshot("one"), &path("/dir/secret")).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotADirectory);
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "secret");

    world.restore("one").await.unwrap();
    assert_eq!(world.read("dir/secret"), "inside");
    assert!(!world.root.join("dir").is_symlink());
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_a_snapshot_has_on_the_way_is_not_followed() {
    let world = World::new();
    world.write("there/file", "old");
    symlink("there", world.root.join("link")).unwrap();
    world.take("one").await;
    world.write("there/file", "new");
    let refused = world.snapshots().restore(&snapshot("one"), &path("/link/file")).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::OutsideSandbox);
    assert_eq!(world.read("there/file"), "new");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_name_of_a_file_is_not_written_through() {
    let world = World::new();
    world.write("file", "one");
    world.take("one").await;
    fs::remove_file(world.root.join("file")).unwrap();
    fs::hard_link(world.outside.join("secret"), world.root.join("file")).unwrap();
    world.restore("one").await.unwrap();
    assert_eq!(world.read("file"), "one");
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn special_files_go_like_anything_else() {
    let world = World::new();
    world.write("dir/file", "x");
    let before = picture(&world.root);
    world.take("one").await;
    fs::remove_file(world.root.join("dir/file")).unwrap();
    for name in ["fifo", "dir/file"] {
        let fifo = world.root.join(name);
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    world.restore("one").await.unwrap();
    let after = picture(&world.root);
    assert_same(&after, &before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_kept_to_the_byte_and_to_the_node() {
    let world = World::new();
    world.write("dir/file", "12345678");
    world.write("other", "90");
    world.take("one").await;
    fs::remove_dir_all(world.root.join("dir")).unwrap();
    let before = picture(&world.root);
    let bytes = |most| Limits { total_size: Some(most), ..Limits::default() };
    let nodes = |most| Limits { nodes: Some(most), ..Limits::default() };
    let longest = |most| Limits { file_size: Some(most), ..Limits::default() };
    let mut world = world;
    for (limits, kind) in [
        (bytes(9), ErrorKind::StorageFull),
        (nodes(3), ErrorKind::TooManyNodes),
        (longest(7), ErrorKind::FileTooLarge),
    ] {
        world = world.reopened(limits);
        assert_eq!(world.restore("one").await.unwrap_err().kind(), kind);
        assert_same(&picture(&world.root), &before);
        world.assert_nothing_staged();
    }
    for limits in [bytes(10), nodes(4), longest(8)] {
        world = world.reopened(limits);
        world.restore("one").await.unwrap();
        assert_eq!(world.read("dir/file"), "12345678");
        fs::remove_dir_all(world.root.join("dir")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_restore_frees_can_be_used() {
    let world = World::new();
    world.write("small", "1");
    world.take("one").await;
    world.write("large", "123456789");
    let world = world.reopened(Limits { total_size: Some(10), ..Limits::default() });
    world.restore("one").await.unwrap();
    world.write("large", "123456789");
    world.take("two").await;
    world.restore("one").await.unwrap();
    world.restore("two").await.unwrap();
    assert_eq!(world.read("large"), "123456789");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_staging_directory_a_restore_is_refused() {
    let world = World::with(Limits::default(), Staged::Nowhere);
    world.write("file", "one");
    world.take("one").await;
    world.write("file", "two");
    let refused = world.restore("one").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    assert!(refused.message().contains("staging"), "{}", refused.message());
    assert_eq!(world.read("file"), "two");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_is_not_there_changes_nothing() {
    let world = World::new();
    world.write("file", "x");
    assert_eq!(world.restore("missing").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(world.read("file"), "x");
}

#[test]
fn directories_that_their_owner_may_not_write_in_come_and_go() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("root")).unwrap();
    told_by_nobody("restore unprivileged", place.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn restored_files_belong_to_whom_the_directory_belongs() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    world.write("dir/file", "x");
    world.take("one").await;
    fs::remove_dir_all(world.root.join("dir")).unwrap();
    std::os::unix::fs::chown(&world.root, Some(1234), Some(1234)).unwrap();
    world.restore("one").await.unwrap();
    for name in ["dir", "dir/file"] {
        assert_eq!(fs::metadata(world.root.join(name)).unwrap().uid(), 1234, "{name}");
    }
}
