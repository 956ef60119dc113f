//! Names and lines are found.

use std::time::Duration;

use serde_json::json;

use crate::fixture::Bench;

#[tokio::test]
async fn lines_and_names_are_found() {
    for bench in Bench::each().await {
        bench
            .put(&[
                ("/src/a.rs", "fn one()\nfn Two()\n"),
                ("/src/b.txt", "fn one"),
                ("/.gitignore", "skip\n"),
                ("/skip/c.rs", "fn one"),
                ("/.hidden", "fn one"),
            ])
            .await;
        let data = bench.ok("search", json!({ "content": "fn one" })).await;
        assert_eq!(
            data["matches"],
            json!([{ "path": "/src/a.rs", "line": 1, "text": "fn one()" }, { "path": "/src/b.txt", "line": 1, "text": "fn one" }])
        );
        let data = bench
            .ok("search", json!({ "content": "fn one", "includeIgnored": true, "hidden": true }))
            .await;
        assert_eq!(data["matches"].as_array().unwrap().len(), 4);
        let data = bench.ok("search", json!({ "content": "fn (two|one)", "regex": true, "names": "*.rs", "caseSensitive": false })).await;
        assert_eq!(data["matches"].as_array().unwrap().len(), 2);
        let data = bench.ok("search", json!({ "names": "*.rs" })).await;
        assert_eq!(data["matches"], json!([{ "path": "/src/a.rs", "type": "file" }]));
        assert_eq!(bench.err("search", json!({})).await.0, "invalid_argument");
        assert_eq!(
            bench.err("search", json!({ "content": "(", "regex": true })).await.0,
            "invalid_argument"
        );
        assert_eq!(
            bench.err("search", json!({ "names": "*", "path": "/gone" })).await.0,
            "not_found"
        );
    }
}

#[tokio::test]
async fn whatever_was_left_out_is_told() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", &"hit\n".repeat(500))]).await;
        let result = bench.run("search", json!({ "content": "hit", "limit": 7 })).await;
        let truncated = serde_json::to_value(result.metadata.truncated.unwrap()).unwrap();
        assert_eq!((&truncated["returned"], &truncated["reason"]), (&json!(7), &json!("limit")));
        bench.settings.max_result_bytes = 1000;
        let result = bench.run("search", json!({ "content": "hit" })).await;
        let truncated = serde_json::to_value(result.metadata.truncated.unwrap()).unwrap();
        assert_eq!(truncated["reason"], "budget");
        assert!(truncated["returned"].as_u64().unwrap() > 5);
    }
}

#[tokio::test]
async fn a_search_that_has_no_time_says_so() {
    let mut bench = Bench::stored().await;
    let files: Vec<String> = (0..3000).map(|n| format!("/d{}/{n}", n % 50)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "text\n")).collect();
    bench.put(&files).await;
    bench.settings.timeout = Duration::from_millis(1);
    let result = bench.run("search", json!({ "content": "nowhere" })).await;
    // Either what was searched until then, or a failure: never a complete answer.
    match result.metadata.truncated {
        Some(truncated) => assert_eq!(serde_json::to_value(truncated).unwrap()["reason"], "time"),
        None => assert_eq!(result.metadata.kind.unwrap(), "timeout"),
    }
}

#[tokio::test]
async fn a_search_that_was_cut_tells_what_it_searched() {
    for mut bench in Bench::each().await {
        bench.put(&[("/a", "hit\n"), ("/b", "hit\nhit\n")]).await;
        let data = bench.ok("search", json!({ "content": "hit", "limit": 1 })).await;
        assert!(data["filesSearched"].as_u64().unwrap() > 0);
        let result = bench.run("search", json!({ "content": "hit", "limit": 3 })).await;
        assert!(result.metadata.truncated.is_none());
        bench.settings.max_result_bytes = 150;
        let result = bench.run("search", json!({ "content": "hit" })).await;
        assert!(result.metadata.truncated.is_some());
        assert_eq!(result.data.unwrap()["filesSearched"], json!(null));
    }
}

#[tokio::test]
async fn what_lies_deeper_than_may_be_looked_at_is_not_found_and_that_is_told() {
    for mut bench in Bench::each().await {
        bench.put(&[("/a.txt", "hit\n"), ("/d/b.txt", "hit\n"), ("/d/e/c.txt", "hit\n")]).await;
        bench.settings.max_depth = 2;
        for arguments in [json!({ "content": "hit" }), json!({ "names": "*.txt" })] {
            let result = bench.run("search", arguments).await;
            let truncated = serde_json::to_value(result.metadata.truncated.unwrap()).unwrap();
            assert_eq!(
                (&truncated["returned"], &truncated["reason"], &truncated["next"]),
                (&json!(2), &json!("depth"), &json!(null))
            );
            assert!(result.text.contains("no deeper directory was looked at"), "{}", result.text);
        }
        // The depth is counted from where one begins.
        let result = bench.run("search", json!({ "path": "/d", "content": "hit" })).await;
        assert_eq!((result.metadata.items, result.metadata.truncated.is_none()), (Some(2), true));
    }
}
