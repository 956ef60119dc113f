//! Writes happen whole, and say truly what they did.

use serde_json::json;

use crate::fixture::Bench;

#[tokio::test]
async fn a_write_makes_parents_and_says_what_it_did() {
    for bench in Bench::each().await {
        let result = bench.run("write_file", json!({ "path": "a/b/f.txt", "content": "é" })).await;
        assert_eq!(result.metadata.bytes_written, Some(2));
        let data = result.data.unwrap();
        assert_eq!(data["path"], "/a/b/f.txt");
        assert_eq!(
            (&data["bytesWritten"], &data["created"], &data["size"]),
            (&json!(2), &json!(true), &json!(2))
        );
        let data = bench.ok("write_file", json!({ "path": "/a/b/f.txt", "content": "" })).await;
        assert_eq!((&data["bytesWritten"], &data["created"]), (&json!(0), &json!(false)));
        let arguments = json!({ "path": "/x/y", "content": "", "createParentDirs": false });
        assert_eq!(bench.err("write_file", arguments).await.0, "not_found");
    }
}

#[tokio::test]
async fn without_force_nothing_is_replaced() {
    for bench in Bench::each().await {
        bench.put(&[("/f", "old")]).await;
        let arguments = json!({ "path": "/f", "content": "new", "force": false });
        assert_eq!(bench.err("write_file", arguments.clone()).await.0, "already_exists");
        assert_eq!(bench.bytes("/f").await, b"old");
        bench.ok("write_file", json!({ "path": "/f", "content": "new", "force": true })).await;
        assert_eq!(bench.bytes("/f").await, b"new");
    }
}

#[tokio::test]
async fn base64_of_both_alphabets_is_exact_and_anything_else_changes_nothing() {
    for bench in Bench::each().await {
        for content in ["-_-_", "+/+/", "+/+/\n", "-_-_\r\n"] {
            let arguments = json!({ "path": "/b", "content": content, "encoding": "base64" });
            let data = bench.ok("write_file", arguments).await;
            assert_eq!(data["bytesWritten"], 3);
            assert_eq!(bench.bytes("/b").await, [0xFB, 0xFF, 0xBF], "{content}");
        }
        bench
            .ok("write_file", json!({ "path": "/b", "content": "aGk", "encoding": "base64" }))
            .await;
        assert_eq!(bench.bytes("/b").await, b"hi");
        for content in ["!!!", "aGk=aGk=", "a", "+/-_", "aGl="] {
            let arguments = json!({ "path": "/b", "content": content, "encoding": "base64" });
            assert_eq!(bench.err("write_file", arguments).await.0, "invalid_argument", "{content}");
            assert_eq!(bench.bytes("/b").await, b"hi");
        }
    }
}

#[tokio::test]
async fn a_file_that_would_be_too_long_is_refused() {
    for mut bench in Bench::each().await {
        bench.settings.max_file_size = 10;
        bench.ok("write_file", json!({ "path": "/f", "content": "0123456789" })).await;
        for (tool, content) in [("write_file", "0123456789a"), ("append_file", "a")] {
            let arguments = json!({ "path": "/f", "content": content });
            assert_eq!(bench.err(tool, arguments).await.0, "file_too_large");
        }
        // The length of the bytes counts, not of their base64.
        let arguments =
            json!({ "path": "/g", "content": "MDEyMzQ1Njc4OQ==", "encoding": "base64" });
        bench.ok("write_file", arguments).await;
        assert_eq!(bench.bytes("/f").await, b"0123456789");
    }
}

#[tokio::test]
async fn what_is_appended_comes_behind() {
    for bench in Bench::each().await {
        let data = bench.ok("append_file", json!({ "path": "/d/log", "content": "one\n" })).await;
        assert_eq!(data["created"], true);
        let data = bench.ok("append_file", json!({ "path": "/d/log", "content": "two" })).await;
        assert_eq!((&data["bytesWritten"], &data["size"]), (&json!(3), &json!(7)));
        assert_eq!(bench.bytes("/d/log").await, b"one\ntwo");
    }
}

#[tokio::test]
async fn a_write_for_an_older_version_is_refused() {
    let bench = Bench::stored().await;
    bench.put(&[("/f", "one")]).await;
    let version = bench.ok("read_file", json!({ "path": "/f" })).await["version"].clone();
    assert!(version.is_string());
    bench.ok("write_file", json!({ "path": "/f", "content": "two", "ifVersion": version })).await;
    let arguments = json!({ "path": "/f", "content": "three", "ifVersion": version });
    assert_eq!(bench.err("write_file", arguments).await.0, "precondition_failed");
    assert_eq!(bench.bytes("/f").await, b"two");
}

#[tokio::test]
async fn edits_are_exact_and_all_or_none() {
    for bench in Bench::each().await {
        bench.put(&[("/f", "one\ntwo\ntwo\n")]).await;
        let edit = |edits| json!({ "path": "/f", "edits": edits });
        let data = bench
            .ok("edit_file", edit(json!([{ "oldText": "one", "newText": "1" }, { "oldText": "two", "newText": "2", "replaceAll": true }])))
            .await;
        assert_eq!(data["replaced"], json!([1, 2]));
        assert!(data["diff"].as_str().unwrap().contains("+2"));
        let (kind, result) = bench
            .err("edit_file", edit(json!([{ "oldText": "1", "newText": "x" }, { "oldText": "gone", "newText": "" }])))
            .await;
        assert_eq!(kind, "precondition_failed", "{result:?}");
        let (_, result) =
            bench.err("edit_file", edit(json!([{ "oldText": "2", "newText": "" }]))).await;
        assert!(!result.error.unwrap().is_empty());
        assert_eq!(bench.bytes("/f").await, b"1\n2\n2\n");
        let mut dry = edit(json!([{ "oldText": "1", "newText": "x" }]));
        dry["dryRun"] = json!(true);
        assert!(bench.ok("edit_file", dry).await["diff"].as_str().unwrap().contains("+x"));
        assert_eq!(bench.bytes("/f").await, b"1\n2\n2\n");
    }
}

#[tokio::test]
async fn a_dry_run_and_a_cut_diff_say_so() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", &"old line of a file\n".repeat(100))]).await;
        bench.settings.max_result_bytes = 200;
        let edits = json!([{ "oldText": "old", "newText": "new", "replaceAll": true }]);
        let arguments = json!({ "path": "/f", "edits": edits, "dryRun": true });
        let result = bench.run("edit_file", arguments).await;
        assert_eq!(result.data.unwrap()["diffIsCut"], true);
        assert!(result.text.contains("dry run") && result.text.contains("truncated"));
        assert!(bench.bytes("/f").await.starts_with(b"old"));
    }
}

#[tokio::test]
async fn an_edit_of_or_to_too_long_a_file_is_told_as_such() {
    for mut bench in Bench::each().await {
        bench.put(&[("/long", "0123456789a"), ("/f", "0123456789")]).await;
        bench.settings.max_file_size = 10;
        let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "edits": [{ "oldText": old, "newText": new }] });
        for arguments in [edit("/long", "0", "x"), edit("/f", "0", "xx")] {
            let (kind, result) = bench.err("edit_file", arguments.clone()).await;
            assert_eq!(kind, "file_too_large", "{arguments}");
            assert_eq!(result.metadata.path.as_deref(), arguments["path"].as_str());
        }
        assert_eq!(bench.bytes("/f").await, b"0123456789");
        bench.ok("edit_file", edit("/f", "0", "x")).await;
        // Too many edits are another matter.
        let one = json!({ "oldText": "x", "newText": "x" });
        let many = json!({ "path": "/f", "edits": vec![one; 1001] });
        assert_eq!(bench.err("edit_file", many).await.0, "limit_exceeded");
    }
}
