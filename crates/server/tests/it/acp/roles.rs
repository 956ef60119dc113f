//! Who may do what by which method: every method, for every role.

use serde_json::{Value, json};
use server::{Access, Options};

use super::client::Client;
use crate::http::{Server, ask};
use crate::roles::TOKEN;

/// What each method is called with, whether it changes files, and what it is called in the audit.
fn methods() -> Vec<(&'static str, Value, bool, &'static str)> {
    let trip = json!({"from": "f.txt", "to": "moved.txt", "overwrite": true});
    let named = json!({"sessionId": "s"});
    let noted = json!({"sessionId": "s", "metadata": {"title": "t"}});
    let tar = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode([0; 1024])
    };
    vec![
        ("initialize", json!({}), false, "open_connection"),
        ("session/new", json!({}), false, "open_session"),
        ("session/load", named.clone(), false, "open_session"),
        ("session/resume", named.clone(), false, "open_session"),
        ("session/fork", named.clone(), false, "open_session"),
        ("session/list", json!({}), false, "list_sessions"),
        (
            "session/prompt",
            json!({"sessionId": "s", "prompt": [{"type": "text", "text": "write f.txt x"}]}),
            false,
            "prompt",
        ),
        ("session/cancel", named.clone(), false, "cancel_prompt"),
        ("_sandboxagent/session/list", json!({}), false, "list_sessions"),
        ("_sandboxagent/session/get", named.clone(), false, "show_session"),
        ("_sandboxagent/session/set_metadata", noted, false, "change_session"),
        ("_sandboxagent/session/detach", named.clone(), false, "leave_session"),
        ("_sandboxagent/session/terminate", named, false, "end_session"),
        ("_sandboxagent/fs/list_entries", json!({"path": "."}), false, "list"),
        ("_sandboxagent/fs/stat", json!({"path": "f.txt"}), false, "stat"),
        ("_sandboxagent/fs/read_file", json!({"path": "f.txt"}), false, "read"),
        ("_sandboxagent/fs/mkdir", json!({"path": "made"}), true, "create_dir"),
        (
            "_sandboxagent/fs/write_file",
            json!({"path": "w.txt", "contentBase64": "dw=="}),
            true,
            "write",
        ),
        (
            "_sandboxagent/fs/upload_batch",
            json!({"path": "up", "contentBase64": tar}),
            true,
            "unpack",
        ),
        ("_sandboxagent/fs/move", trip, true, "rename"),
        ("_sandboxagent/fs/delete_entry", json!({"path": "moved.txt"}), true, "remove"),
    ]
}

async fn world() -> Server {
    let server = Server::with(Options::new(Access::Token(TOKEN.to_owned()))).await;
    server.put("f.txt", "old");
    server
}

async fn key(server: &Server, wish: Value) -> String {
    let ask = ask("POST", "/v1/keys")
        .header("authorization", &format!("Bearer {TOKEN}"))
        .header("content-type", "application/json");
    let made = server.send(ask.body(wish.to_string())).await.json();
    made["key"].as_str().unwrap().to_owned()
}

async fn events(server: &Server, log: &str) -> Vec<Value> {
    let ask = ask("GET", log).header("authorization", &format!("Bearer {TOKEN}"));
    server.send(ask).await.json()["events"].as_array().unwrap().clone()
}

const LOG: &str = "/v1/sandboxes/test/audit?limit=1000";

#[tokio::test]
async fn every_method_that_is_announced_is_in_the_table() {
    let server = world().await;
    let client = Client::with_key(&server, TOKEN).await;
    let greeting = client.call("initialize", json!({})).await;
    let announced = &greeting["agentCapabilities"]["_meta"]["sandboxagent.dev"]["methods"];
    for name in announced.as_array().unwrap() {
        assert!(methods().iter().any(|(method, ..)| name == method), "{name}");
    }
    assert_eq!(announced.as_array().unwrap().len(), 13);
}

#[tokio::test]
async fn a_viewer_changes_no_file_by_any_method_and_is_written_down() {
    let server = world().await;
    let viewer = key(&server, json!({"role": "viewer"})).await;
    let client = Client::with_key(&server, &viewer).await;
    client.session("s").await;
    let mut refused = 0;
    for (method, params, changes, word) in methods() {
        let before = events(&server, LOG).await.len();
        let reply = client.reply(method, params).await;
        let new = events(&server, LOG).await.split_off(before);
        if changes {
            let problem = &reply["error"]["data"];
            assert_eq!(
                (&problem["status"], &problem["kind"]),
                (&json!(403), &json!("forbidden")),
                "{method}"
            );
            assert_eq!(new.len(), 1, "{method}: {new:?}");
            assert_eq!(
                (&new[0]["operation"], &new[0]["outcome"]),
                (&json!(word), &json!("refused"))
            );
            refused += 1;
        } else {
            assert!(reply.get("error").is_none(), "{method}: {reply}");
            assert_eq!(new, Vec::<Value>::new(), "{method}");
        }
    }
    assert_eq!(refused, 5);
    let put = client.ask("PUT", "/v2/fs/file?path=w.txt").body("w");
    assert_eq!(server.send(put).await.status, 403);
    assert_eq!(
        (server.names(), server.content("f.txt")),
        (vec!["f.txt".to_owned()], "old".to_owned())
    );
}

#[tokio::test]
async fn a_notification_or_a_batch_of_a_viewer_changes_nothing_either() {
    let server = world().await;
    let viewer = key(&server, json!({"role": "viewer"})).await;
    let client = Client::with_key(&server, &viewer).await;
    let changing: Vec<_> = methods().into_iter().filter(|(_, _, changes, _)| *changes).collect();
    let (mut members, mut silent) = (Vec::new(), Vec::new());
    for (method, params, ..) in &changing {
        members.push(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        silent.push(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }
    for message in &silent {
        assert_eq!(client.post(message).await.status, 202);
    }
    assert_eq!(client.post(&silent.into()).await.status, 202);
    let replies = client.post(&members.into()).await.json();
    assert!(replies.as_array().unwrap().iter().all(|it| it["error"]["data"]["status"] == 403));
    assert_eq!(
        (server.names(), server.content("f.txt")),
        (vec!["f.txt".to_owned()], "old".to_owned())
    );
    assert_eq!(events(&server, LOG).await.len(), 3 * changing.len());
}

#[tokio::test]
async fn a_developer_may_do_all_of_it_and_each_change_is_written_down_once() {
    let server = world().await;
    let developer = key(&server, json!({"role": "developer"})).await;
    let client = Client::with_key(&server, &developer).await;
    client.session("s").await;
    for (method, params, changes, word) in methods() {
        let before = events(&server, LOG).await.len();
        client.call(method, params).await;
        let new = events(&server, LOG).await.split_off(before);
        assert_eq!(new.len(), usize::from(changes), "{method}: {new:?}");
        if changes {
            assert_eq!((&new[0]["operation"], &new[0]["outcome"]), (&json!(word), &json!("ok")));
        }
    }
    assert_eq!(server.names(), ["made", "up", "w.txt"]);
}

#[tokio::test]
async fn whoever_climbs_is_written_down_with_what_he_spelled() {
    let server = world().await;
    let client = Client::with_key(&server, TOKEN).await;
    for (method, params, _, word) in methods() {
        if params.get("path").is_none() {
            continue;
        }
        let mut params = params;
        params["path"] = json!("../b");
        let before = events(&server, LOG).await.len();
        client.fail(method, params).await;
        let new = events(&server, LOG).await.split_off(before);
        assert_eq!(new.len(), 1, "{method}: {new:?}");
        let told = (&new[0]["operation"], &new[0]["outcome"], &new[0]["subject"]);
        assert_eq!(told, (&json!(word), &json!("refused"), &json!("../b")), "{method}");
    }
    client.fail("session/new", json!({"cwd": "/etc"})).await;
    let last = events(&server, LOG).await.pop().unwrap();
    assert_eq!((&last["operation"], &last["subject"]), (&json!("open_session"), &json!("/etc")));
}
