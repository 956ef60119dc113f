//! The event stream: what was missed comes back, once and in its order.

use std::time::Duration;

use serde_json::json;

use super::client::Client;
use super::listener::Event;
use crate::http::Server;

/// Makes an event: a session that ends.
async fn event(client: &Client<'_>, id: &str) {
    client.call("session/load", json!({"sessionId": id})).await;
    client.call("_sandboxagent/session/terminate", json!({"sessionId": id})).await;
    client.call("_sandboxagent/session/detach", json!({"sessionId": id})).await;
}

fn told(events: &[Event]) -> Vec<(u64, String)> {
    let name = |event: &Event| event.data["params"]["session_id"].as_str().unwrap().to_owned();
    events.iter().map(|event| (event.id, name(event))).collect()
}

#[tokio::test]
async fn what_came_before_anybody_listened_is_told() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    event(&client, "a").await;
    event(&client, "b").await;
    let mut listener = client.listen(None).await;
    assert_eq!(told(&listener.take(2).await), [(1, "a".into()), (2, "b".into())]);
}

#[tokio::test]
async fn whoever_comes_back_gets_exactly_what_he_missed() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let mut listener = client.listen(None).await;
    event(&client, "a").await;
    assert_eq!(listener.next().await.unwrap().id, 1);
    drop(listener);
    for id in ["b", "c", "d"] {
        event(&client, id).await;
    }
    let mut listener = client.listen(Some(1)).await;
    assert_eq!(told(&listener.take(2).await), [(2, "b".into()), (3, "c".into())]);
    drop(listener);
    let mut listener = client.listen(Some(3)).await;
    event(&client, "e").await;
    assert_eq!(told(&listener.take(2).await), [(4, "d".into()), (5, "e".into())]);
}

#[tokio::test]
async fn a_second_stream_is_409_and_the_first_goes_on() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let mut first = client.listen(None).await;
    let second = server.send(client.listening(None)).await;
    second.is_kind(409, "stream_active");
    event(&client, "a").await;
    assert_eq!(first.next().await.unwrap().id, 1);
    // Whoever says where he was cut off takes the place of the first.
    let mut back = client.listen(Some(0)).await;
    assert_eq!(back.next().await.unwrap().id, 1);
    assert_eq!(first.next().await, None);
    first = back;
    // Whoever closes his and comes back at once is let in.
    for _ in 0..5 {
        drop(first);
        first = client.listen(None).await;
    }
}

#[tokio::test]
async fn what_is_no_longer_kept_is_told_as_missed() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    // Each is kept, up to 2,048 of them.
    let ended = json!({"jsonrpc": "2.0", "method": "_sandboxagent/session/terminate", "params": {"sessionId": "s"}});
    let resumed =
        json!({"jsonrpc": "2.0", "method": "session/resume", "params": {"sessionId": "s"}});
    let batch: Vec<_> = (0..32).flat_map(|_| [ended.clone(), resumed.clone()]).collect();
    let batch = serde_json::Value::from(batch);
    for _ in 0..65 {
        assert_eq!(client.post(&batch).await.status, 202);
    }
    let mut listener = client.listen(Some(10)).await;
    let missed = listener.next().await.unwrap();
    assert_eq!(missed.data["method"], "_sandboxagent/stream/missed");
    assert_eq!(missed.data["params"], json!({"after": 10, "until": 65 * 32 - 2048}));
    assert_eq!(missed.id, 65 * 32 - 2048);
    let events = listener.take(2048).await;
    let ids: Vec<u64> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids, (missed.id + 1..=65 * 32).collect::<Vec<_>>());
}

#[tokio::test]
async fn answers_are_not_told_on_the_stream() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let mut listener = client.listen(None).await;
    client.files("list_entries", json!({})).await;
    event(&client, "a").await;
    assert_eq!(told(&listener.take(1).await), [(1, "a".into())]);
}

#[tokio::test]
async fn a_stream_ends_with_its_server() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let mut listener = client.listen(None).await;
    let Server { stop, ended, .. } = server;
    drop(stop);
    assert_eq!(listener.next().await, None);
    tokio::time::timeout(Duration::from_secs(10), ended).await.unwrap().unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_streams_that_are_cut_off_again_and_again_lose_and_repeat_nothing() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let clients = futures::future::join_all((0..20).map(|_| Client::connect(&server))).await;
    let work = clients.iter().enumerate().map(|(number, client)| async move {
        let mut seen: Vec<u64> = Vec::new();
        for round in 0..10 {
            for turn in 0..3 {
                event(client, &format!("s-{number}-{round}-{turn}")).await;
            }
            let mut listener = client.listen(seen.last().copied()).await;
            // Sometimes all of it is read, sometimes not.
            let read = listener.take(1 + (number + round) % 3).await;
            seen.extend(read.iter().map(|event| event.id));
        }
        let mut listener = client.listen(seen.last().copied()).await;
        let left = listener.take(30 - seen.len()).await;
        seen.extend(left.iter().map(|event| event.id));
        assert_eq!(seen, (1..=30).collect::<Vec<_>>());
    });
    futures::future::join_all(work).await;
    drop(client);
}

#[tokio::test]
async fn whoever_only_asks_how_a_stream_begins_takes_nobodys_place() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let mut listener = client.listen(None).await;
    for last in [None, Some("0")] {
        let ask = client.ask("HEAD", "/v2/rpc");
        let ask = match last {
            Some(last) => ask.header("last-event-id", last),
            None => ask,
        };
        let began = std::time::Instant::now();
        let answer = server.send(ask).await;
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        assert_eq!(answer.header("x-acp-connection-id"), client.connection.as_deref());
        assert!(answer.status == 200 && began.elapsed() < Duration::from_secs(1));
    }
    event(&client, "a").await;
    assert_eq!(listener.next().await.unwrap().id, 1);
    let unnamed = server.send(Client::stranger(&server).ask("HEAD", "/v2/rpc")).await;
    assert_eq!(unnamed.status, 400);
}
