//! Prompts: the mock answers them here too, and no other agent does.

use serde_json::{Value, json};

use super::client::Client;
use crate::http::Server;

fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
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
        // The turn is under way when it is counted.
        loop {
            let info = client.call("_sandboxagent/session/get", json!({"sessionId": "s"})).await;
            if info["eventCount"] == 1 {
                break;
            }
        }
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
