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

#[tokio::test]
async fn the_length_of_a_file_is_that_which_earlier_steps_leave() {
    let mut bench = Bench::stored().await;
    bench.settings.max_file_size = 10;
    bench.put(&[("/f", "0123456789")]).await;
    let append = |path| json!({ "operation": "append", "path": path, "content": "12345" });
    let write = json!({ "operation": "write", "path": "/f", "content": "01234" });
    let delete = json!({ "operation": "delete", "path": "/f" });
    bench.ok("batch", json!({ "steps": [write, append("/f")] })).await;
    assert_eq!(bench.bytes("/f").await, b"0123412345");
    let copy = json!({ "operation": "copy", "path": "/f", "to": "/g" });
    let (kind, _) = bench.err("batch", json!({ "steps": [copy, append("/g")] })).await;
    assert_eq!(kind, "file_too_large");
    bench.ok("batch", json!({ "steps": [delete, append("/f")] })).await;
    assert_eq!(bench.bytes("/f").await, b"12345");
}

#[tokio::test]
async fn what_a_step_does_not_heed_is_refused() {
    let bench = Bench::stored().await;
    bench.put(&[("/f", "x")]).await;
    for step in [
        json!({ "operation": "delete", "path": "/f", "content": "x" }),
        json!({ "operation": "delete", "path": "/f", "force": true }),
        json!({ "operation": "write", "path": "/f", "content": "x", "to": "/g" }),
        json!({ "operation": "append", "path": "/f", "content": "x", "force": true }),
        json!({ "operation": "create_directory", "path": "/d", "ifVersion": "1" }),
        json!({ "operation": "move", "path": "/f", "to": "/g", "encoding": "utf-8" }),
        json!({ "operation": "write", "path": "/f", "content": "x", "recursive": true }),
    ] {
        let (kind, result) = bench.err("batch", json!({ "steps": [step] })).await;
        assert_eq!(kind, "invalid_argument", "{step}");
        assert!(result.error.unwrap().starts_with("step 1: "));
    }
    assert_eq!(bench.bytes("/f").await, b"x");
}

#[tokio::test]
async fn a_step_happens_only_to_the_version_that_is_meant() {
    let bench = Bench::stored().await;
    bench.put(&[("/f", "old")]).await;
    let version = bench.ok("file_info", json!({ "path": "/f" })).await["version"].clone();
    bench.put(&[("/f", "other")]).await;
    for operation in ["move", "copy"] {
        let step =
            json!({ "operation": operation, "path": "/f", "to": "/g", "ifVersion": version });
        let (kind, _) = bench.err("batch", json!({ "steps": [step] })).await;
        assert_eq!(kind, "precondition_failed");
    }
    let version = bench.ok("file_info", json!({ "path": "/f" })).await["version"].clone();
    let step = json!({ "operation": "move", "path": "/f", "to": "/g", "ifVersion": version });
    let made = json!({ "operation": "create_directory", "path": "/d" });
    let data = bench.ok("batch", json!({ "steps": [step, made] })).await;
    assert_eq!((&data["steps"][0]["path"], &data["steps"][0]["size"]), (&json!("/g"), &json!(5)));
    assert_eq!(data["steps"][1]["type"], "directory");
}

#[tokio::test]
async fn a_batch_tells_no_more_than_one_answer_holds_and_does_all() {
    let mut bench = Bench::stored().await;
    let steps: Vec<_> = (0..50)
        .map(|n| json!({ "operation": "write", "path": format!("/f{n}"), "content": "x" }))
        .collect();
    bench.settings.max_result_bytes = 1000;
    let result = bench.run("batch", json!({ "steps": steps })).await;
    let truncated = serde_json::to_value(result.metadata.truncated.as_ref().unwrap()).unwrap();
    let returned = truncated["returned"].as_u64().unwrap();
    assert!((2..10).contains(&returned), "{returned}");
    assert_eq!((&truncated["total"], &truncated["unit"]), (&json!(50), &json!("steps")));
    assert_eq!((&truncated["reason"], &truncated["next"]), (&json!("budget"), &json!(null)));
    assert_eq!((result.metadata.items, result.metadata.bytes_written), (Some(50), Some(50)));
    assert!(result.text.contains("did all 50 steps") && result.text.contains("[truncated: "));
    assert_eq!(result.data.unwrap()["steps"].as_array().unwrap().len() as u64, returned);
    assert_eq!(bench.bytes("/f49").await, b"x");
    bench.settings = tools::Settings { max_entries: 7, ..tools::Settings::for_programs() };
    let result = bench.run("batch", json!({ "steps": steps })).await;
    assert_eq!(result.metadata.truncated.unwrap().returned, 7);
}
