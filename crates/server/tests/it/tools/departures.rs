//! A client that goes away cancels its call.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::{call, done, request};
use crate::http::{SOON, Server, answer};

/// Enough files that a copy of them takes a while.
pub(crate) fn plant(server: &Server) {
    for number in 0..5000 {
        server.put(&format!("big/d{}/f{number}", number % 100), "x");
    }
}

async fn events(server: &Server) -> Vec<serde_json::Value> {
    let page = server.get("/v1/sandboxes/test/audit?limit=1000").await;
    page.json()["events"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_cancels_its_call() {
    let server = Server::start().await;
    plant(&server);
    let mut stream = server.connect().await;
    let ask = request("copy", "", &json!({"from": "big", "to": "copy"}));
    stream.write_all(&ask.into_bytes()).await.unwrap();
    // Begun, and far from its end.
    tokio::time::sleep(Duration::from_millis(50)).await;
    has_not_ended(&server).await;
    drop(stream);
    is_abandoned(&server).await;
}

/// Makes sure that the copy of what was planted is still under way.
pub(crate) async fn has_not_ended(server: &Server) {
    assert_eq!(events(server).await, Vec::<serde_json::Value>::new());
}

/// Waits until the copy of what was planted to `copy` is given up, and makes sure that nothing comes of it.
pub(crate) async fn is_abandoned(server: &Server) {
    let began = Instant::now();
    let events = loop {
        let events = events(server).await;
        if !events.is_empty() {
            break events;
        }
        assert!(began.elapsed() < SOON, "nobody noticed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(
        (&events[0]["operation"], &events[0]["outcome"]),
        (&json!("copy"), &json!("abandoned"))
    );
    // It does not appear afterwards either: another one that began later is done by then.
    done(&call(server, "copy", "", json!({"from": "big", "to": "later"})).await);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.names(), ["big", "later"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stays_is_answered_again_and_again_on_one_connection() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    for number in 0..20 {
        let ask = request("write_file", "", &json!({"path": "f", "content": number.to_string()}));
        stream.write_all(&ask.into_bytes()).await.unwrap();
        done(&answer(&mut stream, false).await);
        assert_eq!(server.content("f"), number.to_string());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_come_before_their_turn_are_no_departure() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    let asks = (0..5).map(|number| {
        request("append_file", "", &json!({"path": "f", "content": number.to_string()}))
            .into_bytes()
    });
    stream.write_all(&asks.collect::<Vec<_>>().concat()).await.unwrap();
    for _ in 0..5 {
        done(&answer(&mut stream, false).await);
    }
    assert_eq!(
        done(&call(&server, "read_file", "", json!({"path": "f"})).await)["content"],
        "01234"
    );
}
