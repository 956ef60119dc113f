//! What a client is told without asking again: changes, progress, the end.

use std::time::Duration;

use engine::{DotDot, SandboxPath};
use serde_json::json;
use server::{Access, Options};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::client::{Client, Stream, modern, request};
use crate::http::{SOON, Server, ask};
use crate::roles::TOKEN;

#[tokio::test]
async fn whoever_subscribes_is_told_by_his_stream() {
    let server = Server::start().await;
    server.put("a.txt", "1");
    server.put("b.txt", "1");
    let client = Client::connect(&server).await;
    let (_, mut stream) = Stream::open(&server, client.listening()).await;
    let uri = format!("sandkeep://test{}", server.shown("a.txt"));
    client.call("resources/subscribe", json!({"uri": uri})).await;
    server.put("b.txt", "2");
    server.put("a.txt", "2");
    let told = stream.next().await.unwrap();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri);
    client.call("resources/unsubscribe", json!({"uri": uri})).await;
    client.call("resources/list", json!({})).await;
    // The list is watched from the moment in which it is answered.
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.put("new.txt", "1");
    let told = stream.until(|note| note["method"] != "notifications/resources/updated").await;
    assert_eq!(told["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn in_2026_whoever_listens_says_what_to() {
    let server = Server::start().await;
    server.put("a.txt", "1");
    let client = Client::stranger(&server);
    let later = format!("sandkeep://test{}", server.shown("later.txt"));
    let uri = format!("sandkeep://test{}", server.shown("a.txt"));
    let wish = json!({"notifications": {"resourceSubscriptions": [uri, later], "resourcesListChanged": true}});
    let (answer, mut stream) =
        Stream::open(&server, client.alone(&modern("subscriptions/listen", wish))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let granted = stream.next().await.unwrap();
    assert_eq!(granted["method"], "notifications/subscriptions/acknowledged");
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.put("a.txt", "2");
    let told = stream.until(|note| note["params"]["uri"] == uri.as_str()).await;
    assert_eq!(told["method"], "notifications/resources/updated");
    server.put("later.txt", "1");
    stream.until(|note| note["method"] == "notifications/resources/list_changed").await;
    stream.until(|note| note["params"]["uri"] == later.as_str()).await;
}

#[tokio::test]
async fn the_stream_of_a_key_that_is_revoked_ends() {
    let server = Server::with(Options::new(Access::Token(TOKEN.to_owned()))).await;
    let owner = format!("Bearer {TOKEN}");
    let made = ask("POST", "/v1/keys").header("authorization", &owner);
    let made = made.header("content-type", "application/json").body(r#"{"role":"viewer"}"#);
    let made = server.send(made).await.json();
    let client = Client::with_key(&server, made["key"].as_str().unwrap()).await;
    let (_, mut stream) = Stream::open(&server, client.listening()).await;
    let wish = json!({"notifications": {"resourcesListChanged": true}});
    let alone = Client { session: None, key: client.key.clone(), ..Client::stranger(&server) };
    let (_, mut modern) =
        Stream::open(&server, alone.alone(&modern("subscriptions/listen", wish))).await;
    let target = format!("/v1/keys/{}", made["id"].as_str().unwrap());
    server.send(ask("DELETE", &target).header("authorization", &owner)).await;
    assert_eq!(stream.next().await, None);
    while modern.next().await.is_some() {}
}

#[tokio::test]
async fn whoever_leaves_while_he_asks_leaves_nothing_behind() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for id in 1000..1100 {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
        let mut stream = server.connect().await;
        stream.write_all(&client.post(&message).into_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    }
    // Every one of them is answered, though nobody hears it, so that its id is free again.
    tokio::time::sleep(Duration::from_millis(500)).await;
    for id in 1000..1100 {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let (_, mut stream) = Stream::open(&server, client.post(&message)).await;
        let answer = stream.until(|message| message["id"] == id).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
}

#[tokio::test]
async fn a_file_that_alone_is_allowed_is_told_of_when_it_comes() {
    let allowed = SandboxPath::parse("later.txt", DotDot::Refuse).unwrap();
    let mut options = Options::new(Access::Open);
    options.tools.models.allowed_paths = vec![allowed];
    let server = Server::with(options).await;
    let client = Client::stranger(&server);
    let uri = format!("sandkeep://test{}", server.shown("later.txt"));
    let wish = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let (_, mut stream) =
        Stream::open(&server, client.alone(&modern("subscriptions/listen", wish))).await;
    stream.until(|note| note["method"] == "notifications/subscriptions/acknowledged").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.put("later.txt", "1");
    stream.until(|note| note["params"]["uri"] == uri.as_str()).await;
    server.put("later.txt", "2");
    stream.until(|note| note["params"]["uri"] == uri.as_str()).await;
}

#[tokio::test]
async fn progress_is_told_on_the_stream_of_the_call() {
    let server = Server::start().await;
    for number in 0..600 {
        server.put(&format!("many/{number}"), "");
    }
    let client = Client::connect(&server).await;
    let params = json!({"name": "list_directory", "arguments": {"path": "many"}, "_meta": {"progressToken": "p"}});
    let (_, mut stream) = Stream::open(&server, client.post(&request("tools/call", params))).await;
    let mut told = Vec::new();
    let answer = loop {
        let message = stream.next().await.unwrap();
        if message["method"] != "notifications/progress" {
            break message;
        }
        assert_eq!(message["params"]["progressToken"], "p");
        told.push(message["params"]["progress"].as_f64().unwrap());
    };
    assert_eq!(answer["id"], 7);
    assert!(told[0] >= 100.0 && told.is_sorted_by(|one, next| one < next), "{told:?}");
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn a_server_that_ends_ends_sessions_and_streams() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let (_, mut stream) = Stream::open(&server, client.listening()).await;
    let Server { stop, ended, .. } = server;
    stop.send(()).unwrap();
    assert_eq!(stream.next().await, None);
    tokio::time::timeout(SOON, ended).await.expect("it does not end").unwrap().unwrap();
}
