//! `/v2/fs`: bytes over HTTP.

use serde_json::json;

use super::client::Client;
use crate::http::{Server, ask};
use crate::tar_archive::archive;

#[tokio::test]
async fn a_file_is_written_and_read_by_either_name_of_a_session_and_by_both() {
    let server = Server::start().await;
    server.put("work/x", "");
    let client = Client::connect(&server).await;
    client
        .call("session/load", json!({"sessionId": "my-session", "cwd": server.shown("work")}))
        .await;
    let names = [
        "sessionId=my-session",
        "session_id=my-session",
        "sessionId=my-session&session_id=my-session",
    ];
    for (number, session) in names.into_iter().enumerate() {
        let target = format!("/v2/fs/file?path=./notes-{number}.txt&{session}");
        let written = server.send(ask("PUT", &target).body("hello")).await;
        let path = server.shown(&format!("work/notes-{number}.txt"));
        assert_eq!(written.json(), json!({"path": path, "bytesWritten": 5}));
        let read = server.get(&target).await;
        assert_eq!((read.status, read.text()), (200, "hello"));
        assert_eq!(read.header("content-type"), Some("application/octet-stream"));
    }
    let differing = "/v2/fs/file?path=a&sessionId=one&session_id=two";
    assert_eq!(server.get(differing).await.status, 400);
}

#[tokio::test]
async fn no_connection_is_needed_for_bytes_and_no_session_means_the_home() {
    let server = Server::start().await;
    let put = ask("PUT", "/v2/fs/file?path=a/b.txt").body("hello");
    assert_eq!(server.send(put).await.json()["path"], server.shown("a/b.txt"));
    let part = ask("GET", "/v2/fs/file?path=a/b.txt").header("range", "bytes=1-3");
    let part = server.send(part).await;
    assert_eq!((part.status, part.text()), (206, "ell"));
    let head = server.send(ask("HEAD", "/v2/fs/file?path=a/b.txt")).await;
    assert_eq!(head.header("content-length"), Some("5"));
}

#[tokio::test]
async fn what_is_large_goes_in_and_out_unchanged() {
    let server = Server::start().await;
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
    let put = ask("PUT", "/v2/fs/file?path=large.bin").body(bytes.clone());
    assert_eq!(server.send(put).await.json()["bytesWritten"], 20_000_000);
    assert!(server.get("/v2/fs/file?path=large.bin").await.body == bytes);
}

#[tokio::test]
async fn a_bad_path_is_the_same_problem_as_in_v1() {
    let server = Server::start().await;
    for path in ["missing", "../up", "/outside", "", "a%00b"] {
        let (old, new) = (format!("/v1/fs/file?path={path}"), format!("/v2/fs/file?path={path}"));
        let (old, new) = (server.get(&old).await, server.get(&new).await);
        assert_eq!((old.status, old.text()), (new.status, new.text()), "{path}");
        assert_eq!(new.status, 400, "{path}");
    }
}

#[tokio::test]
async fn an_archive_must_say_that_it_is_tar_and_its_paths_come_back() {
    let server = Server::start().await;
    let tar = archive(&[("a.txt", "hello")]);
    let target = "/v2/fs/upload-batch?path=./skills&session_id=s&sessionId=s";
    assert_eq!(server.send(ask("POST", "/v1/sessions/s")).await.status, 200);
    let untyped = server.send(ask("POST", target).body(tar.clone())).await;
    untyped.is_invalid("content-type must be application/x-tar");
    let typed = ask("POST", target).header("content-type", "application/x-tar").body(tar);
    let unpacked = server.send(typed).await.json();
    let paths = [server.shown("skills/a.txt")];
    assert_eq!(unpacked, json!({"paths": paths, "truncated": false}));
}

#[tokio::test]
async fn an_answer_names_the_first_1024_paths() {
    let server = Server::start().await;
    let names: Vec<String> = (0..1030).map(|number| format!("f{number}")).collect();
    let members: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let ask = ask("POST", "/v2/fs/upload-batch").header("content-type", "application/x-tar");
    let unpacked = server.send(ask.body(archive(&members))).await.json();
    assert_eq!(unpacked["paths"].as_array().unwrap().len(), 1024);
    assert_eq!(unpacked["truncated"], true);
}
