//! Sandboxes made, listed, changed and removed.

use serde_json::{Value, json};

use super::{VIRTUAL, json_body, made, put, serving};
use crate::http::{Server, ask};

fn ids(list: &Value) -> Vec<&str> {
    list["sandboxes"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

async fn list(server: &Server, query: &str) -> Value {
    let answer = server.get(&format!("/v1/sandboxes{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn a_new_sandbox_is_as_it_was_asked_for() {
    let server = Server::start().await;
    let wish = json!({"id": "alice", "prefix": "/workspace", "labels": {"team": "a"}, "ttl": 3600,
        "limits": {"nodes": 10}});
    let answer = server.post_json("/v1/sandboxes", &wish.to_string()).await;
    assert_eq!((answer.status, answer.header("location")), (201, Some("/v1/sandboxes/alice")));
    let told = answer.json();
    assert_eq!(
        (&told["id"], &told["kind"], &told["prefix"]),
        (&json!("alice"), &json!("virtual"), &json!("/workspace"))
    );
    assert_eq!((&told["labels"], &told["limits"]["nodes"]), (&json!({"team": "a"}), &json!(10)));
    assert!(told["expires_at"].is_string() && told["main"] == false, "{told}");
    assert_eq!(server.get("/v1/sandboxes/alice").await.json(), told);
}

#[tokio::test]
async fn a_taken_id_is_409_and_what_has_it_stays() {
    let server = serving().await;
    put(&server, VIRTUAL, "f", "kept").await;
    let answer = server.post_json("/v1/sandboxes", "{\"id\":\"v\"}").await;
    answer.is_kind(409, "already_exists");
    assert_eq!(super::content(&server, VIRTUAL, "f").await, "kept");
    let main = server.post_json("/v1/sandboxes", "{\"id\":\"test\"}").await;
    main.is_kind(409, "already_exists");
}

#[tokio::test]
async fn an_id_is_made_up_where_none_is_given() {
    let server = Server::start().await;
    let (one, other) = (made(&server, json!({})).await, made(&server, json!({})).await);
    assert_ne!(one["id"], other["id"]);
}

#[tokio::test]
async fn wishes_that_cannot_be_met_are_refused() {
    let server = Server::start().await;
    for (wish, status) in [
        (json!({"id": "Not an id"}), 400),
        (json!({"id": ""}), 400),
        (json!({"prefix": "relative"}), 400),
        (json!({"root": "/tmp"}), 400),
        (json!({"kind": "host", "from": {"sandbox": "v"}}), 400),
        (json!({"colour": "red"}), 422),
    ] {
        let answer = server.post_json("/v1/sandboxes", &wish.to_string()).await;
        assert_eq!(answer.status, status, "{wish}: {}", answer.text());
    }
    // No directory was allowed.
    let host = server.post_json("/v1/sandboxes", "{\"kind\":\"host\"}").await;
    assert!([400, 403].contains(&host.status), "{}", host.text());
    assert_eq!(ids(&list(&server, "").await), ["test"]);
}

#[tokio::test]
async fn sandboxes_are_listed_page_by_page_and_by_label() {
    let server = Server::start().await;
    for (id, team) in [("a", "red"), ("b", "blue"), ("c", "red"), ("d", "red")] {
        made(&server, json!({"id": id, "labels": {"team": team}})).await;
    }
    let (mut found, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let page = list(&server, &query).await;
        assert!(ids(&page).len() <= 2, "{page}");
        found.extend(ids(&page).into_iter().map(ToOwned::to_owned));
        let Some(next) = page["next_cursor"].as_str() else { break };
        query = format!("?limit=2&cursor={next}");
    }
    assert_eq!(found, ["a", "b", "c", "d", "test"]);
    assert_eq!(ids(&list(&server, "?label=team%3Dred").await), ["a", "c", "d"]);
    assert_eq!(ids(&list(&server, "?label=team").await), ["a", "b", "c", "d"]);
    for query in ["?limit=0", "?limit=1001", "?cursor=Not%20an%20id"] {
        let answer = server.get(&format!("/v1/sandboxes{query}")).await;
        answer.is_kind(400, "invalid_argument");
    }
}

#[tokio::test]
async fn a_sandbox_is_changed_in_what_is_named_alone() {
    let server = Server::start().await;
    made(&server, json!({"id": "s", "labels": {"a": "1", "b": "2"}, "ttl": 3600})).await;
    let target = "/v1/sandboxes/s";
    let change = json!({"labels": {"a": null, "c": "3"}});
    let told = server.send(json_body("PATCH", target, &change)).await.json();
    assert_eq!(told["labels"], json!({"b": "2", "c": "3"}));
    assert!(told["expires_at"].is_string(), "{told}");
    let told = server.send(json_body("PATCH", target, &json!({"ttl": null}))).await.json();
    assert_eq!((told.get("expires_at"), &told["labels"]["b"]), (None, &json!("2")));
    let wrong = server.send(json_body("PATCH", target, &json!({"ttl": "soon"}))).await;
    wrong.is_kind(400, "invalid_argument");
}

#[tokio::test]
async fn a_removed_sandbox_is_gone_with_its_files() {
    let server = serving().await;
    put(&server, VIRTUAL, "f", "x").await;
    assert_eq!(server.send(ask("DELETE", VIRTUAL)).await.status, 204);
    server.get(&format!("{VIRTUAL}/fs/f")).await.is_kind(404, "sandbox_not_found");
    server.send(ask("DELETE", VIRTUAL)).await.is_kind(404, "sandbox_not_found");
    made(&server, json!({"id": "v"})).await;
    server.get(&format!("{VIRTUAL}/fs/f")).await.is_kind(404, "not_found");
}

#[tokio::test]
async fn the_sandbox_that_the_server_was_started_with_stays() {
    let server = Server::start().await;
    let answer = server.send(ask("DELETE", "/v1/sandboxes/test")).await;
    assert!((400..500).contains(&answer.status), "{}", answer.text());
    assert_eq!(server.get("/v1/sandboxes/test").await.json()["main"], true);
}
