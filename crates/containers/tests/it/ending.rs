//! Containers end, and come back.

use std::time::Duration;

use bytes::Bytes;
use engine::{ErrorKind, FileSystem as _, Links, OpenOptions, Span, Target, Watch};
use futures::{StreamExt as _, stream};
use servers::{Engine, containers_are_left_out};

use crate::fixture::{at_last, container, kind, path, process, read, soon, write, write_stream};

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_stops_is_unavailable_at_once_and_there_again_when_it_starts() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    write(&files, "/workspace/kept", "kept").await.unwrap();
    for _ in 0..2 {
        let before = inside.pid();
        inside.stop();
        let err = read(&files, "/workspace/kept").await.unwrap_err();
        assert_eq!(err.kind(), ErrorKind::SandboxUnavailable);
        assert!(err.message().contains(inside.name()), "{err}");
        assert_eq!(kind(write(&files, "/workspace/no", "no").await), ErrorKind::SandboxUnavailable);
        inside.start();
        assert_ne!(inside.pid(), before);
        assert_eq!(at_last(|| read(&files, "/workspace/kept")).await, "kept");
        write(&files, "/workspace/again", "again").await.unwrap();
        assert_eq!(inside.exec("cat /workspace/again; ls /workspace/no 2>&1 | wc -l"), "again1\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_ended_is_unavailable_also_while_its_engine_is_away() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let socket = engine.socket().with_extension("other");
    std::os::unix::fs::symlink(engine.socket(), &socket).unwrap();
    let files = container(&socket, inside.name(), "/");
    write(&files, "/workspace/kept", "kept").await.unwrap();
    std::fs::remove_file(&socket).unwrap();
    assert_eq!(read(&files, "/workspace/kept").await.unwrap(), "kept", "it runs");
    inside.stop();
    let err = read(&files, "/workspace/kept").await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::SandboxUnavailable, "{err}");
    assert!(err.message().contains("no container engine answers"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_container_of_the_same_name_takes_the_place() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let first = engine.run(&[]);
    let name = first.name().to_owned();
    let files = container(&engine.socket(), &name, "/");
    write(&files, "/workspace/file", "first").await.unwrap();
    drop(first);
    let err = files.stat(&path("/workspace/file"), Links::Follow).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::SandboxUnavailable);
    assert!(err.message().contains("there is no container"), "{err}");
    let second = engine.run_named(&name, &[]);
    second.exec("echo -n second > /workspace/file");
    assert_eq!(at_last(|| read(&files, "/workspace/file")).await, "second");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ended_never_comes_back() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = process(inside.pid(), "/");
    write(&files, "/workspace/file", "x").await.unwrap();
    inside.stop();
    let err = read(&files, "/workspace/file").await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::SandboxUnavailable);
    assert!(err.message().contains("ended"), "{err}");
    inside.start();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(kind(read(&files, "/workspace/file").await), ErrorKind::SandboxUnavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_under_way_ends_with_its_container() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    inside.exec("dd if=/dev/zero of=/workspace/large bs=1M count=64 2>/dev/null");
    let files = container(&engine.socket(), inside.name(), "/");
    let mut body = files.read(&path("/workspace/large"), Span::Whole).await.unwrap().body;
    body.next().await.unwrap().unwrap();
    inside.kill();
    let ended = soon(async {
        loop {
            match body.next().await {
                Some(Ok(_)) => tokio::time::sleep(Duration::from_millis(10)).await,
                outcome => return outcome,
            }
        }
    });
    assert_eq!(kind(ended.await.unwrap()), ErrorKind::SandboxUnavailable);
    assert!(body.next().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_waits_for_its_client_ends_with_its_container_and_leaves_nothing() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    files.attach().await.unwrap();
    // The client sent a piece and then stays silent for good.
    let piece = stream::iter([Ok(Bytes::from_static(b"half"))]);
    let body = piece.chain(stream::pending()).boxed();
    let writing = tokio::spawn({
        let files = files.clone();
        async move { write_stream(&files, "/workspace/half", body).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    inside.kill();
    assert_eq!(kind(soon(writing).await.unwrap()), ErrorKind::SandboxUnavailable);
    inside.start();
    assert_eq!(inside.exec("ls -A /workspace"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_is_under_way_ends_with_its_container_and_never_appears() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let make = "mkdir /workspace/many && cd /workspace/many && i=0 && \
                while [ $i -lt 5000 ]; do echo $i >$i; i=$((i+1)); done";
    inside.exec(make);
    let files = container(&engine.socket(), inside.name(), "/");
    files.attach().await.unwrap();
    let copying = tokio::spawn({
        let files = files.clone();
        async move { files.copy(&path("/workspace/many"), &path("/workspace/copy"), Target::New).await }
    });
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert!(!copying.is_finished(), "it is too fast to be cut off");
    inside.kill();
    assert_eq!(kind(soon(copying).await.unwrap()), ErrorKind::SandboxUnavailable);
    inside.start();
    assert_eq!(inside.exec("ls /workspace"), "many\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn open_files_and_watches_end_with_their_container() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    write(&files, "/workspace/file", "x").await.unwrap();
    let open = files.open(&path("/workspace/file"), OpenOptions::Read).await.unwrap();
    let wish = Watch { recursive: true, after: None };
    let mut notices = files.watch(&path("/workspace"), wish).await.unwrap();
    assert_eq!(&open.read_at(0, 9).await.unwrap()[..], b"x");
    let waiting = tokio::spawn(async move {
        loop {
            if let Err(err) = notices.next().await.unwrap() {
                return err;
            }
        }
    });
    inside.kill();
    assert_eq!(soon(waiting).await.unwrap().kind(), ErrorKind::SandboxUnavailable);
    assert_eq!(kind(open.read_at(0, 9).await), ErrorKind::SandboxUnavailable);
    assert_eq!(
        kind(open.write_at(0, Bytes::from_static(b"y")).await),
        ErrorKind::SandboxUnavailable
    );
    inside.start();
    assert_eq!(at_last(|| read(&files, "/workspace/file")).await, "x");
    assert_eq!(kind(open.stat().await), ErrorKind::SandboxUnavailable, "it is of another time");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_container_that_ended_is_held() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let files = container(&engine.socket(), inside.name(), "/");
    files.attach().await.unwrap();
    assert!(held() > 0);
    inside.kill();
    soon(async {
        while held() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_held_for_a_client_that_takes_nothing_more() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    inside.exec("dd if=/dev/zero of=/workspace/large bs=1M count=8 2>/dev/null");
    let files = container(&engine.socket(), inside.name(), "/");
    let mut body = files.read(&path("/workspace/large"), Span::Whole).await.unwrap().body;
    body.next().await.unwrap().unwrap();
    let open = files.open(&path("/workspace/large"), OpenOptions::Read).await.unwrap();
    assert!(held() > 0);
    inside.kill();
    // Nobody asks for the next piece, or for anything of the open file.
    soon(async {
        while held() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(kind(body.next().await.unwrap()), ErrorKind::SandboxUnavailable);
    assert_eq!(kind(open.stat().await), ErrorKind::SandboxUnavailable);
}

/// How many descriptors this process has of trees whose mounts are not its own.
fn held() -> usize {
    let own: Vec<String> = std::fs::read_to_string("/proc/self/mountinfo")
        .unwrap()
        .lines()
        .filter_map(|line| line.split(' ').next().map(str::to_owned))
        .collect();
    let infos = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let mount = |text: String| {
        text.lines().find_map(|line| line.strip_prefix("mnt_id:").map(|id| id.trim().to_owned()))
    };
    let mounts = infos.filter_map(|info| mount(std::fs::read_to_string(info.path()).ok()?));
    // Pipes, sockets and their like are on mounts that no table shows.
    let links = |id: &String| !own.contains(id);
    mounts.filter(links).filter(|id| is_of_overlay(id)).count()
}

fn is_of_overlay(id: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut tables = processes
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()))
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("mountinfo")).ok());
    let seen = tables.any(|table| {
        table.lines().any(|line| line.starts_with(&format!("{id} ")) && line.contains(" overlay "))
    });
    seen || !is_anonymous(id)
}

/// Whether a mount is one of pipes, sockets and their like, which all processes share.
fn is_anonymous(id: &str) -> bool {
    let infos = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let of_mount = infos.filter(|info| {
        std::fs::read_to_string(info.path())
            .is_ok_and(|text| text.lines().any(|line| line.split_whitespace().eq(["mnt_id:", id])))
    });
    let mut targets = of_mount.filter_map(|info| {
        std::fs::read_link(format!("/proc/self/fd/{}", info.file_name().to_str()?)).ok()
    });
    targets.all(|target| !target.starts_with("/"))
}
