//! Many changes as one.

use serde_json::{Value, json};

use super::{HOST, VIRTUAL, content, names, put, serving};
use crate::http::{Answer, Server};

async fn batch(server: &Server, steps: &Value) -> Answer {
    server.post_json(&format!("{VIRTUAL}/fs-batch"), &steps.to_string()).await
}

#[tokio::test]
async fn every_kind_of_step_is_taken() {
    let server = serving().await;
    let answer = batch(
        &server,
        &json!([
            {"op": "mkdir", "path": "d"},
            {"op": "write", "path": "d/f", "text": "one"},
            {"op": "write", "path": "d/f", "text": " two", "mode": "append"},
            {"op": "write", "path": "d/f", "base64": "T04=", "mode": "part", "offset": 0},
            {"op": "link", "path": "l", "target": "d/f"},
            {"op": "copy", "from": "d/f", "to": "copy"},
            {"op": "move", "from": "d/f", "to": "moved", "target": "new"},
            {"op": "chmod", "path": "moved", "mode": "600"},
            {"op": "remove", "path": "d"},
            {"op": "check", "path": "moved", "if_match": "*"},
            {"op": "check", "path": "d", "if_none_match": "*"}
        ]),
    )
    .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let left = answer.json();
    assert_eq!((left[9]["path"].as_str(), left[9]["mode"].as_str()), (Some("moved"), Some("600")));
    assert_eq!((&left[8], &left[10]), (&Value::Null, &Value::Null));
    assert_eq!(content(&server, VIRTUAL, "moved").await, "ONe two");
    assert_eq!(names(&server, &format!("{VIRTUAL}/fs-list")).await, ["copy", "l", "moved"]);
}

#[tokio::test]
async fn a_batch_that_fails_changes_nothing_and_says_where() {
    let server = serving().await;
    put(&server, VIRTUAL, "f", "old").await;
    let answer = batch(
        &server,
        &json!([
            {"op": "write", "path": "f", "text": "new"},
            {"op": "write", "path": "g", "text": "x", "if_match": ["1-2-3"]}
        ]),
    )
    .await;
    answer.is_kind(412, "precondition_failed");
    assert_eq!(answer.json()["path"], "g");
    assert_eq!(content(&server, VIRTUAL, "f").await, "old");
    assert_eq!(names(&server, &format!("{VIRTUAL}/fs-list")).await, ["f"]);
}

#[tokio::test]
async fn the_version_of_an_etag_is_a_condition() {
    let server = serving().await;
    let etag = put(&server, VIRTUAL, "f", "one").await.header("etag").unwrap().to_owned();
    let steps =
        |version: &str| json!([{"op": "write", "path": "f", "text": "two", "if_match": version}]);
    assert_eq!(batch(&server, &steps(&etag)).await.status, 200);
    batch(&server, &steps(&etag)).await.is_kind(412, "precondition_failed");
}

#[tokio::test]
async fn steps_that_cannot_be_meant_are_refused() {
    let server = serving().await;
    for (step, status) in [
        (json!({"op": "write", "path": "f"}), 400),
        (json!({"op": "write", "path": "f", "text": "x", "base64": "eA=="}), 400),
        (json!({"op": "write", "path": "f", "base64": "?"}), 400),
        (json!({"op": "write", "path": "f", "text": "x", "mode": "part"}), 400),
        (json!({"op": "write", "path": "f", "text": "x", "offset": 1}), 400),
        (
            json!({"op": "write", "path": "f", "text": "x", "if_match": "*", "if_none_match": "*"}),
            400,
        ),
        (json!({"op": "write", "path": "../f", "text": "x"}), 403),
        (json!({"op": "chmod", "path": "f", "mode": "9"}), 400),
        (json!({"op": "dance", "path": "f"}), 422),
        (json!({"op": "mkdir", "path": "f", "colour": "red"}), 422),
        (json!({"op": "mkdir", "path": "f", "if_match": "*"}), 422),
        (json!({"op": "mkdir"}), 422),
        (json!({"path": "f"}), 422),
        (json!({"op": "move", "from": "f", "to": "g", "target": "moon"}), 422),
        (json!({"op": "check", "path": "f", "if_match": 7}), 422),
        (json!({"op": "check", "path": "f", "if_match": vec!["v"; 65]}), 422),
    ] {
        let answer = batch(&server, &json!([step])).await;
        assert_eq!(answer.status, status, "{step}: {}", answer.text());
        assert!(answer.json()["kind"].is_string(), "{step}");
    }
    assert!(names(&server, &format!("{VIRTUAL}/fs-list")).await.is_empty());
}

#[tokio::test]
async fn a_batch_may_be_longer_than_other_bodies_but_has_an_end() {
    let server = serving().await;
    let long = json!([{"op": "write", "path": "f", "text": "x".repeat(8 << 20)}]);
    assert_eq!(batch(&server, &long).await.status, 200);
    let longer = json!([{"op": "write", "path": "f", "text": "x".repeat(17 << 20)}]);
    batch(&server, &longer).await.is_kind(413, "limit_exceeded");
}

#[tokio::test]
async fn a_batch_has_at_most_ten_thousand_steps() {
    let server = serving().await;
    let step = json!({"op": "check", "path": "f", "if_none_match": "*"});
    assert_eq!(batch(&server, &json!(vec![step.clone(); 10_000])).await.status, 200);
    let answer = batch(&server, &json!(vec![step; 10_001])).await;
    assert_eq!(answer.status, 422);
    assert!(answer.text().contains("at most 10000 steps"), "{}", answer.text());
}

#[tokio::test]
async fn a_directory_cannot_take_many_steps_as_one() {
    let server = serving().await;
    let steps = json!([{"op": "mkdir", "path": "d"}]).to_string();
    let answer = server.post_json(&format!("{HOST}/fs-batch"), &steps).await;
    answer.is_kind(409, "unsupported");
}
