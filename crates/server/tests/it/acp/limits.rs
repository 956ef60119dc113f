//! How many may be connected, for how long, and how fast they may ask.

use std::num::NonZero;
use std::time::Duration;

use serde_json::json;
use server::{Access, AgentRoom, Options, PerKey};

use super::client::{Client, greeting};
use crate::http::{Server, ask};
use crate::roles::TOKEN;

fn room(most: usize, idle: Duration) -> Options {
    let agents = AgentRoom { most, each: most, idle };
    Options { agents, ..Options::new(Access::Open) }
}

#[tokio::test]
async fn too_many_connections_are_429_with_a_time_to_come_back() {
    let server = Server::with(room(2, Duration::from_secs(60))).await;
    let first = Client::connect(&server).await;
    Client::connect(&server).await;
    let refused = Client::stranger(&server).post(&greeting("mock")).await;
    refused.is_kind(429, "too_many_requests");
    assert!(refused.header("retry-after").is_some());
    server.send(first.ask("DELETE", "/v2/rpc")).await;
    Client::connect(&server).await;
}

#[tokio::test]
async fn a_connection_that_nobody_uses_is_forgotten_and_one_with_a_stream_is_not() {
    let server = Server::with(room(2, Duration::from_millis(300))).await;
    let (quiet, listening) = (Client::connect(&server).await, Client::connect(&server).await);
    let _listener = listening.listen(None).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/list"});
    quiet.post(&message).await.is_kind(404, "connection_not_found");
    assert_eq!(listening.post(&message).await.status, 200);
    // There is room again.
    Client::connect(&server).await;
}

#[tokio::test]
async fn a_connection_follows_only_so_many_sessions() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for number in 0..256 {
        client.call("session/load", json!({"sessionId": format!("s{number}")})).await;
    }
    let refused = client.fail("session/load", json!({"sessionId": "one-more"})).await;
    assert_eq!(refused["data"]["kind"], "limit_exceeded");
    // What is refused is not opened either, by whichever method.
    let wanted = json!({"sandboxagent.dev": {"requestedSessionId": "one-more"}});
    client.fail("session/new", json!({"_meta": wanted})).await;
    client.fail("session/new", json!({})).await;
    client.fail("session/fork", json!({"sessionId": "s0", "_meta": wanted})).await;
    let unknown = client.fail("_sandboxagent/session/get", json!({"sessionId": "one-more"})).await;
    assert_eq!(unknown["data"]["status"], 404);
    client.call("_sandboxagent/session/detach", json!({"sessionId": "s0"})).await;
    client.call("session/load", json!({"sessionId": "one-more"})).await;
}

#[tokio::test]
async fn each_member_of_a_batch_counts_as_a_request() {
    let mut options = Options::new(Access::Open);
    options.per_key = PerKey { requests: NonZero::new(10), transfers: None };
    let server = Server::with(options).await;
    let client = Client::connect(&server).await;
    let list = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "session/list"});
    let batch: Vec<_> = (0..40).map(list).collect();
    let replies = client.post(&batch.into()).await.json();
    let refused = replies.as_array().unwrap().iter().filter(|reply| reply.get("error").is_some());
    let refused: Vec<_> = refused.collect();
    assert!(refused.len() >= 25, "{}", refused.len());
    assert!(refused.iter().all(|reply| reply["error"]["data"]["kind"] == "too_many_requests"));
    assert!(replies[0].get("result").is_some());
}

#[tokio::test]
async fn sessions_that_ended_use_up_neither_a_connection_nor_its_agent() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for number in 0..300 {
        let id = format!("s{number}");
        client.session(&id).await;
        client.call("_sandboxagent/session/terminate", json!({"sessionId": id})).await;
    }
    for number in 0..80 {
        let id = format!("p{number}");
        client.session(&id).await;
        let prompt = json!([{"type": "text", "text": "hello"}]);
        let ended = client.call("session/prompt", json!({"sessionId": id, "prompt": prompt})).await;
        assert_eq!(ended["stopReason"], "end_turn");
    }
}

#[tokio::test]
async fn a_batch_that_comes_too_fast_is_written_down_once() {
    let mut options = Options::new(Access::Token(TOKEN.to_owned()));
    options.per_key = PerKey { requests: NonZero::new(10), transfers: None };
    let server = Server::with(options).await;
    let operator = |ask: crate::http::Ask| ask.header("authorization", &format!("Bearer {TOKEN}"));
    let wish = operator(ask("POST", "/v1/keys")).header("content-type", "application/json");
    let made = server.send(wish.body(r#"{"role":"viewer"}"#)).await.json();
    let client = Client::with_key(&server, made["key"].as_str().unwrap()).await;
    let list = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "session/list"});
    let batch: Vec<_> = (0..40).map(list).collect();
    assert_eq!(client.post(&batch.into()).await.status, 200);
    let log = server.send(operator(ask("GET", "/v1/audit/gate"))).await.json();
    let [event] = &log["events"].as_array().unwrap()[..] else { panic!("{log}") };
    assert_eq!((&event["operation"], &event["outcome"]), (&json!("call"), &json!("refused")));
    assert_eq!(
        (&event["key"], &event["reason"]),
        (&made["id"], &json!("the key sends requests too fast"))
    );
}
