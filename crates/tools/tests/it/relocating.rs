//! What is moved and copied.

use serde_json::json;

use crate::fixture::Bench;

#[tokio::test]
async fn files_and_trees_are_moved_and_copied_with_parents() {
    for bench in Bench::each().await {
        bench.put(&[("/d/f", "one"), ("/d/e/g", "two")]).await;
        let data = bench.ok("move", json!({ "from": "/d/f", "to": "/x/y/f" })).await;
        assert_eq!(data, json!({ "from": "/d/f", "to": "/x/y/f", "type": "file", "size": 3 }));
        bench.ok("copy", json!({ "source": "/d", "destination": "/copy" })).await;
        assert_eq!(bench.bytes("/copy/e/g").await, b"two");
        assert_eq!(bench.bytes("/x/y/f").await, b"one");
        assert_eq!(
            bench.err("move", json!({ "from": "/d", "to": "/d/e/in" })).await.0,
            "invalid_argument"
        );
        assert_eq!(bench.err("move", json!({ "from": "/gone", "to": "/y" })).await.0, "not_found");
    }
}

#[tokio::test]
async fn what_is_there_is_replaced_only_when_told() {
    for bench in Bench::each().await {
        bench.put(&[("/a", "one"), ("/b", "two")]).await;
        for tool in ["move", "copy"] {
            assert_eq!(
                bench.err(tool, json!({ "from": "/a", "to": "/b" })).await.0,
                "already_exists"
            );
            assert_eq!(bench.bytes("/b").await, b"two");
        }
        bench.ok("copy", json!({ "from": "/a", "to": "/b", "force": true })).await;
        assert_eq!(bench.bytes("/b").await, b"one");
    }
}
