//! `fs-watch`: events as things happen.

use serde_json::json;
use server::{Access, Options};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{HOST, VIRTUAL, json_body, serving};
use crate::http::{SOON, Server, ask};

/// Reads events until one of them holds this text; gives everything that was read.
async fn until(stream: &mut TcpStream, text: &str) -> String {
    let mut seen = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&seen).contains(text) {
            seen.push(stream.read_u8().await.unwrap());
        }
        // To the end of the event.
        while !seen.ends_with(b"\n\n") {
            seen.push(stream.read_u8().await.unwrap());
        }
    };
    tokio::time::timeout(SOON, reading).await.expect(text);
    String::from_utf8(seen).unwrap()
}

async fn watching(server: &Server, target: &str) -> TcpStream {
    let mut stream = server.connect().await;
    stream.write_all(&ask("GET", target).into_bytes()).await.unwrap();
    stream
}

fn last_id(events: &str) -> &str {
    events.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap()
}

#[tokio::test]
async fn what_happens_is_told_and_whoever_comes_back_misses_nothing() {
    let server = serving().await;
    for at in [HOST, VIRTUAL] {
        let target = format!("{at}/fs-watch");
        let mut stream = watching(&server, &target).await;
        let begun = until(&mut stream, "event: here").await;
        assert!(begun.contains("content-type: text/event-stream"), "{begun}");
        server.send(ask("PUT", &format!("{at}/fs/d/one.txt")).body("1")).await;
        let seen = until(&mut stream, "one.txt").await;
        let cursor = last_id(&seen).to_owned();
        drop(stream);
        server.send(ask("PUT", &format!("{at}/fs/d/two.txt")).body("2")).await;
        server.send(ask("DELETE", &format!("{at}/fs/d/one.txt"))).await;
        let again = ask("GET", &target).header("last-event-id", &cursor);
        let mut stream = server.connect().await;
        stream.write_all(&again.into_bytes()).await.unwrap();
        let mut missed = until(&mut stream, "removed").await;
        // In which order they come is not promised.
        if !missed.contains("two.txt") {
            missed += &until(&mut stream, "two.txt").await;
        }
        assert!(missed.contains("two.txt") && missed.contains("one.txt"), "{missed}");
        assert!(!missed.contains("resync"), "{missed}");
    }
}

#[tokio::test]
async fn a_key_for_a_part_of_a_directory_misses_nothing_either() {
    let server = Server::with(Options::new(Access::Token("token".into()))).await;
    server.put("part/d/f", "1");
    let wish = json!({"role": "viewer", "sandboxes": ["test"], "prefix": "part"});
    let make = json_body("POST", "/v1/keys", &wish).header("authorization", "Bearer token");
    let made = server.send(make).await.json();
    let key = format!("Bearer {}", made["key"].as_str().unwrap());
    let target = format!("{HOST}/fs-watch/part");
    let mut stream = server.connect().await;
    let begin = ask("GET", &target).header("authorization", &key);
    stream.write_all(&begin.clone().into_bytes()).await.unwrap();
    let cursor = last_id(&until(&mut stream, "event: here").await).to_owned();
    drop(stream);
    server.put("part/d/missed", "1");
    let mut stream = server.connect().await;
    stream.write_all(&begin.header("last-event-id", &cursor).into_bytes()).await.unwrap();
    let missed = until(&mut stream, "part/d/missed").await;
    assert!(!missed.contains("resync"), "{missed}");
}

#[tokio::test]
async fn a_cursor_that_nobody_gave_out_is_told_to_begin_anew() {
    let server = serving().await;
    let target = format!("{VIRTUAL}/fs-watch");
    let nonsense = server.get(&format!("{target}?cursor=nonsense")).await;
    assert_eq!(nonsense.status, 400, "{}", nonsense.text());
    let mut stream = watching(&server, &format!("{HOST}/fs-watch?cursor=h1-1")).await;
    until(&mut stream, "event: resync").await;
}
