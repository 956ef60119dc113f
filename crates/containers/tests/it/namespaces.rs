//! Processes with mounts of their own, without any engine.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use bytes::Bytes;
use engine::{AttachTarget, AttachedFs, ErrorKind, FileSystem as _, OpenOptions};
use futures::{StreamExt as _, stream};
use servers::{Namespace, containers_are_left_out};

use crate::fixture::{OPTIONS, kind, names, path, process, read, write, write_stream};

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_of_a_process_is_what_the_process_sees() {
    if containers_are_left_out() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    let namespace = Namespace::of(shared.path());
    let files = process(namespace.pid(), "/");
    assert_eq!(names(&files, "/").await.unwrap(), ["busybox", "tree"]);
    write(&files, "/tree/file", "x").await.unwrap();
    assert_eq!(std::fs::read(shared.path().join("file")).unwrap(), b"x");
    write(&files, "/in-memory", "y").await.unwrap();
    assert_eq!(read(&files, "/in-memory").await.unwrap(), "y");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_takes_its_sandbox_with_it() {
    if containers_are_left_out() {
        return;
    }
    let mut namespace = Namespace::start(&[]);
    let files = process(namespace.pid(), "/");
    write(&files, "/file", "x").await.unwrap();
    namespace.end();
    assert_eq!(kind(read(&files, "/file").await), ErrorKind::SandboxUnavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_of_the_same_number_is_not_taken() {
    if containers_are_left_out() {
        return;
    }
    let namespace = Namespace::start(&[]);
    let files = process(namespace.pid(), "/");
    let AttachTarget::Process { pid, birth: Some(birth) } = files.target().await.unwrap() else {
        panic!("a process is born")
    };
    let born_elsewhere = |birth: String| {
        let target = AttachTarget::Process { pid, birth: Some(birth) };
        AttachedFs::new(target, path("/"), OPTIONS, None).unwrap()
    };
    born_elsewhere(birth.clone()).attach().await.unwrap();
    let other = born_elsewhere(birth + "7").attach().await;
    assert_eq!(kind(other), ErrorKind::SandboxUnavailable);
}

/// The kernel gives numbers in turn, and lets whoever may say which comes next.
#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_is_given_again_is_not_followed() {
    if containers_are_left_out() {
        return;
    }
    let mut first = Namespace::start(&[]);
    let number = first.pid();
    let files = process(number, "/");
    write(&files, "/file", "first").await.unwrap();
    first.end();
    let mut taken = None;
    for _ in 0..200 {
        std::fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string()).unwrap();
        let child = Command::new("sleep").arg("100").process_group(0).spawn().unwrap();
        if child.id() == number {
            taken = Some(child);
            break;
        }
        end(child);
    }
    let taken = taken.expect("the number is given again");
    assert_eq!(kind(read(&files, "/file").await), ErrorKind::SandboxUnavailable);
    assert_eq!(kind(names(&files, "/").await), ErrorKind::SandboxUnavailable);
    end(taken);
}

fn end(mut child: std::process::Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_of_no_container_is_refused() {
    let files = process(std::process::id(), "/");
    let err = files.attach().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidArgument);
    assert!(err.message().contains("in no container"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_is_not_there_is_told() {
    if containers_are_left_out() {
        return;
    }
    let namespace = Namespace::start(&[]);
    let err = process(namespace.pid(), "/nowhere").attach().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    let of_the_kernel = Namespace::start(&["--proc", "/proc"]);
    let err = process(of_the_kernel.pid(), "/proc").attach().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotAFile);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_user_namespace_belong_to_whom_their_directory_belongs() {
    if containers_are_left_out() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(shared.path(), Some(100_007), Some(100_008)).unwrap();
    let at = shared.path().to_str().unwrap();
    let namespace = Namespace::start(&["--unshare-user", "--uid", "5", "--bind", at, "/tree"]);
    let files = process(namespace.pid(), "/tree");
    write(&files, "/deep/file", "x").await.unwrap();
    let made = std::fs::metadata(shared.path().join("deep/file")).unwrap();
    let owner =
        (std::os::unix::fs::MetadataExt::uid(&made), std::os::unix::fs::MetadataExt::gid(&made));
    assert_eq!(owner, (100_007, 100_008));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_whose_tree_changes_while_it_comes_is_put_nowhere() {
    if containers_are_left_out() {
        return;
    }
    let shared = tempfile::tempdir().unwrap();
    std::fs::create_dir(shared.path().join("new-root")).unwrap();
    let script = "until [ -e /tree/go ]; do /busybox sleep 0.05; done; \
        exec /busybox chroot /tree/new-root /busybox sleep 100000";
    let at = shared.path().to_str().unwrap();
    let namespace = Namespace::running(&["--cap-add", "ALL", "--bind", at, "/tree"], script);
    let root = format!("/proc/{}/root", namespace.pid());
    std::fs::copy(format!("{root}/busybox"), shared.path().join("new-root/busybox")).unwrap();
    let files = process(namespace.pid(), "/");
    // Somebody has a file of the former tree all the time, and the new one is found all the same.
    let open = files.open(&path("/busybox"), OpenOptions::Read).await.unwrap();
    let (go, changed) = (shared.path().join("go"), root);
    // The last piece comes when the process has another root.
    let rest = stream::once(async move {
        std::fs::write(go, "").unwrap();
        while std::fs::metadata(format!("{changed}/tree")).is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok(Bytes::from_static(b"rest"))
    });
    let body = stream::iter([Ok(Bytes::from_static(b"half"))]).chain(rest).boxed();
    let outcome = write_stream(&files, "/tree/file", body).await;
    assert_eq!(kind(outcome), ErrorKind::SandboxUnavailable);
    assert!(!shared.path().join("file").exists());
    assert_eq!(names(&files, "/").await.unwrap(), ["busybox"]);
    assert_eq!(kind(open.stat().await), ErrorKind::SandboxUnavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_the_container_makes_anew_is_found_whoever_has_it() {
    if containers_are_left_out() {
        return;
    }
    let namespace = Namespace::start(&["--dir", "/project", "--proc", "/proc"]);
    let files = process(namespace.pid(), "/project");
    write(&files, "/file", "old").await.unwrap();
    let project = format!("/proc/{}/root/project", namespace.pid());
    std::fs::remove_dir_all(&project).unwrap();
    assert_eq!(kind(read(&files, "/file").await), ErrorKind::Unavailable);
    // What is the kernel's does not take its place.
    std::os::unix::fs::symlink("/proc", &project).unwrap();
    assert_eq!(kind(names(&files, "/").await), ErrorKind::Unavailable);
    std::fs::remove_file(&project).unwrap();
    std::fs::create_dir(&project).unwrap();
    std::os::unix::fs::chown(&project, Some(1007), Some(1008)).unwrap();
    write(&files, "/file", "new").await.unwrap();
    assert_eq!(std::fs::read_to_string(format!("{project}/file")).unwrap(), "new");
}
