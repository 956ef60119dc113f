//! Sessions belong to whoever opened them, and roles hold in them.

use std::time::Duration;

use serde_json::{Value, json};
use server::{Access, AgentRoom, Options};

use super::client::{Client, Stream, greeting, modern, request};
use crate::http::{Server, ask};
use crate::roles::TOKEN;

async fn server() -> Server {
    Server::with(Options::new(Access::Token(TOKEN.to_owned()))).await
}

/// A new key: its secret, and its id.
async fn key(server: &Server, wish: Value) -> (String, String) {
    let ask = ask("POST", "/v1/keys")
        .header("authorization", &format!("Bearer {TOKEN}"))
        .header("content-type", "application/json");
    let made = server.send(ask.body(wish.to_string())).await.json();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    (text("key"), text("id"))
}

async fn events(server: &Server) -> Vec<Value> {
    let audit =
        ask("GET", "/v1/sandboxes/test/audit").header("authorization", &format!("Bearer {TOKEN}"));
    server.send(audit).await.json()["events"].as_array().unwrap().clone()
}

#[tokio::test]
async fn nobody_is_heard_without_a_key() {
    let server = server().await;
    let stranger = Client::stranger(&server);
    for ask in [stranger.post(&greeting()), stranger.ask("GET"), stranger.ask("DELETE")] {
        server.send(ask).await.is_kind(401, "token_invalid");
    }
}

#[tokio::test]
async fn a_session_of_another_key_looks_as_if_there_were_none() {
    let server = server().await;
    let (one, _) = key(&server, json!({"role": "owner"})).await;
    let (other, id) = key(&server, json!({"role": "owner"})).await;
    let client = Client::with_key(&server, &one).await;
    for stranger in [other.as_str(), TOKEN] {
        let key = Some(stranger.to_owned());
        let thief = Client {
            key: key.clone(),
            session: client.session.clone(),
            ..Client::stranger(&server)
        };
        let nobody = Client { key, session: Some("none".to_owned()), ..Client::stranger(&server) };
        let message = request("tools/list", json!({}));
        let (theft, miss) = (thief.send(&message).await, nobody.send(&message).await);
        assert_eq!((theft.status, theft.text()), (404, miss.text()));
        for method in ["GET", "DELETE"] {
            let theft = server.send(thief.ask(method)).await;
            assert_eq!((theft.status, theft.text()), (404, miss.text()), "{method}");
        }
    }
    // It is still his who opened it, and whoever tried is written down.
    assert!(client.call("tools/list", json!({})).await["tools"].is_array());
    let events = events(&server).await;
    let refused = |event: &&Value| event["operation"] == "mcp_call" && event["key"] == id;
    assert_eq!(events.iter().find(refused).unwrap()["outcome"], "refused");
}

#[tokio::test]
async fn a_session_is_of_the_sandbox_in_which_it_was_opened() {
    let server = server().await;
    let made = ask("POST", "/v1/sandboxes").header("authorization", &format!("Bearer {TOKEN}"));
    let made =
        made.header("content-type", "application/json").body(json!({"id": "other"}).to_string());
    assert_eq!(server.send(made).await.status, 201);
    server.put("a.txt", "of test");
    let stranger = Client { key: Some(TOKEN.to_owned()), ..Client::stranger(&server) };
    let client = Client { query: "?sandbox=other", ..stranger }.greeted().await;
    client.tool("write_file", json!({"path": "a.txt", "content": "of other"})).await;
    assert_eq!(server.content("a.txt"), "of test");
    let elsewhere = Client {
        query: "?sandbox=test",
        key: client.key.clone(),
        session: client.session.clone(),
        ..Client::stranger(&server)
    };
    assert_eq!(elsewhere.send(&request("tools/list", json!({}))).await.status, 404);
    let nowhere =
        Client { query: "?sandbox=none", key: client.key.clone(), ..Client::stranger(&server) };
    server.send(nowhere.post(&greeting())).await.is_kind(404, "sandbox_not_found");
}

#[tokio::test]
async fn a_viewer_is_offered_nothing_that_writes_and_can_call_nothing_that_does() {
    let server = server().await;
    server.put("a.txt", "hi");
    let (viewer, id) = key(&server, json!({"role": "viewer"})).await;
    let client = Client::with_key(&server, &viewer).await;
    let listed = client.call("tools/list", json!({})).await;
    for tool in listed["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    let read = client.tool("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(read["content"][0]["text"], "hi");
    let refused = client.tool("write_file", json!({"path": "a.txt", "content": "no"})).await;
    assert_eq!(refused["structuredContent"]["metadata"]["kind"], "forbidden");
    assert_eq!(server.content("a.txt"), "hi");
    let alone = modern("tools/call", json!({"name": "delete", "arguments": {"path": "a.txt"}}));
    let alone = server.send(Client { session: None, ..client }.alone(&alone)).await.json();
    assert_eq!(alone["result"]["isError"], true);
    let events = events(&server).await;
    let refusals =
        events.iter().filter(|event| event["key"] == id && event["outcome"] == "refused");
    assert_eq!(refusals.count(), 2, "{events:?}");
}

#[tokio::test]
async fn what_a_client_changes_is_written_down_with_its_key() {
    let server = server().await;
    let (developer, id) = key(&server, json!({"role": "developer"})).await;
    let client = Client::with_key(&server, &developer).await;
    client.tool("write_file", json!({"path": "a.txt", "content": "hi"})).await;
    let events = events(&server).await;
    let written = events.iter().find(|event| event["operation"] == "write").unwrap();
    assert_eq!((&written["key"], &written["path"]), (&json!(id), &json!("a.txt")));
}

#[tokio::test]
async fn a_key_for_a_directory_sees_nothing_else() {
    let server = server().await;
    server.put("docs/in.txt", "in");
    server.put("out.txt", "out");
    let wish = json!({"role": "owner", "sandboxes": ["test"], "prefix": "docs"});
    let client = Client::with_key(&server, &key(&server, wish).await.0).await;
    let listed = client.call("resources/list", json!({})).await;
    assert_eq!(listed["resources"].as_array().unwrap().len(), 2);
    for (tool, arguments) in [
        ("read_file", json!({"path": server.shown("out.txt")})),
        ("read_file", json!({"path": "../out.txt"})),
        ("list_directory", json!({"path": server.shown("")})),
    ] {
        assert_eq!(client.tool(tool, arguments).await["isError"], true, "{tool}");
    }
    let uri = format!("sandkeep://test{}", server.shown("out.txt"));
    assert!(client.reply("resources/read", json!({"uri": uri})).await["error"].is_object());
    let subscribed = client.reply("resources/subscribe", json!({"uri": uri})).await;
    assert!(subscribed["error"].is_object(), "{subscribed}");
    let outside = json!({"uri": "sandkeep://test/%2e%2e/%2e%2e/etc/passwd"});
    assert!(client.reply("resources/subscribe", outside).await["error"].is_object());
    let refused = |event: &Value| event["operation"] == "watch" && event["outcome"] == "refused";
    assert!(events(&server).await.iter().any(refused));
    assert_eq!(
        client.tool("read_file", json!({"path": "in.txt"})).await["content"][0]["text"],
        "in"
    );
}

#[tokio::test]
async fn sessions_are_so_many_and_no_more_and_end_when_nobody_uses_them() {
    let room = AgentRoom { most: 3, each: 2, idle: Duration::from_secs(3) };
    let options = Options { mcp: room, ..Options::new(Access::Token(TOKEN.to_owned())) };
    let server = Server::with(options).await;
    let (one, _) = key(&server, json!({"role": "owner"})).await;
    let first = Client::with_key(&server, &one).await;
    Client::with_key(&server, &one).await;
    let third = Client { key: Some(one.clone()), ..Client::stranger(&server) };
    let refused = server.send(third.post(&greeting())).await;
    refused.is_kind(429, "too_many_requests");
    assert!(refused.header("retry-after").is_some());
    // What needs no session is answered all the same.
    let alone = server.send(third.alone(&modern("tools/list", json!({})))).await;
    assert_eq!(alone.status, 200);
    let listening = Stream::open(&server, first.listening()).await;
    assert_eq!(listening.0.status, 200);
    tokio::time::sleep(Duration::from_secs(8)).await;
    // Whoever listens is there; the other was forgotten.
    assert!(first.call("tools/list", json!({})).await["tools"].is_array());
    let third = third.greeted().await;
    assert_eq!(server.send(third.ask("DELETE")).await.status, 204);
    assert_eq!(third.send(&request("tools/list", json!({}))).await.status, 404);
}
