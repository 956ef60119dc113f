//! JSON-RPC 2.0, as its standard says.

use serde_json::{Value, json};

use super::client::Client;
use crate::http::Server;

/// The code of a single error that has no id, and its problem.
async fn code_of(client: &Client<'_>, body: &str) -> i64 {
    let answer = client.send_text(body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text());
    let reply = answer.json();
    assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &Value::Null), "{body}");
    let problem = &reply["error"]["data"];
    assert_eq!(problem["status"], 400, "{reply}");
    assert!(problem["hint"].is_string() && problem["type"].is_string(), "{reply}");
    reply["error"]["code"].as_i64().unwrap()
}

#[tokio::test]
async fn what_is_no_json_is_32700() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let deep = "[".repeat(5000);
    for body in ["", "{", r#"{"jsonrpc": "2.0", "method"#, "[1,", &deep] {
        assert_eq!(code_of(&client, body).await, -32700, "{body}");
    }
    // Whoever is not connected is told the same.
    assert_eq!(code_of(&Client::stranger(&server), "{").await, -32700);
}

#[tokio::test]
async fn what_is_no_message_is_32600() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let bodies = [
        "1",
        "null",
        "\"text\"",
        "{}",
        r#"{"jsonrpc":"1.0","method":"m"}"#,
        r#"{"jsonrpc":"2.0","method":1}"#,
        r#"{"jsonrpc":"2.0","method":"m","params":"bar"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
        "[]",
    ];
    for body in bodies {
        assert_eq!(code_of(&client, body).await, -32600, "{body}");
    }
}

#[tokio::test]
async fn an_unknown_method_is_32601() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for method in ["foobar", "", "_sandboxagent/fs/x", "fs/read_text_file", "fs/write_text_file"] {
        let error = client.fail(method, json!({})).await;
        assert_eq!((&error["code"], &error["data"]["status"]), (&json!(-32601), &json!(404)));
        assert_eq!(error["message"], format!("method not found: {method}"));
    }
    let long = client.fail(&"m".repeat(100_000), json!({})).await;
    assert!(long["message"].as_str().unwrap().len() < 200);
}

#[tokio::test]
async fn params_that_do_not_fit_are_32602() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let error = client.fail("_sandboxagent/fs/stat", json!(["a"])).await;
    assert_eq!(error["code"], -32602);
    let error = client.fail("_sandboxagent/fs/stat", json!({"path": 1})).await;
    assert_eq!(error["code"], -32602);
    assert_eq!(error["message"], "invalid request: _sandboxagent/fs/stat requires params.path");
}

#[tokio::test]
async fn an_id_that_is_too_long_is_32600_without_an_id() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let id = "x".repeat(257);
    let message = json!({"jsonrpc": "2.0", "id": id, "method": "session/list"});
    let reply = client.post(&message).await.json();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(null), &json!(-32600)));
}

#[tokio::test]
async fn an_id_comes_back_as_it_was() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for id in [json!("a"), json!(""), json!(0), json!(-1), json!(1.5), json!(u64::MAX), json!(null)]
    {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "session/list"});
        assert_eq!(client.post(&message).await.json()["id"], id);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "foobar"});
        assert_eq!(client.post(&message).await.json()["id"], id);
    }
}

#[tokio::test]
async fn fields_are_in_the_order_of_their_names() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let answer = client
        .send_text(
            r#"{"params":{"path":"d"},"method":"_sandboxagent/fs/mkdir","id":1,"jsonrpc":"2.0"}"#,
        )
        .await;
    let path = serde_json::to_string(&server.shown("d")).unwrap();
    answer.is_json(&format!(r#"{{"id":1,"jsonrpc":"2.0","result":{{"path":{path}}}}}"#));
}

#[tokio::test]
async fn a_notification_is_done_and_not_answered() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let params = json!({"path": "made"});
    let mkdir = json!({"jsonrpc": "2.0", "method": "_sandboxagent/fs/mkdir", "params": params});
    let answer = client.post(&mkdir).await;
    assert_eq!((answer.status, answer.text()), (202, ""));
    assert_eq!(answer.header("x-acp-connection-id"), client.connection.as_deref());
    assert!(server.has("made"));
    // Nor is one told that fails, or that nobody knows.
    for method in ["_sandboxagent/fs/stat", "foobar"] {
        let message = json!({"jsonrpc": "2.0", "method": method});
        assert_eq!(client.post(&message).await.status, 202);
    }
}

#[tokio::test]
async fn a_batch_is_answered_member_by_member_in_its_order() {
    let server = Server::start().await;
    server.put("f.txt", "hello");
    let client = Client::connect(&server).await;
    let stat = |id: Value, path: &str| json!({"jsonrpc": "2.0", "id": id, "method": "_sandboxagent/fs/stat", "params": {"path": path}});
    let list = json!({"jsonrpc": "2.0", "id": 4, "method": "_sandboxagent/fs/list_entries"});
    let mkdir =
        json!({"jsonrpc": "2.0", "method": "_sandboxagent/fs/mkdir", "params": {"path": "d"}});
    let batch = json!([
        stat(json!("one"), "f.txt"),
        mkdir,
        1,
        stat(json!(2), "d"),
        {"foo": "boo"},
        stat(json!(3), "missing"),
        list,
        {"jsonrpc": "2.0", "id": 5, "method": "foobar"},
        {"jsonrpc": "2.0", "id": 9, "result": 1},
    ]);
    let answer = client.post(&batch).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let replies = answer.json();
    let told: Vec<(Value, Value)> = replies
        .as_array()
        .unwrap()
        .iter()
        .map(|reply| (reply["id"].clone(), reply["error"]["code"].clone()))
        .collect();
    let expected = [
        (json!("one"), Value::Null),
        (Value::Null, json!(-32600)),
        (json!(2), Value::Null),
        (Value::Null, json!(-32600)),
        (json!(3), json!(-32602)),
        (json!(4), Value::Null),
        (json!(5), json!(-32601)),
        (Value::Null, json!(-32602)),
    ];
    assert_eq!(told, expected);
    assert_eq!(replies[5]["result"]["entries"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_batch_of_notifications_is_accepted_without_a_body() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let mkdir = |path: &str| json!({"jsonrpc": "2.0", "method": "_sandboxagent/fs/mkdir", "params": {"path": path}});
    let answer = client.post(&json!([mkdir("a"), mkdir("b")])).await;
    assert_eq!((answer.status, answer.text()), (202, ""));
    assert_eq!(server.names(), ["a", "b"]);
}

#[tokio::test]
async fn a_batch_of_nonsense_is_an_array_of_errors() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let replies = client.send_text("[1,2,3]").await.json();
    let codes: Vec<_> = replies.as_array().unwrap().iter().map(|it| &it["error"]["code"]).collect();
    assert_eq!(codes, [&json!(-32600); 3]);
}

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_refused() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let words = "JSON-RPC response id does not match any pending ACP agent request";
    client.post(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})).await.is_invalid(words);
    let error = json!({"code": 1, "message": "m"});
    client.post(&json!({"jsonrpc": "2.0", "id": "a", "error": error})).await.is_invalid(words);
}
