//! What answers on a socket and is no engine, or a troubled one. Real ones never say such things.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::{ContainerName, ContainerState, Containers as _, ErrorKind, FileSystem as _, Links};
use sandkeep_containers::Sockets;
use tempfile::TempDir;

use crate::fixture::{container, kind, path};

/// Somebody who answers every question with these bytes, and then keeps the line open or not.
struct Fake {
    place: TempDir,
    asked: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, PartialEq)]
enum After {
    Hangs,
    Ends,
}

impl Fake {
    fn answering(bytes: impl Into<Vec<u8>>, after: After) -> Self {
        let (bytes, asked) = (bytes.into(), Arc::new(AtomicUsize::new(0)));
        let place = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(place.path().join("socket")).unwrap();
        let count = Arc::clone(&asked);
        thread::spawn(move || {
            for mut line in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let bytes = bytes.clone();
                thread::spawn(move || {
                    let _question = line.read(&mut [0; 4096]);
                    line.write_all(&bytes).ok();
                    if after == After::Hangs {
                        thread::sleep(Duration::from_secs(60));
                    }
                });
            }
        });
        Self { place, asked }
    }

    fn said(body: &str) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        Self::answering(head + body, After::Ends)
    }

    fn socket(&self) -> PathBuf {
        self.place.path().join("socket")
    }
}

async fn found(socket: &Path) -> engine::Result<ContainerState> {
    let name = ContainerName::parse("web").unwrap();
    Sockets::at(socket).find(&name).await
}

#[tokio::test]
async fn an_engine_that_never_answers_is_given_up() {
    let fake = Fake::answering("", After::Hangs);
    let began = Instant::now();
    let err = found(&fake.socket()).await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unavailable);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[tokio::test]
async fn an_engine_that_stops_in_the_middle_of_its_answer_is_given_up() {
    let fake = Fake::answering("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", After::Hangs);
    assert_eq!(kind(found(&fake.socket()).await), ErrorKind::Unavailable);
    let fake = Fake::answering("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", After::Ends);
    assert_eq!(kind(found(&fake.socket()).await), ErrorKind::Unavailable);
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let fake = Fake::answering("\x00\x01\x02SSH-2.0\r\n\r\n", After::Ends);
    assert_eq!(kind(found(&fake.socket()).await), ErrorKind::Unavailable);
}

#[tokio::test]
async fn an_answer_without_end_is_refused() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n".to_owned();
    let fake = Fake::answering(head + &" ".repeat(6 << 20), After::Hangs);
    let began = Instant::now();
    assert_eq!(kind(found(&fake.socket()).await), ErrorKind::Unavailable);
    assert!(began.elapsed() < Duration::from_secs(4), "it was read to its end");
}

#[tokio::test]
async fn a_process_that_cannot_be_is_refused() {
    for pid in ["0", "-7", "99999999999", "\"7\"", "null"] {
        let fake = Fake::said(&format!(
            r#"{{"Id":"ab","Name":"/web","State":{{"Running":true,"Pid":{pid}}}}}"#
        ));
        assert_eq!(kind(found(&fake.socket()).await), ErrorKind::Unavailable, "{pid}");
    }
}

#[tokio::test]
async fn a_container_that_there_is_not_is_missing_and_a_refusal_is_told() {
    let missing =
        Fake::answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", After::Ends);
    assert_eq!(found(&missing.socket()).await.unwrap(), ContainerState::Missing);
    let failing = Fake::answering("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", After::Ends);
    assert_eq!(kind(found(&failing.socket()).await), ErrorKind::Unavailable);
    let err = found(Path::new("/nowhere/socket")).await.unwrap_err();
    assert!(err.message().contains("--container-socket"), "{err}");
    let stopped = Fake::said(r#"{"Id":"ab","Name":"/web","State":{"Running":false,"Pid":0}}"#);
    assert_eq!(found(&stopped.socket()).await.unwrap(), ContainerState::Stopped);
}

#[tokio::test]
async fn a_container_whose_id_begins_like_the_name_is_another_one() {
    let said = r#"{"Id":"cafe01","Name":"/other","State":{"Running":true,"Pid":7}}"#;
    let fake = Fake::said(said);
    let name = ContainerName::parse("cafe").unwrap();
    let found = Sockets::at(&fake.socket()).find(&name).await;
    assert_eq!(found.unwrap(), ContainerState::Missing);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_none_of_the_engines_is_not_believed() {
    // One that there is, and that is in no container.
    let own = std::process::id();
    let fake = Fake::said(&format!(
        r#"{{"Id":"ab","Name":"/web","State":{{"Running":true,"Pid":{own}}}}}"#
    ));
    let files = container(&fake.socket(), "web", "/");
    assert_eq!(kind(files.attach().await), ErrorKind::InvalidArgument);
    // One that there is not: the engine counts the processes of another machine.
    let fake = Fake::said(r#"{"Id":"ab","Name":"/web","State":{"Running":true,"Pid":4194303}}"#);
    let files = container(&fake.socket(), "web", "/");
    let err = files.attach().await.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::SandboxUnavailable);
    assert!(err.message().contains("--pid=host"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_container_is_away_its_engine_is_asked_once_a_second_for_all() {
    let fake = Fake::said(r#"{"Id":"ab","Name":"/web","State":{"Running":false,"Pid":0}}"#);
    let files = container(&fake.socket(), "web", "/");
    let began = Instant::now();
    let looks = (0..200).map(|_| {
        let files = files.clone();
        tokio::spawn(async move { files.stat(&path("/"), Links::Follow).await })
    });
    for look in looks.collect::<Vec<_>>() {
        assert_eq!(kind(look.await.unwrap()), ErrorKind::SandboxUnavailable);
    }
    let most = 1 + began.elapsed().as_secs() as usize;
    let asked = fake.asked.load(Ordering::SeqCst);
    assert!((1..=most).contains(&asked), "it was asked {asked} times");
}
