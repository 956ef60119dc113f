//! Many changes as one.

use serde_json::json;

use crate::fixture::Bench;

#[tokio::test]
async fn all_steps_happen_or_none() {
    let bench = Bench::stored().await;
    bench.put(&[("/old", "x")]).await;
    let steps = json!([
        { "operation": "create_directory", "path": "/d" },
        { "operation": "write", "path": "/d/f", "content": "aGk=", "encoding": "base64" },
        { "operation": "append", "path": "/d/f", "content": "!" },
        { "operation": "copy", "path": "/d/f", "to": "/d/g" },
        { "operation": "move", "path": "/d/g", "to": "/h" },
        { "operation": "delete", "path": "/old" },
    ]);
    let result = bench.run("batch", json!({ "steps": steps })).await;
    assert_eq!((result.metadata.items, result.metadata.bytes_written), (Some(6), Some(3)));
    assert_eq!(bench.bytes("/h").await, b"hi!");
    let data = result.data.unwrap();
    assert_eq!((&data["steps"][4]["path"], &data["steps"][4]["size"]), (&json!("/h"), &json!(3)));
    let steps = json!([
        { "operation": "write", "path": "/d/f", "content": "changed" },
        { "operation": "delete", "path": "/gone" },
    ]);
    let (kind, _) = bench.err("batch", json!({ "steps": steps })).await;
    assert_eq!(kind, "not_found");
    assert_eq!(bench.bytes("/d/f").await, b"hi!");
}

#[tokio::test]
async fn wrong_steps_are_named() {
    let bench = Bench::stored().await.allow(&["/a", "/b"]);
    for (steps, kind) in [
        (json!([]), "invalid_argument"),
        (json!([{ "operation": "write", "path": "/a/x" }]), "invalid_argument"),
        (json!([{ "operation": "move", "path": "/a/x" }]), "invalid_argument"),
        (json!([{ "operation": "fly", "path": "/a/x" }]), "invalid_argument"),
        (json!([{ "operation": "delete", "path": "/c" }]), "outside_sandbox"),
        (json!([{ "operation": "copy", "path": "/a/x", "to": "/c" }]), "outside_sandbox"),
        (json!([{ "operation": "copy", "path": "/a/x", "to": "/b/x" }]), "unsupported"),
    ] {
        let (found, result) = bench.err("batch", json!({ "steps": steps })).await;
        assert_eq!(found, kind, "{steps}: {:?}", result.error);
    }
}

#[tokio::test]
async fn no_number_of_steps_makes_a_file_too_long() {
    let mut bench = Bench::stored().await;
    bench.settings.max_file_size = 10;
    bench.put(&[("/f", "01234")]).await;
    let append = json!({ "operation": "append", "path": "/f", "content": "567" });
    let (kind, result) = bench.err("batch", json!({ "steps": [append, append] })).await;
    assert_eq!(kind, "file_too_large");
    assert!(result.error.unwrap().starts_with("step 2: "));
    bench.ok("batch", json!({ "steps": [append] })).await;
    assert_eq!(bench.bytes("/f").await, b"01234567");
}

#[tokio::test]
async fn a_tree_that_cannot_is_not_offered_it_and_says_so() {
    let bench = Bench::host();
    let offered = tools::offered(&bench.workspace(), false).await;
    assert!(
        !offered.iter().any(|tool| matches!(tool.name, "batch" | "snapshot" | "restore" | "diff"))
    );
    let steps = json!([{ "operation": "create_directory", "path": "/d" }]);
    assert_eq!(bench.err("batch", json!({ "steps": steps })).await.0, "unsupported");
    assert_eq!(bench.err("snapshot", json!({})).await.0, "unsupported");
    let stored = Bench::stored().await;
    assert_eq!(tools::offered(&stored.workspace(), false).await.len(), tools::TOOLS.len());
}
