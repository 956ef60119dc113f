//! Prompts: the mock answers them here too, and no other agent does.

use serde_json::{Value, json};

use super::client::{Client, greeting};
use crate::http::Server;

fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// Waits until the session `s` is in its first turn, which is when it is counted.
async fn under_way(client: &Client<'_>) {
    loop {
        let info = client.call("_sandboxagent/session/get", json!({"sessionId": "s"})).await;
        if info["eventCount"] == 1 {
            return;
        }
    }
}

#[tokio::test]
async fn the_mock_answers_and_says_what_it_says_on_the_stream() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let mut listener = client.listen(None).await;
    let ended = client.call("session/prompt", prompt("s", "hello")).await;
    assert_eq!(ended["stopReason"], "end_turn");
    let event = listener.next().await.unwrap();
    assert_eq!(event.data["method"], "session/update");
    assert_eq!(event.data["params"]["sessionId"], "s");
    let info = client.call("_sandboxagent/session/get", json!({"sessionId": "s"})).await;
    assert_eq!(info["eventCount"], 1);
}

#[tokio::test]
async fn a_prompt_that_is_none_is_a_failure_with_its_problem() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let error = client.fail("session/prompt", json!({"sessionId": "s", "prompt": 7})).await;
    assert_eq!((&error["code"], &error["data"]["status"]), (&json!(-32602), &json!(400)));
}

#[tokio::test]
async fn an_answer_says_how_far_the_stream_was_by_then() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let params = prompt("s", "hello there");
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": params});
    let mut listener = client.listen(None).await;
    for _ in 0..2 {
        let answer = client.post(&message).await;
        let told: u64 = answer.header("x-acp-event-id").unwrap().parse().unwrap();
        // All of the turn was told by that event, and nothing of it is behind.
        let mut said = String::new();
        loop {
            let event = listener.next().await.unwrap();
            said += event.data["params"]["update"]["content"]["text"].as_str().unwrap();
            if event.id == told {
                break;
            }
        }
        assert!(said.ends_with("hello there"), "{said}");
    }
}

#[tokio::test]
async fn another_agent_is_not_there_and_that_is_told() {
    let server = Server::start().await;
    let client = Client::stranger(&server).connected("claude").await;
    client.session("s").await;
    let error = client.fail("session/prompt", prompt("s", "hello")).await;
    assert_eq!((&error["code"], &error["data"]["agent"]), (&json!(-32002), &json!("claude")));
    assert_eq!(error["data"]["type"], "urn:sandbox-agent:error:agent_not_installed");
}

#[tokio::test]
async fn a_turn_can_be_cancelled_and_an_unknown_session_cannot() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let turn = client.call("session/prompt", prompt("s", "wait 60"));
    let cancel = async {
        under_way(&client).await;
        let message =
            json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}});
        assert_eq!(client.post(&message).await.status, 202);
    };
    let (ended, ()) = tokio::join!(turn, cancel);
    assert_eq!(ended["stopReason"], "cancelled");
    let error = client.fail("session/cancel", json!({"sessionId": "none"})).await;
    assert_eq!(error["data"]["status"], 404);
}

#[tokio::test]
async fn a_prompt_is_no_member_of_a_batch() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt("s", "hello")});
    let replies = client.post(&json!([message])).await.json();
    let words = "invalid request: session/prompt cannot be part of a batch";
    assert_eq!(replies[0]["error"]["message"], words);
}

#[tokio::test]
async fn prompts_with_one_id_get_the_answers_that_are_theirs() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let first = client.call("session/prompt", prompt("s", "wait 1"));
    let second = async {
        under_way(&client).await;
        client.fail("session/prompt", prompt("s", "too early")).await
    };
    let (ended, refused) = tokio::join!(first, second);
    assert_eq!(ended["stopReason"], "end_turn");
    assert!(refused["message"].as_str().unwrap().contains("in a turn"), "{refused}");
}

#[tokio::test]
async fn a_session_may_be_called_by_either_of_its_names() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let mut params = prompt("s", "wait 60");
    params.as_object_mut().unwrap().remove("sessionId");
    params["session_id"] = json!("s");
    let turn = client.call("session/prompt", params);
    let cancel = async {
        under_way(&client).await;
        client.call("session/cancel", json!({"session_id": "s"})).await;
    };
    let (ended, ()) = tokio::join!(turn, cancel);
    assert_eq!(ended["stopReason"], "cancelled");
}

#[tokio::test]
async fn a_turn_ends_with_its_connection() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let turn = client.call("session/prompt", prompt("s", "wait 60"));
    let close = async {
        under_way(&client).await;
        assert_eq!(server.send(client.ask("DELETE", "/v2/rpc")).await.status, 204);
    };
    let (ended, ()) = tokio::join!(turn, close);
    assert_eq!(ended["stopReason"], "cancelled");
}

#[tokio::test]
async fn a_session_is_in_one_turn_by_whichever_connection_and_any_of_them_cancels_it() {
    let server = Server::start().await;
    let (one, other) = (Client::connect(&server).await, Client::connect(&server).await);
    one.session("s").await;
    let turn = one.call("session/prompt", prompt("s", "wait 60"));
    let others = async {
        under_way(&other).await;
        let refused = other.fail("session/prompt", prompt("s", "too early")).await;
        assert!(refused["message"].as_str().unwrap().contains("in a turn"), "{refused}");
        other.call("session/cancel", json!({"sessionId": "s"})).await;
    };
    let (ended, ()) = tokio::join!(turn, others);
    assert_eq!(ended["stopReason"], "cancelled");
    let ended = other.call("session/prompt", prompt("s", "now")).await;
    assert_eq!(ended["stopReason"], "end_turn");
}

#[tokio::test]
async fn an_agent_works_where_its_session_is_by_now() {
    let server = Server::start().await;
    let mut hello = greeting("mock");
    hello["params"]["clientCapabilities"] = json!({"fs": {"readTextFile": true}});
    let answer = Client::stranger(&server).post(&hello).await;
    let connection = answer.header("x-acp-connection-id").map(ToOwned::to_owned);
    let client = Client { connection, ..Client::stranger(&server) };
    let mut listener = client.listen(None).await;
    for name in ["one", "other"] {
        let cwd = server.shown(name);
        client.call("session/load", json!({"sessionId": "s", "cwd": cwd})).await;
        let turn = client.call("session/prompt", prompt("s", "read a.txt"));
        let reading = async {
            let asked = listener.next().await.unwrap().data;
            assert_eq!(asked["params"]["path"], json!(format!("{cwd}/a.txt")));
            client.call("session/cancel", json!({"sessionId": "s"})).await;
        };
        let (ended, ()) = tokio::join!(turn, reading);
        assert_eq!(ended["stopReason"], "cancelled");
    }
}

#[tokio::test]
async fn a_session_of_another_agent_is_not_answered_by_the_mock() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let meta = json!({"sandboxagent.dev": {"requestedSessionId": "s", "agent": "claude"}});
    client.call("session/new", json!({"_meta": meta, "mcpServers": []})).await;
    let error = client.fail("session/prompt", prompt("s", "hello")).await;
    assert_eq!(error["data"]["kind"], "agent_not_installed");
    assert_eq!(error["data"]["agent"], "claude");
}
