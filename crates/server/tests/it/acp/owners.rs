//! Connections and sessions belong to whoever opened them.

use serde_json::{Value, json};
use server::{Access, Options};

use super::client::Client;
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

#[tokio::test]
async fn a_connection_of_another_key_looks_as_if_there_were_none() {
    let server = server().await;
    let (one, _) = key(&server, json!({"role": "owner"})).await;
    let (other, _) = key(&server, json!({"role": "owner"})).await;
    let client = Client::with_key(&server, &one).await;
    for stranger in [other.as_str(), TOKEN] {
        let thief = Client {
            server: &server,
            key: Some(stranger.to_owned()),
            connection: client.connection.clone(),
        };
        let nobody =
            Client { connection: Some("acp_conn_99".to_owned()), ..Client::stranger(&server) };
        let nobody = Client { key: thief.key.clone(), ..nobody };
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/list"});
        let (theft, miss) = (thief.post(&message).await, nobody.post(&message).await);
        assert_eq!((theft.status, theft.text()), (404, miss.text()));
        let theft = server.send(thief.listening(None)).await;
        assert_eq!((theft.status, theft.text()), (404, miss.text()));
        assert_eq!(server.send(thief.ask("DELETE", "/v2/rpc")).await.status, 204);
    }
    assert_eq!(client.call("session/list", json!({})).await["sessions"], json!([]));
}

#[tokio::test]
async fn whoever_tries_the_connection_of_another_is_written_down() {
    let server = server().await;
    let (one, _) = key(&server, json!({"role": "owner"})).await;
    let (other, id) = key(&server, json!({"role": "viewer"})).await;
    let client = Client::with_key(&server, &one).await;
    let thief = Client { server: &server, key: Some(other), connection: client.connection.clone() };
    thief.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "session/list"})).await;
    let audit =
        ask("GET", "/v1/sandboxes/test/audit").header("authorization", &format!("Bearer {TOKEN}"));
    let events = server.send(audit).await.json();
    let event = &events["events"][0];
    assert_eq!((&event["operation"], &event["outcome"]), (&json!("call"), &json!("refused")));
    assert_eq!((&event["key"], &event["reason"]), (&json!(id), &json!("unknown ACP client id")));
    // Whoever closes it is told the same as of one that was never there.
    assert_eq!(server.send(thief.ask("DELETE", "/v2/rpc")).await.status, 204);
    let audit =
        ask("GET", "/v1/sandboxes/test/audit").header("authorization", &format!("Bearer {TOKEN}"));
    let events = server.send(audit).await.json();
    let named = |event: &&Value| event["operation"] == "close_connection";
    let closing: Vec<_> = events["events"].as_array().unwrap().iter().filter(named).collect();
    let [event] = &closing[..] else { panic!("{events}") };
    assert_eq!((&event["outcome"], &event["key"]), (&json!("refused"), &json!(id)));
    assert_eq!(client.call("session/list", json!({})).await["sessions"], json!([]));
}

#[tokio::test]
async fn sessions_of_another_key_are_not_there() {
    let server = server().await;
    let (one, _) = key(&server, json!({"role": "owner"})).await;
    let (other, _) = key(&server, json!({"role": "owner"})).await;
    let (one, other) =
        (Client::with_key(&server, &one).await, Client::with_key(&server, &other).await);
    one.session("my-session").await;
    assert_eq!(other.call("session/list", json!({})).await["sessions"], json!([]));
    for method in ["_sandboxagent/session/get", "_sandboxagent/session/terminate", "session/fork"] {
        let error = other.fail(method, json!({"sessionId": "my-session"})).await;
        assert_eq!(error["data"]["status"], 404, "{method}");
    }
    // The same id may be his own.
    other.session("my-session").await;
    let mut listener = one.listen(None).await;
    other.call("_sandboxagent/session/terminate", json!({"sessionId": "my-session"})).await;
    one.call("_sandboxagent/session/terminate", json!({"sessionId": "my-session"})).await;
    assert_eq!(listener.next().await.unwrap().id, 1);
    let read = one.ask("GET", "/v2/fs/file?path=a&sessionId=my-session");
    assert_eq!(server.send(read).await.json()["kind"], "not_found");
}

#[tokio::test]
async fn a_key_for_a_directory_sees_nothing_else_by_any_method() {
    let server = server().await;
    server.put("docs/in.txt", "in");
    server.put("out.txt", "out");
    let (secret, _) =
        key(&server, json!({"role": "owner", "sandboxes": ["test"], "prefix": "docs"})).await;
    let client = Client::with_key(&server, &secret).await;
    let listed = client.files("list_entries", json!({})).await;
    assert_eq!(listed["entries"][0]["name"], "in.txt");
    let out = server.shown("out.txt");
    for method in ["stat", "read_file", "delete_entry", "mkdir"] {
        let problem = client.fails(method, json!({"path": out})).await;
        assert!([400, 403].contains(&problem["status"].as_u64().unwrap()), "{method}: {problem}");
    }
    client.call("session/load", json!({"sessionId": "s", "cwd": server.shown("")})).await;
    let problem = client.fails("read_file", json!({"path": "out.txt", "sessionId": "s"})).await;
    assert!([400, 403].contains(&problem["status"].as_u64().unwrap()), "{problem}");
    assert_eq!(server.content("out.txt"), "out");
}

#[tokio::test]
async fn the_stream_of_a_key_that_is_revoked_ends() {
    let server = server().await;
    let (secret, id) = key(&server, json!({"role": "viewer"})).await;
    let client = Client::with_key(&server, &secret).await;
    let mut listener = client.listen(None).await;
    let revoke = ask("DELETE", &format!("/v1/keys/{id}"))
        .header("authorization", &format!("Bearer {TOKEN}"));
    assert_eq!(server.send(revoke).await.status, 204);
    assert_eq!(listener.next().await, None);
}
