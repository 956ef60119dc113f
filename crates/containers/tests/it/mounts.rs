//! What is mounted in a container: volumes, single files, and what is the kernel's.

use engine::{Depth, EntryKind, ErrorKind, FileSystem as _, If, Links, Target};
use futures::TryStreamExt as _;
use servers::{Engine, containers_are_left_out};

use crate::fixture::{container, kind, names, path, read, write};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_the_kernels_is_neither_read_nor_written_nor_listed() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    for refused in [
        "/proc/version",
        "/proc/1/environ",
        "/proc/sys/kernel/hostname",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/dev/pts/ptmx",
        "/dev/null",
        "/dev/zero",
    ] {
        assert_eq!(kind(read(&files, refused).await), ErrorKind::NotAFile, "{refused}");
        assert!(write(&files, refused, "x").await.is_err(), "{refused}");
    }
    for refused in ["/proc", "/proc/1", "/sys", "/sys/kernel", "/dev/pts", "/dev/mqueue"] {
        assert_eq!(kind(names(&files, refused).await), ErrorKind::NotAFile, "{refused}");
        assert!(write(&files, &format!("{refused}/x"), "x").await.is_err(), "{refused}");
        let gone = files.remove(&path(refused), Depth::All, If::Always).await;
        assert!(gone.is_err(), "{refused}");
    }
    assert_eq!(inside.exec("ls /proc/1/comm /sys/kernel/mm >/dev/null && echo there"), "there\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_through_everything_passes_by_what_is_the_kernels() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    assert_eq!(files.stat(&path("/proc"), Links::Keep).await.unwrap().kind, EntryKind::Special);
    let entries = files.list(&path("/"), engine::Page::default()).await.unwrap();
    let entries: Vec<_> = entries.try_collect().await.unwrap();
    let special: Vec<_> = entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::Special)
        .map(|entry| entry.path.as_str())
        .collect();
    assert_eq!(special, ["/proc", "/sys"]);
    let archive = files.pack(&path("/"), engine::ArchiveFormat::Tar, Default::default()).await;
    let mut bytes = archive.unwrap();
    let mut len = 0;
    while let Some(piece) = bytes.try_next().await.unwrap() {
        len += piece.len();
    }
    assert!(len > 1 << 20, "busybox alone is larger");
    assert!(files.usage().await.unwrap().files > 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_is_a_part_of_the_tree() {
    if containers_are_left_out() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    let volume = format!("{}:/data", shared.path().display());
    let engine = Engine::start();
    let inside = engine.run(&["--volume", &volume, "--tmpfs", "/scratch"]);
    let files = container(&engine.socket(), inside.name(), "/");
    write(&files, "/data/deep/file", "shared").await.unwrap();
    assert_eq!(std::fs::read(shared.path().join("deep/file")).unwrap(), b"shared");
    write(&files, "/scratch/file", "fleeting").await.unwrap();
    assert_eq!(inside.exec("cat /scratch/file"), "fleeting");
    // From one file system to another.
    files.rename(&path("/data/deep/file"), &path("/workspace/file"), Target::New).await.unwrap();
    assert_eq!(inside.exec("cat /workspace/file; ls /data/deep"), "shared");
    // The volume is the sandbox, too.
    let part = container(&engine.socket(), inside.name(), "/data");
    write(&part, "/alone", "x").await.unwrap();
    assert_eq!(names(&part, "/").await.unwrap(), ["alone", "deep"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mount_is_never_taken_away() {
    if containers_are_left_out() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    let volume = format!("{}:/workspace/data", shared.path().display());
    let engine = Engine::start();
    let inside = engine.run(&["--volume", &volume]);
    let files = container(&engine.socket(), inside.name(), "/");
    for depth in [Depth::One, Depth::All] {
        let gone = files.remove(&path("/workspace/data"), depth, If::Always).await;
        assert_eq!(kind(gone), ErrorKind::Locked);
    }
    let gone = files.remove(&path("/workspace"), Depth::All, If::Always).await;
    assert_eq!(kind(gone), ErrorKind::Locked);
    let moved = files.rename(&path("/workspace/data"), &path("/elsewhere"), Target::New).await;
    assert_eq!(kind(moved), ErrorKind::Locked);
    write(&files, "/tmp/file", "x").await.unwrap();
    let moved = files.rename(&path("/tmp/file"), &path("/etc/hosts"), Target::Replace).await;
    assert_eq!(kind(moved), ErrorKind::Locked);
    let gone = files.remove(&path("/etc/hosts"), Depth::One, If::Always).await;
    assert_eq!(kind(gone), ErrorKind::Locked);
    let mounted = inside.exec("grep -c -e ' /workspace/data ' -e ' /etc/hosts ' /proc/mounts");
    assert_eq!(mounted, "2\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_a_mount_is_written_in_place() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    write(&files, "/etc/hosts", "127.0.0.1 ours\n").await.unwrap();
    assert_eq!(
        inside.exec("cat /etc/hosts; grep -c ' /etc/hosts ' /proc/mounts"),
        "127.0.0.1 ours\n1\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_cannot_be_written_to_says_so() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&["--read-only", "--read-only-tmpfs=false", "--tmpfs", "/scratch"]);
    let files = container(&engine.socket(), inside.name(), "/");
    assert_eq!(kind(write(&files, "/workspace/file", "x").await), ErrorKind::ReadOnly);
    let made = files.create_dir(&path("/new"), engine::Parents::Create).await;
    assert_eq!(kind(made), ErrorKind::ReadOnly);
    let gone = files.remove(&path("/etc/passwd"), Depth::One, If::Always).await;
    assert_eq!(kind(gone), ErrorKind::ReadOnly);
    assert!(read(&files, "/etc/passwd").await.unwrap().starts_with("root:"));
    write(&files, "/scratch/file", "x").await.unwrap();
}
