//! Files are kept, compared and brought back.

use serde_json::json;

use crate::fixture::Bench;

#[tokio::test]
async fn what_was_kept_is_brought_back() {
    let bench = Bench::stored().await;
    bench.put(&[("/a", "one"), ("/d/b", "two")]).await;
    let data = bench.ok("snapshot", json!({ "id": "before", "message": "try" })).await;
    assert_eq!((&data["id"], &data["files"]), (&json!("before"), &json!(2)));
    bench.put(&[("/a", "other"), ("/new", "x")]).await;
    bench.ok("delete", json!({ "path": "/d", "recursive": true })).await;
    let data = bench.ok("diff", json!({ "from": "before" })).await;
    let changes: Vec<_> = data["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), one["change"].as_str().unwrap()))
        .collect();
    assert!(
        changes.contains(&("/a", "modified"))
            && changes.contains(&("/new", "added"))
            && changes.contains(&("/d/b", "removed")),
        "{changes:?}"
    );
    bench.ok("restore", json!({ "id": "before", "path": "/d" })).await;
    assert_eq!(bench.bytes("/d/b").await, b"two");
    assert_eq!(bench.bytes("/a").await, b"other");
    bench.ok("restore", json!({ "id": "before" })).await;
    assert_eq!(bench.bytes("/a").await, b"one");
    assert_eq!(bench.ok("diff", json!({ "from": "before" })).await["changes"], json!([]));
    let data = bench.ok("list_snapshots", json!({})).await;
    assert_eq!(data["snapshots"][0]["message"], "try");
    assert_eq!(bench.err("restore", json!({ "id": "gone" })).await.0, "not_found");
    assert_eq!(bench.err("diff", json!({})).await.0, "invalid_argument");
}

#[tokio::test]
async fn many_come_in_parts() {
    let bench = Bench::stored().await;
    for number in 0..5 {
        bench.ok("snapshot", json!({ "id": format!("s{number}") })).await;
    }
    let result = bench.run("list_snapshots", json!({ "limit": 2 })).await;
    let truncated = result.metadata.truncated.unwrap();
    assert_eq!(truncated.next.unwrap()["after"], "s1");
    let data = bench.ok("list_snapshots", json!({ "after": "s1" })).await;
    assert_eq!(data["snapshots"].as_array().unwrap().len(), 3);
    bench.put(&[("/a", ""), ("/b", ""), ("/c", "")]).await;
    let result = bench.run("diff", json!({ "from": "s0", "limit": 2 })).await;
    assert_eq!(result.metadata.truncated.unwrap().next.unwrap()["skip"], 2);
    let data = bench.ok("diff", json!({ "from": "s0", "skip": 2 })).await;
    assert_eq!(data["changes"][0]["path"], "/c");
}

#[tokio::test]
async fn only_what_is_allowed_is_compared_and_brought_back() {
    let bench = Bench::stored().await.allow(&["/src"]);
    bench.put(&[("/src/f", "1"), ("/secret", "1")]).await;
    bench.ok("snapshot", json!({ "id": "s" })).await;
    bench.put(&[("/src/f", "2"), ("/secret", "2")]).await;
    let data = bench.ok("diff", json!({ "from": "s" })).await;
    assert_eq!(data["changes"].as_array().unwrap().len(), 1);
    assert_eq!(bench.err("restore", json!({ "id": "s" })).await.0, "outside_sandbox");
    assert_eq!(
        bench.err("restore", json!({ "id": "s", "path": "/secret" })).await.0,
        "outside_sandbox"
    );
    bench.ok("restore", json!({ "id": "s", "path": "/src" })).await;
    assert_eq!(bench.bytes("/src/f").await, b"1");
    assert_eq!(bench.bytes("/secret").await, b"2");
}

#[tokio::test]
async fn whoever_names_no_snapshot_is_told_where_they_are_listed() {
    let bench = Bench::stored().await;
    bench.put(&[("/f", "x")]).await;
    for (tool, arguments) in [
        ("restore", json!({ "id": "gone", "path": "/f" })),
        ("restore", json!({ "id": "gone" })),
        ("diff", json!({ "from": "gone" })),
    ] {
        let (kind, result) = bench.err(tool, arguments).await;
        assert_eq!(kind, "not_found");
        assert!(result.metadata.suggestions.is_empty(), "{:?}", result.metadata.suggestions);
        assert!(result.metadata.hint.unwrap().contains("list_snapshots"), "{tool}");
    }
}
