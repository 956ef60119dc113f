//! What a snapshot of a directory holds.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::{StreamExt as _, TryStreamExt as _};
use rustix::fs::{CWD, FileType, Mode, OFlags, mkdirat, mknodat, openat};
use sandkeep_engine::{
    EntryKind, ErrorKind, FileSystem, Limits, Links, NewSnapshot, Page, SandboxPath, Span, Store,
};
use storage::{Expected, RefKey, Refs as _};

use super::{World, bytes, open, path, sandbox, snapshot, take};
use crate::fixture::noise;

async fn text(files: &dyn FileSystem, at: &str) -> String {
    String::from_utf8(bytes(files, at).await.unwrap()).unwrap()
}

async fn names(files: &dyn FileSystem, dir: &str) -> Vec<String> {
    let entries = files.list(&path(dir), Page::default()).await.unwrap();
    entries.map(|entry| entry.unwrap().path.name().to_owned()).collect().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_holds_what_the_directory_held() {
    let world = World::new();
    world.write("a/small", "few bytes");
    let large = noise(3 << 20);
    world.write("a/b/large", &large);
    fs::create_dir(world.root.join("empty")).unwrap();
    fs::set_permissions(world.root.join("a/small"), fs::Permissions::from_mode(0o640)).unwrap();
    let kept = world.take("one").await;
    assert_eq!((kept.usage.files, kept.usage.directories), (2, 4));
    assert_eq!(kept.usage.bytes, 9 + large.len() as u64);
    world.write("a/small", "other");
    fs::remove_dir_all(world.root.join("a/b")).unwrap();

    let files = world.snapshots().open(&snapshot("one")).await.unwrap();
    assert_eq!(text(&*files, "/a/small").await, "few bytes");
    assert_eq!(bytes(&*files, "/a/b/large").await.unwrap(), large);
    assert_eq!(names(&*files, "/").await, ["a", "empty"]);
    assert_eq!(files.stat(&path("/a/small"), Links::Keep).await.unwrap().mode, Some(0o640));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_in_memory_keeps_snapshots_of_a_directory_too() {
    let world = World::new();
    let files = open(&world.root, Limits::default(), Some(&world.staging))
        .with_snapshots(Store::in_memory(), sandbox());
    world.write("file", "one");
    take(&files, "one").await.unwrap();
    world.write("file", "two");
    take(&files, "two").await.unwrap();
    let kept = files.snapshots().unwrap().open(&snapshot("one")).await.unwrap();
    assert_eq!(text(&*kept, "/file").await, "one");
    files.snapshots().unwrap().restore(&snapshot("one"), &SandboxPath::root()).await.unwrap();
    assert_eq!(world.read("file"), "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_not_utf_8_are_kept() {
    let world = World::new();
    let odd = [&b"a\xff"[..], b"a\xc3(", b"\xf0\x9f", "a\u{10FE80}".as_bytes(), b"new\nline"];
    for name in odd {
        fs::write(world.root.join(OsStr::from_bytes(name)), name).unwrap();
    }
    world.write("plain", "x");
    world.take("one").await;
    let files = world.snapshots().open(&snapshot("one")).await.unwrap();
    assert_eq!(names(&*files, "/").await.len(), odd.len() + 1);

    fs::remove_file(world.root.join(OsStr::from_bytes(odd[1]))).unwrap();
    fs::write(world.root.join(OsStr::from_bytes(b"b\xfe")), "new").unwrap();
    world.take("two").await;
    let files = world.snapshots().open(&snapshot("two")).await.unwrap();
    let left = names(&*files, "/").await;
    assert_eq!(left.len(), odd.len() + 1, "{left:?}");
    assert!(!left.iter().any(|name| name.ends_with('(')), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_kept_as_links_and_never_followed() {
    let world = World::new();
    world.write("dir/file", "inside");
    for (name, target) in [
        ("inward", "dir/file"),
        ("dangling", "nowhere"),
        ("up", "../outside"),
        ("absolute", "/etc"),
        ("loop", "loop"),
    ] {
        symlink(target, world.root.join(name)).unwrap();
    }
    let kept = world.take("one").await;
    assert_eq!((kept.usage.bytes, kept.usage.directories), (6, 2));
    let files = world.snapshots().open(&snapshot("one")).await.unwrap();
    assert_eq!(files.read_link(&path("/up")).await.unwrap(), "../outside");
    assert_eq!(files.read_link(&path("/absolute")).await.unwrap(), "/etc");
    assert_eq!(files.read_link(&path("/dangling")).await.unwrap(), "nowhere");
    let refused = files.read(&path("/up/secret"), Span::Whole).await.map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::OutsideSandbox);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifos_and_sockets_are_left_out() {
    let world = World::new();
    world.write("file", "x");
    world.write("becomes-a-fifo", "x");
    world.take("one").await;
    fs::remove_file(world.root.join("becomes-a-fifo")).unwrap();
    for name in ["fifo", "becomes-a-fifo"] {
        let fifo = world.root.join(name);
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    let _socket = UnixListener::bind(world.root.join("socket")).unwrap();
    world.take("two").await;
    let files = world.snapshots().open(&snapshot("two")).await.unwrap();
    assert_eq!(names(&*files, "/").await, ["file"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_one_file_become_files_of_their_own() {
    let world = World::new();
    world.write("one", "shared");
    fs::hard_link(world.root.join("one"), world.root.join("two")).unwrap();
    let kept = world.take("both").await;
    assert_eq!((kept.usage.files, kept.usage.bytes), (2, 12));
    let files = world.snapshots().open(&snapshot("both")).await.unwrap();
    assert_eq!(text(&*files, "/two").await, "shared");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sparse_file_is_kept_with_its_holes() {
    let world = World::new();
    let file = fs::File::create(world.root.join("sparse")).unwrap();
    file.set_len(1 << 40).unwrap();
    file.write_all_at(b"start", 0).unwrap();
    file.write_all_at(b"middle", 5 << 30).unwrap();
    file.write_all_at(b"end", (1 << 40) - 3).unwrap();
    // Reading a tebibyte of zeros would take an hour.
    let kept = world.take("one").await;
    assert_eq!(kept.usage.bytes, 1 << 40);
    let files = world.snapshots().open(&snapshot("one")).await.unwrap();
    let middle = Span::Between((5 << 30) - 2..(5 << 30) + 8);
    let body = files.read(&path("/sparse"), middle).await.unwrap().body;
    let found = body.try_collect::<Vec<_>>().await.unwrap().concat();
    assert_eq!(found, b"\0\0middle\0\0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_full_of_small_holes_is_kept() {
    let world = World::new();
    let file = fs::File::create(world.root.join("holes")).unwrap();
    let mut wanted = vec![0; 8 << 20];
    for at in (0..8 << 20).step_by(512 << 10) {
        file.write_all_at(b"x", at).unwrap();
        wanted[at as usize] = b'x';
    }
    file.set_len(8 << 20).unwrap();
    world.take("one").await;
    let files = world.snapshots().open(&snapshot("one")).await.unwrap();
    assert!(bytes(&*files, "/holes").await.unwrap() == wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_permissions_is_read_by_root() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let world = World::new();
    world.write("closed/file", "hidden");
    for name in ["closed/file", "closed"] {
        fs::set_permissions(world.root.join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    world.take("one").await;
    let files = world.snapshots().open(&snapshot("one")).await.unwrap();
    assert_eq!(text(&*files, "/closed/file").await, "hidden");
    assert_eq!(files.stat(&path("/closed"), Links::Keep).await.unwrap().mode, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_within_the_clocks_last_tick_is_seen() {
    let world = World::new();
    let file = fs::File::create(world.root.join("file")).unwrap();
    for round in 0..40_u32 {
        let (before, after) = (format!("{round:03}-one"), format!("{round:03}-two"));
        file.write_all_at(before.as_bytes(), 0).unwrap();
        world.take(&format!("{round}-one")).await;
        file.write_all_at(after.as_bytes(), 0).unwrap();
        world.take(&format!("{round}-two")).await;
        let files = world.snapshots().open(&snapshot(&format!("{round}-two"))).await.unwrap();
        assert_eq!(text(&*files, "/file").await, after);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_the_same_length_whose_time_was_set_back_is_read_again() {
    let world = World::new();
    world.write("file", "one");
    let then = SystemTime::now() - Duration::from_secs(1000);
    let file = fs::File::options().write(true).open(world.root.join("file")).unwrap();
    file.set_modified(then).unwrap();
    settle();
    world.take("one").await;
    file.write_all_at(b"two", 0).unwrap();
    file.set_modified(then).unwrap();
    world.take("two").await;
    let files = world.snapshots().open(&snapshot("two")).await.unwrap();
    assert_eq!(text(&*files, "/file").await, "two");
}

/// Waits until the clock's tick has passed in which files were written, so that their times can be
/// trusted.
fn settle() {
    std::thread::sleep(Duration::from_millis(50));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_went_and_changed_kind_is_so_in_the_next_snapshot() {
    let world = World::new();
    for number in 0..200 {
        world.write(&format!("many/{number}"), "x");
    }
    world.write("file-then-directory", "x");
    world.write("directory-then-file/inner", "x");
    world.write("goes/deep/down", "x");
    settle();
    world.take("one").await;
    for number in (0..200).step_by(3) {
        fs::remove_file(world.root.join(format!("many/{number}"))).unwrap();
    }
    world.write("many/10-and-more", "new");
    fs::remove_file(world.root.join("file-then-directory")).unwrap();
    world.write("file-then-directory/inner", "new");
    fs::remove_dir_all(world.root.join("directory-then-file")).unwrap();
    world.write("directory-then-file", "new");
    fs::remove_dir_all(world.root.join("goes")).unwrap();
    let kept = world.take("two").await;

    let files = world.snapshots().open(&snapshot("two")).await.unwrap();
    let mut wanted: Vec<_> =
        (0..200).filter(|number| number % 3 != 0).map(|number| number.to_string()).collect();
    wanted.push("10-and-more".into());
    wanted.sort();
    assert_eq!(names(&*files, "/many").await, wanted);
    assert_eq!(names(&*files, "/").await, ["directory-then-file", "file-then-directory", "many"]);
    assert_eq!(text(&*files, "/file-then-directory/inner").await, "new");
    assert_eq!(text(&*files, "/directory-then-file").await, "new");
    assert_eq!((kept.usage.files, kept.usage.directories), (wanted.len() as u64 + 2, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_keeps_changing_does_not_hold_up_a_snapshot() {
    let world = World::new();
    world.write("busy", noise(4 << 20));
    let busy = fs::File::options().write(true).open(world.root.join("busy")).unwrap();
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writer = {
        let done = Arc::clone(&done);
        std::thread::spawn(move || {
            for round in 0_u64.. {
                (&busy).write_all(&round.to_le_bytes()).unwrap();
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
            }
        })
    };
    let kept = world.take("one").await;
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().unwrap();
    assert_eq!(kept.usage.files, 1);
}

/// Makes directories inside each other, so many that the last has this depth.
fn dig(root: &Path, levels: usize) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir = openat(CWD, root, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&dir, c"d", Mode::RWXU).unwrap();
        dir = openat(&dir, c"d", flags, Mode::empty()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_of_2_048_levels_is_kept_and_brought_back() {
    let world = World::new();
    dig(&world.root, 2048);
    let kept = world.take("deep").await;
    assert_eq!(kept.usage.directories, 2049);
    fs::rename(world.root.join("d"), world.outside.join("d")).unwrap();
    world.restore("deep").await.unwrap();
    assert_eq!(world.take("again").await.usage, kept.usage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_of_2_049_levels_is_refused() {
    let world = World::new();
    dig(&world.root, 2049);
    let refused = world.snapshots().create(NewSnapshot::default()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidPath);
    assert!(refused.message().contains("2048 levels"), "{}", refused.message());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_cannot_be_read_costs_time_and_nothing_else() {
    let world = World::new();
    world.write("file", "x");
    world.take("one").await;
    let key = RefKey::new("sandboxes/trial/index").unwrap();
    let token = world.storage.load(&key).await.unwrap().unwrap().token;
    world.storage.swap(&key, &Expected::Token(token), "rubbish".into()).await.unwrap();
    world.take("two").await;
    let files = world.snapshots().open(&snapshot("two")).await.unwrap();
    assert_eq!(text(&*files, "/file").await, "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_goes_on_with_the_snapshots_of_the_first() {
    let world = World::new();
    world.write("file", "x");
    world.take("one").await;
    let world = world.reopened(Limits::default());
    world.write("file", "y");
    world.take("two").await;
    let listed = world.snapshots().list(None, 10).await.unwrap();
    let ids: Vec<_> = listed.iter().map(|snapshot| snapshot.id.as_str()).collect();
    assert_eq!(ids, ["one", "two"]);
    world.snapshots().delete(&snapshot("one")).await.unwrap();
    let gone = world.snapshots().stat(&snapshot("one")).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert_eq!(world.snapshots().stat(&snapshot("two")).await.unwrap().usage.bytes, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_taken_is_refused() {
    let world = World::new();
    world.take("one").await;
    let refused = take(&world.files, "one").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_virtual_sandbox_of_the_same_name_is_not_mixed_up_with_the_directory() {
    let world = World::new();
    let store = Store::flushing(Arc::clone(&world.storage) as _);
    let virtual_files = store.create(&sandbox(), Limits::default()).await.unwrap();
    virtual_files.symlink(&path("/link"), "x").await.unwrap();
    let refused = take(&world.files, "one").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    let kind = virtual_files.stat(&path("/link"), Links::Keep).await.unwrap().kind;
    assert_eq!(kind, EntryKind::Symlink);
}
