//! Snapshots, forks, differences, exports and sums.

use serde_json::{Value, json};

use super::{VIRTUAL, content, delete, json_body, made, names, put, serving};
use crate::http::{Server, ask};

async fn take(server: &Server, id: &str) -> Value {
    let body = json!({"id": id, "message": "why", "labels": {"a": "1"}}).to_string();
    let answer = server.post_json(&format!("{VIRTUAL}/snapshots"), &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

/// A server whose virtual tree was kept as `before` and then changed.
async fn kept_and_changed() -> Server {
    let server = serving().await;
    put(&server, VIRTUAL, "f", "old").await;
    put(&server, VIRTUAL, "gone", "x").await;
    take(&server, "before").await;
    put(&server, VIRTUAL, "f", "newer").await;
    put(&server, VIRTUAL, "added", "y").await;
    delete(&server, &format!("{VIRTUAL}/fs/gone")).await;
    server
}

#[tokio::test]
async fn a_snapshot_is_what_its_maker_said_and_what_it_holds() {
    let server = serving().await;
    put(&server, VIRTUAL, "d/f", "12345").await;
    let taken = take(&server, "one").await;
    assert_eq!((&taken["id"], &taken["message"]), (&json!("one"), &json!("why")));
    assert_eq!(taken["labels"], json!({"a": "1"}));
    assert_eq!(
        (&taken["bytes"], &taken["files"], &taken["directories"]),
        (&json!(5), &json!(1), &json!(2))
    );
    assert_eq!(server.get(&format!("{VIRTUAL}/snapshots/one")).await.json(), taken);
    let again = server.post_json(&format!("{VIRTUAL}/snapshots"), "{\"id\":\"one\"}").await;
    again.is_kind(409, "already_exists");
}

#[tokio::test]
async fn a_snapshot_is_read_by_every_way_of_looking() {
    let server = kept_and_changed().await;
    let at = "snapshot=before";
    assert_eq!(server.get(&format!("{VIRTUAL}/fs/f?{at}")).await.text(), "old");
    assert_eq!(names(&server, &format!("{VIRTUAL}/fs-list?{at}")).await, ["f", "gone"]);
    let stat = server.get(&format!("{VIRTUAL}/fs-stat/f?{at}")).await.json();
    assert_eq!(stat["size"], 3);
    server.get(&format!("{VIRTUAL}/fs/added?{at}")).await.is_kind(404, "not_found");
    server.get(&format!("{VIRTUAL}/fs/f?snapshot=no")).await.is_kind(404, "not_found");
}

#[tokio::test]
async fn snapshots_are_listed_page_by_page() {
    let server = serving().await;
    for id in ["a", "b", "c"] {
        take(&server, id).await;
    }
    let page = server.get(&format!("{VIRTUAL}/snapshots?limit=2")).await.json();
    let ids = |page: &Value| -> Vec<String> {
        let list = page["snapshots"].as_array().unwrap();
        list.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((ids(&page), &page["next_cursor"]), (vec!["a".into(), "b".into()], &json!("b")));
    let page = server.get(&format!("{VIRTUAL}/snapshots?limit=2&cursor=b")).await.json();
    assert_eq!((ids(&page), page.get("next_cursor")), (vec!["c".to_owned()], None));
    assert_eq!(delete(&server, &format!("{VIRTUAL}/snapshots/b")).await, 204);
    server.get(&format!("{VIRTUAL}/snapshots/b")).await.is_kind(404, "not_found");
}

#[tokio::test]
async fn a_restore_brings_back_all_or_one_path() {
    let server = kept_and_changed().await;
    let restore = format!("{VIRTUAL}/snapshots/before/restore");
    assert_eq!(server.post_json(&restore, "{\"path\":\"f\"}").await.status, 204);
    assert_eq!(content(&server, VIRTUAL, "f").await, "old");
    assert_eq!(names(&server, &format!("{VIRTUAL}/fs-list")).await, ["added", "f"]);
    assert_eq!(server.post_json(&restore, "{}").await.status, 204);
    assert_eq!(names(&server, &format!("{VIRTUAL}/fs-list")).await, ["f", "gone"]);
}

async fn diff(server: &Server, query: &str) -> Vec<(String, String)> {
    let answer = server.get(&format!("{VIRTUAL}/diff?{query}")).await;
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"), "{}", answer.text());
    let told = answer.text().lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        (text("change"), text("path"))
    });
    told.collect()
}

#[tokio::test]
async fn a_diff_tells_what_changed_since_a_snapshot_and_the_way_back() {
    let server = kept_and_changed().await;
    let pairs = |list: [(&str, &str); 3]| list.map(|(a, b)| (a.to_owned(), b.to_owned()));
    let since = pairs([("added", "added"), ("modified", "f"), ("removed", "gone")]);
    assert_eq!(diff(&server, "from=before").await, since);
    let back = pairs([("removed", "added"), ("modified", "f"), ("added", "gone")]);
    assert_eq!(diff(&server, "to=before").await, back);
    assert!(diff(&server, "from=before&to=before").await.is_empty());
    server.get(&format!("{VIRTUAL}/diff")).await.is_kind(400, "invalid_argument");
}

#[tokio::test]
async fn a_fork_begins_as_a_copy_and_goes_its_own_way() {
    let server = kept_and_changed().await;
    let fork = json!({"id": "fork", "snapshot": "before", "labels": {"of": "v"}}).to_string();
    let answer = server.post_json(&format!("{VIRTUAL}/fork"), &fork).await;
    assert_eq!((answer.status, &answer.json()["id"]), (201, &json!("fork")), "{}", answer.text());
    assert_eq!(content(&server, "/v1/sandboxes/fork", "f").await, "old");
    put(&server, "/v1/sandboxes/fork", "f", "fork").await;
    assert_eq!(content(&server, VIRTUAL, "f").await, "newer");
    server.post_json(&format!("{VIRTUAL}/fork"), &fork).await.is_kind(409, "already_exists");
}

#[tokio::test]
async fn an_export_is_imported_elsewhere_with_its_labels() {
    let server = kept_and_changed().await;
    made(&server, json!({"id": "other"})).await;
    for (route, expected) in [("snapshots/before/export", "old"), ("export", "newer")] {
        let exported = server.get(&format!("{VIRTUAL}/{route}")).await;
        assert_eq!(exported.status, 200, "{route}");
        let target = "/v1/sandboxes/other/snapshot-import?message=hi&label=k%3Dv%3D1";
        let taken = server.send(ask("POST", target).body(exported.body)).await;
        let told = taken.json();
        assert_eq!((taken.status, &told["labels"]), (201, &json!({"k": "v=1"})), "{told}");
        let id = told["id"].as_str().unwrap();
        let read = server.get(&format!("/v1/sandboxes/other/fs/f?snapshot={id}")).await;
        assert_eq!(read.text(), expected, "{route}");
    }
}

#[tokio::test]
async fn stats_tell_what_a_sandbox_holds_and_may() {
    let server = serving().await;
    put(&server, VIRTUAL, "d/f", "12345").await;
    let change = json!({"limits": {"total_size": 100}});
    assert_eq!(server.send(json_body("PATCH", VIRTUAL, &change)).await.status, 200);
    let stats = server.get(&format!("{VIRTUAL}/stats")).await.json();
    let limits = json!({"file_size": null, "total_size": 100, "nodes": null});
    let expected = json!({"bytes": 5, "files": 1, "directories": 2, "nodes": 3, "limits": limits});
    assert_eq!(stats, expected);
    let request = ask("PUT", &format!("{VIRTUAL}/fs/large")).body("x".repeat(96));
    server.send(request).await.is_kind(507, "storage_full");
}
