//! A call that nobody wants any more ends, and nothing comes of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, Stream, modern, request};
use crate::http::Server;
use crate::tools::departures::{has_not_ended, is_abandoned, plant};

fn copy() -> Value {
    json!({"name": "copy", "arguments": {"from": "big", "to": "copy"}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_is_not_answered_and_its_stream_ends() {
    let server = Server::start().await;
    plant(&server);
    let client = Client::connect(&server).await;
    let (_, mut stream) = Stream::open(&server, client.post(&request("tools/call", copy()))).await;
    has_not_ended(&server).await;
    let params = json!({"requestId": 7, "reason": "enough"});
    let enough = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    assert_eq!(client.send(&enough).await.status, 202);
    while let Some(message) = stream.next().await {
        assert_ne!(message["id"], 7, "{message}");
    }
    is_abandoned(&server).await;
    assert!(client.call("tools/list", json!({})).await["tools"].is_array());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_2026_whoever_goes_away_cancels_his_call() {
    let server = Server::start().await;
    plant(&server);
    let client = Client::stranger(&server);
    let call = client.alone(&modern("tools/call", copy())).into_bytes();
    let mut stream = server.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut stream, &call).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    has_not_ended(&server).await;
    drop(stream);
    is_abandoned(&server).await;
}
