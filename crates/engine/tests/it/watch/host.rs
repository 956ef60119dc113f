//! What other programs do to a watched host directory.

#![expect(clippy::disallowed_methods, reason = "other programs change the tree under test")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::time::Duration;

use futures::StreamExt as _;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use sandkeep_engine::{
    EntryKind, ErrorKind, FileSystem, Loss, NoticeKind, NoticeStream, SandboxPath, Watch,
};
use tokio::time::timeout;

use super::storm::at;
use super::{Host, Staging, refusal_of};

#[tokio::test]
async fn a_file_that_stays_open_is_told_while_it_is_written_to() {
    let host = Host::new(Staging::Beside);
    let mut file = fs::File::create(host.root.join("log")).unwrap();
    let mut stream = begun(&host, "/").await;
    for _ in 0..200 {
        file.write_all(b"line\n").unwrap();
    }
    let (path, entry) = (at("/log"), Some(EntryKind::File));
    assert_eq!(next(&mut stream).await, NoticeKind::Modified { path, entry });
    // All of it was one notice.
    assert!(timeout(Duration::from_millis(300), stream.next()).await.is_err());
    file.set_len(3).unwrap();
    drop(file);
    until(&mut stream, |kind| matches!(kind, NoticeKind::Modified { .. })).await;
}

#[tokio::test]
async fn what_was_put_into_a_directory_before_its_watch_stood_is_told() {
    let host = Host::new(Staging::Beside);
    let mut stream = begun(&host, "/").await;
    for number in 0..50 {
        fs::create_dir_all(host.root.join(format!("d{number}/a/b/c"))).unwrap();
        fs::write(host.root.join(format!("d{number}/a/b/c/f")), "1").unwrap();
    }
    for number in 0..50 {
        let path = at(&format!("/d{number}/a/b/c/f"));
        let is_meant = |kind: &NoticeKind| matches!(kind, NoticeKind::Created { path: told, .. } if *told == path);
        until(&mut stream, is_meant).await;
    }
}

#[tokio::test]
async fn directories_that_change_places_are_told_as_they_are_then() {
    let host = Host::new(Staging::Beside);
    for (dir, file) in [("a", "of-a"), ("b", "of-b")] {
        fs::create_dir(host.root.join(dir)).unwrap();
        fs::write(host.root.join(dir).join(file), "1").unwrap();
    }
    let mut stream = begun(&host, "/").await;
    let (one, other) = (host.root.join("a"), host.root.join("b"));
    renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
    let is = |kind: &NoticeKind, place: &str| matches!(kind, NoticeKind::Created { path, .. } if path.as_str() == place);
    let mut missing = vec!["/a/of-b", "/b/of-a"];
    while !missing.is_empty() {
        let kind = next(&mut stream).await;
        missing.retain(|place| !is(&kind, place));
    }
}

#[tokio::test]
async fn a_directory_that_is_swapped_for_a_link_leads_the_watch_nowhere() {
    let host = Host::new(Staging::Beside);
    let outside = host.root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(host.root.join("d")).unwrap();
    let mut stream = begun(&host, "/").await;
    fs::remove_dir(host.root.join("d")).unwrap();
    symlink(&outside, host.root.join("d")).unwrap();
    fs::write(outside.join("secret"), "1").unwrap();
    fs::write(host.root.join("last"), "1").unwrap();
    let last = at("/last");
    let told = until(
        &mut stream,
        |kind| matches!(kind, NoticeKind::Created { path, .. } if *path == last),
    );
    let told = told.await;
    assert!(!format!("{told:?}").contains("secret"), "{told:?}");
    let (path, entry) = (at("/d"), Some(EntryKind::Symlink));
    assert!(told.contains(&NoticeKind::Created { path, entry }), "{told:?}");
}

#[tokio::test]
async fn unfinished_files_are_never_told() {
    for staging in [Staging::Beside, Staging::None] {
        let host = Host::new(staging);
        let mut stream = begun(&host, "/").await;
        let hidden = host.root.join(".sandkeep-tmp-0123456789abcdef");
        fs::create_dir(&hidden).unwrap();
        fs::write(hidden.join("part"), "1").unwrap();
        fs::rename(hidden.join("part"), host.root.join("whole")).unwrap();
        fs::rename(&hidden, host.root.join(".sandkeep-tmp-fedcba9876543210")).unwrap();
        fs::write(host.root.join("last"), "1").unwrap();
        let last = at("/last");
        let is_last =
            |kind: &NoticeKind| matches!(kind, NoticeKind::Created { path, .. } if *path == last);
        let told = until(&mut stream, is_last).await;
        assert!(!format!("{told:?}").contains("tmp"), "{told:?}");
        assert!(!format!("{told:?}").contains("part"), "{told:?}");
        assert!(format!("{told:?}").contains("/whole"), "{told:?}");
    }
}

#[tokio::test]
async fn a_name_that_is_not_text_is_told_as_it_is_listed() {
    use std::os::unix::ffi::OsStrExt as _;
    let host = Host::new(Staging::Beside);
    let mut stream = begun(&host, "/").await;
    fs::create_dir(host.root.join(std::ffi::OsStr::from_bytes(b"d\xff"))).unwrap();
    let (path, entry) = (at("/d\u{10FEFF}"), Some(EntryKind::Directory));
    assert_eq!(next(&mut stream).await, NoticeKind::Created { path, entry });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_the_kernel_remembers_is_a_resync_and_no_miss() {
    let host = Host::new(Staging::Beside);
    for dir in 0..4 {
        fs::create_dir(host.root.join(format!("d{dir}"))).unwrap();
    }
    let mut stream = begun(&host, "/").await;
    // Whoever reads the queue also looks at each file, and is slower than four who do nothing else.
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let dir = host.root.join(format!("d{writer}"));
            std::thread::spawn(move || {
                for number in 0..20_000 {
                    let file = dir.join(format!("{:x<200}", number % 2000));
                    fs::write(&file, "").unwrap();
                    fs::remove_file(&file).unwrap();
                }
            })
        })
        .collect();
    tokio::task::spawn_blocking(|| writers.into_iter().for_each(|writer| writer.join().unwrap()))
        .await
        .unwrap();
    let is_resync = |kind: &NoticeKind| matches!(kind, NoticeKind::Resync { .. });
    let told = until(&mut stream, is_resync).await;
    let Some(NoticeKind::Resync { why }) = told.last() else { panic!("{told:?}") };
    assert!(matches!(why, Loss::Overflow | Loss::TooSlow), "{why:?}");
    // There may be another resync, which stands for everything before it.
    while timeout(Duration::from_secs(2), stream.next()).await.is_ok() {}
    fs::create_dir(host.root.join("d0/after")).unwrap();
    fs::write(host.root.join("d0/after/all"), "1").unwrap();
    let (path, entry) = (at("/d0/after/all"), Some(EntryKind::File));
    let all = NoticeKind::Created { path, entry };
    until(&mut stream, |kind| *kind == all).await;
}

#[tokio::test]
async fn a_directory_above_the_watched_one_that_moves_ends_the_watch() {
    let host = Host::new(Staging::Beside);
    fs::create_dir_all(host.root.join("a/b")).unwrap();
    let mut stream = begun(&host, "/a/b").await;
    fs::rename(host.root.join("a"), host.root.join("c")).unwrap();
    assert_eq!(end(&mut stream).await, ErrorKind::NotFound);
}

#[tokio::test]
async fn another_directory_in_the_place_of_the_watched_one_is_a_resync() {
    let host = Host::new(Staging::Beside);
    fs::create_dir_all(host.root.join("a/b")).unwrap();
    fs::create_dir_all(host.root.join("c/b")).unwrap();
    let mut stream = begun(&host, "/a/b").await;
    let (one, other) = (host.root.join("a"), host.root.join("c"));
    renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
    until(&mut stream, |kind| matches!(kind, NoticeKind::Resync { .. })).await;
    fs::write(host.root.join("a/b/f"), "1").unwrap();
    let (path, entry) = (at("/a/b/f"), Some(EntryKind::File));
    assert_eq!(next(&mut stream).await, NoticeKind::Created { path, entry });
}

#[tokio::test]
async fn a_tree_whose_root_is_gone_ends_the_watch() {
    let host = Host::new(Staging::Beside);
    let mut stream = begun(&host, "/").await;
    fs::remove_dir(&host.root).unwrap();
    assert_eq!(end(&mut stream).await, ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_thousand_trees_can_be_watched() {
    let outer = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for number in 0..1000 {
        let root = outer.path().join(number.to_string());
        fs::create_dir(&root).unwrap();
        let files = Host::open(&root, Vec::new());
        let mut stream = files.watch(&SandboxPath::root(), everything()).await.unwrap();
        assert_eq!(next(&mut stream).await, NoticeKind::Here);
        all.push((files, root, stream));
    }
    for (_, root, stream) in &mut all {
        fs::write(root.join("f"), "1").unwrap();
        let (path, entry) = (at("/f"), Some(EntryKind::File));
        assert_eq!(next(stream).await, NoticeKind::Created { path, entry });
    }
}

#[tokio::test]
async fn no_more_than_64_directories_of_a_tree_are_watched_at_a_time() {
    let host = Host::new(Staging::Beside);
    let mut streams = Vec::new();
    for number in 0..64 {
        fs::create_dir(host.root.join(number.to_string())).unwrap();
        streams.push(begun(&host, &format!("/{number}")).await);
    }
    let refusal = refusal_of(&host.files, "/").await;
    assert_eq!(refusal, ErrorKind::LimitExceeded);
    // One that nobody watches any more makes room.
    streams.pop();
    streams.push(begun(&host, "/").await);
}

#[tokio::test]
async fn a_view_is_watched_again_from_where_it_was() {
    let host = Host::new(Staging::Beside);
    fs::create_dir_all(host.root.join("part/d")).unwrap();
    let view = || host.files.within(&at("/part")).unwrap();
    let mut stream = view().watch(&at("/part"), everything()).await.unwrap();
    let cursor = stream.next().await.unwrap().unwrap().cursor;
    drop(stream);
    fs::write(host.root.join("part/d/f"), "1").unwrap();
    // Whoever comes back asks with a view of his own.
    let wish = Watch { after: Some(cursor.clone()), ..everything() };
    let mut stream = view().watch(&at("/part"), wish.clone()).await.unwrap();
    assert_eq!(next(&mut stream).await, NoticeKind::Here);
    let (path, entry) = (at("/part/d/f"), Some(EntryKind::File));
    assert_eq!(next(&mut stream).await, NoticeKind::Created { path, entry });
    // The whole tree follows links that the view does not: it has another watch of the directory.
    let mut stream = host.files.watch(&at("/part"), wish).await.unwrap();
    let why = Loss::UnknownCursor;
    assert_eq!(next(&mut stream).await, NoticeKind::Resync { why });
}

#[tokio::test]
async fn what_is_watched_through_views_counts_for_their_tree() {
    let host = Host::new(Staging::Beside);
    let mut streams = Vec::new();
    for number in 0..64 {
        let dir = format!("/{number}");
        fs::create_dir(host.root.join(&dir[1..])).unwrap();
        let view = host.files.within(&at(&dir)).unwrap();
        streams.push(view.watch(&at(&dir), everything()).await.unwrap());
    }
    let view = host.files.within(&at("/0")).unwrap();
    assert_eq!(refusal_of(&*view, "/0").await, ErrorKind::LimitExceeded);
    assert_eq!(refusal_of(&host.files, "/").await, ErrorKind::LimitExceeded);
}

#[tokio::test]
async fn a_tree_of_too_many_directories_is_watched_in_parts_only() {
    let host = Host::new(Staging::Beside);
    (0..8).for_each(|part| fs::create_dir(host.root.join(part.to_string())).unwrap());
    let mut made = 0..;
    let mut grow = |count| {
        for number in made.by_ref().take(count) {
            fs::create_dir(host.root.join(format!("{}/{number}", number % 8))).unwrap();
        }
    };
    let most = most_directories();
    grow(most);
    let refusal = host.files.watch(&at("/"), everything()).await.map(|_| "watched").unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::LimitExceeded);
    assert!(refusal.message().contains(&format!("more than {most} directories")), "{refusal}");
    // A part of it is not too large, nor are its own names.
    drop(begun(&host, "/0").await);
    drop(host.files.watch(&at("/"), Watch::default()).await.unwrap());
    // Nothing is held by those who were refused, nor for those who left.
    fs::remove_dir_all(host.root.join("1")).unwrap();
    let mut stream = begun(&host, "/").await;
    // It grows while it is watched: that ends it.
    fs::create_dir(host.root.join("1")).unwrap();
    grow(most / 8 + 100);
    assert_eq!(end(&mut stream).await, ErrorKind::LimitExceeded);
}

/// How many directories of a tree may be watched: not all that the machine has for everybody.
fn most_directories() -> usize {
    let text = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").unwrap();
    (text.trim().parse::<usize>().unwrap() / 4 * 3 / 2).min(65_536)
}

fn everything() -> Watch {
    Watch { recursive: true, after: None }
}

/// A watch that stands.
async fn begun(host: &Host, dir: &str) -> NoticeStream {
    let mut stream = host.files.watch(&at(dir), everything()).await.unwrap();
    assert_eq!(next(&mut stream).await, NoticeKind::Here);
    stream
}

async fn next(stream: &mut NoticeStream) -> NoticeKind {
    let next = timeout(Duration::from_secs(30), stream.next()).await;
    next.expect("something is told in time").unwrap().unwrap().kind
}

async fn until(
    stream: &mut NoticeStream,
    is_meant: impl Fn(&NoticeKind) -> bool,
) -> Vec<NoticeKind> {
    let mut told = Vec::new();
    loop {
        told.push(next(stream).await);
        if told.last().is_some_and(&is_meant) {
            return told;
        }
    }
}

async fn end(stream: &mut NoticeStream) -> ErrorKind {
    loop {
        let next = timeout(Duration::from_secs(30), stream.next()).await;
        if let Err(err) = next.expect("the end comes in time").unwrap() {
            return err.kind();
        }
    }
}
