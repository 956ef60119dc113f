//! How much a call may do.

use std::sync::Arc;
use std::time::Duration;

use engine::Role;
use serde_json::{Value, json};
use tools::{CallSettings, Settings, TextEncoding};

use crate::fixture::{Bench, at};
use crate::stalled::Stalled;

fn wish(value: Value) -> CallSettings {
    serde_json::from_value(value).unwrap()
}

#[tokio::test]
async fn a_call_may_ask_for_less_and_never_for_more() {
    let bench = Bench::stored().await;
    let workspace = bench.workspace();
    let base = Settings { allowed_paths: vec![at("/a"), at("/b/c")], ..Settings::for_programs() };
    let narrowed = |value| base.narrowed(&wish(value), workspace.sandbox());
    let less = narrowed(json!({
        "maxFileSize": 10, "maxResultBytes": 20, "timeoutMs": 30, "maxDepth": 4, "maxEntries": 5,
        "defaultEncoding": "latin1", "allowedPaths": ["/a/x", "/b"], "blockedPaths": ["/a/x/y"], "readOnly": true
    }))
    .unwrap();
    assert_eq!((less.max_file_size, less.max_result_bytes), (10, 20));
    assert_eq!((less.timeout, less.max_depth, less.max_entries), (Duration::from_millis(30), 4, 5));
    assert_eq!(less.allowed_paths, [at("/a/x"), at("/b/c")]);
    assert_eq!((less.blocked_paths, less.read_only), (vec![at("/a/x/y")], true));
    assert_eq!(less.default_encoding, TextEncoding::named("windows-1252").unwrap());
    for more in [
        json!({ "maxFileSize": u64::MAX }),
        json!({ "maxResultBytes": u64::MAX }),
        json!({ "timeoutMs": 30_001 }),
        json!({ "maxDepth": 65 }),
        json!({ "maxEntries": 10_001 }),
        json!({ "allowedPaths": ["/c"] }),
        json!({ "allowedPaths": [] }),
        json!({ "timeoutMs": 0 }),
        json!({ "defaultEncoding": "klingon" }),
        json!({ "allowedPaths": ["/../x"] }),
    ] {
        assert!(narrowed(more.clone()).is_err(), "{more}");
    }
    assert!(serde_json::from_value::<CallSettings>(json!({ "maxFilesize": 1 })).is_err());
    assert_eq!(narrowed(json!({})).unwrap(), base);
}

#[tokio::test]
async fn the_default_encoding_is_used_where_none_is_named() {
    for mut bench in Bench::each().await {
        bench.settings.default_encoding = TextEncoding::named("latin1").unwrap();
        bench.ok("write_file", json!({ "path": "/f", "content": "é" })).await;
        assert_eq!(bench.bytes("/f").await, [0xE9]);
        let data = bench.ok("read_file", json!({ "path": "/f" })).await;
        assert_eq!((&data["content"], &data["encoding"]), (&json!("é"), &json!("windows-1252")));
        let edits = json!([{ "oldText": "é", "newText": "è" }]);
        bench.ok("edit_file", json!({ "path": "/f", "edits": edits })).await;
        assert_eq!(bench.bytes("/f").await, [0xE8]);
    }
}

#[tokio::test]
async fn where_nothing_may_be_changed_nothing_is_offered_or_done() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", "x")]).await;
        bench.settings.read_only = true;
        let offered = tools::offered(&bench.workspace(), true).await;
        assert!(offered.iter().all(|tool| tool.only_looks()));
        let (kind, _) = bench.err("write_file", json!({ "path": "/f", "content": "y" })).await;
        assert_eq!(kind, "forbidden");
        assert_eq!(bench.err("delete", json!({ "path": "/f" })).await.0, "forbidden");
        assert_eq!(bench.ok("read_file", json!({ "path": "/f" })).await["content"], "x");
    }
}

#[tokio::test]
async fn a_viewer_may_look_and_change_nothing() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", "x")]).await;
        bench.role = Role::Viewer;
        assert_eq!(bench.ok("read_file", json!({ "path": "/f" })).await["content"], "x");
        for (tool, arguments) in [
            ("write_file", json!({ "path": "/f", "content": "y" })),
            ("delete", json!({ "path": "/f" })),
            ("move", json!({ "from": "/f", "to": "/g" })),
        ] {
            assert_eq!(bench.err(tool, arguments).await.0, "forbidden", "{tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_takes_too_long_ends_in_time() {
    let mut bench = Bench::stored().await;
    bench.put(&[("/d/f", "old")]).await;
    bench.ok("snapshot", json!({ "id": "s" })).await;
    let tree = Arc::clone(&bench.files);
    bench.files = Stalled::over(&tree);
    bench.settings.timeout = Duration::from_millis(250);
    let calls = [
        ("read_file", json!({ "path": "/d/f" })),
        ("write_file", json!({ "path": "/d/f", "content": "new" })),
        ("append_file", json!({ "path": "/d/f", "content": "new" })),
        ("edit_file", json!({ "path": "/d/f", "edits": [{ "oldText": "old", "newText": "new" }] })),
        ("list_directory", json!({ "path": "/d" })),
        ("tree", json!({ "path": "/d" })),
        ("search", json!({ "path": "/d", "content": "old" })),
        ("create_directory", json!({ "path": "/e" })),
        ("delete", json!({ "path": "/d", "recursive": true })),
        ("exists", json!({ "path": "/d" })),
        ("file_info", json!({ "path": "/d" })),
        ("move", json!({ "from": "/d", "to": "/e" })),
        ("copy", json!({ "from": "/d", "to": "/e" })),
        ("batch", json!({ "steps": [{ "operation": "delete", "path": "/d/f" }] })),
        ("snapshot", json!({ "id": "late" })),
        ("list_snapshots", json!({})),
        ("restore", json!({ "id": "s" })),
        ("diff", json!({ "from": "s" })),
    ];
    assert_eq!(calls.len(), tools::TOOLS.len());
    for (tool, arguments) in calls {
        let began = tokio::time::Instant::now();
        let (kind, result) = bench.err(tool, arguments).await;
        assert_eq!(kind, "timeout", "{tool}");
        let error = result.error.unwrap();
        assert!(error.contains("250 ms"));
        let only_looks = tools::named(tool).unwrap().only_looks();
        assert_eq!(error.contains("look whether it was done"), !only_looks, "{tool}");
        assert!(began.elapsed() < Duration::from_millis(300), "{tool}");
    }
    bench.files = tree;
    assert_eq!(bench.bytes("/d/f").await, b"old");
    let kept = bench.ok("list_snapshots", json!({})).await;
    assert_eq!(kept["snapshots"].as_array().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn only_what_may_be_done_twice_is_to_be_repeated_after_its_time() {
    let mut bench = Bench::stored().await;
    bench.files = Stalled::over(&bench.files);
    let edits = json!([{ "oldText": "a", "newText": "b" }]);
    for (tool, arguments, again) in [
        ("read_file", json!({ "path": "/f" }), true),
        ("diff", json!({ "from": "s" }), true),
        ("write_file", json!({ "path": "/f", "content": "x" }), true),
        ("create_directory", json!({ "path": "/d" }), true),
        ("restore", json!({ "id": "s" }), true),
        ("append_file", json!({ "path": "/f", "content": "x" }), false),
        ("edit_file", json!({ "path": "/f", "edits": edits }), false),
        ("move", json!({ "from": "/f", "to": "/g" }), false),
        ("batch", json!({ "steps": [{ "operation": "delete", "path": "/f" }] }), false),
        ("snapshot", json!({}), false),
    ] {
        let (kind, result) = bench.err(tool, arguments).await;
        assert_eq!((kind.as_str(), result.metadata.retryable), ("timeout", Some(again)), "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_directory_whose_time_is_up_is_made_with_its_parents_or_not_at_all() {
    for mut bench in Bench::each().await {
        let tree = Arc::clone(&bench.files);
        for done in 0..4 {
            bench.files = Stalled::after(&tree, &vec![Duration::ZERO; done]);
            let path = format!("/top{done}/middle/dir");
            let result = bench.run("create_directory", json!({ "path": path })).await;
            bench.files = Arc::clone(&tree);
            let top = bench.ok("exists", json!({ "path": format!("/top{done}") })).await;
            let dir = bench.ok("exists", json!({ "path": path })).await;
            assert_eq!(
                (&top["exists"], &dir["exists"]),
                (&json!(result.success), &json!(result.success)),
                "after {done} operations"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn names_that_are_alike_are_looked_for_only_as_long_as_the_call_may_take() {
    let mut bench = Bench::stored().await;
    bench.put(&[("/d/file", "x")]).await;
    let tree = Arc::clone(&bench.files);
    for (timeout, most) in [(250, 250), (5000, 1200)] {
        // That the file is missing is known late, and what there is instead never.
        bench.files = Stalled::after(&tree, &[Duration::from_millis(200)]);
        bench.settings.timeout = Duration::from_millis(timeout);
        let began = tokio::time::Instant::now();
        let (kind, _) = bench.err("read_file", json!({ "path": "/d/fil" })).await;
        assert_eq!(kind, "not_found");
        assert!(began.elapsed() <= Duration::from_millis(most + 10), "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_copy_that_is_cut_off_is_whole_or_not_there() {
    for bench in Bench::each().await {
        let files: Vec<String> = (0..400).map(|n| format!("/d/{}/{n}", n % 9)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "text")).collect();
        bench.put(&files).await;
        let mut ended = 0;
        for wait in 0..40_u64 {
            let settings = Settings {
                timeout: Duration::from_micros(50 + wait * wait * 20),
                ..Settings::for_programs()
            };
            let call = tools::Call::new(bench.workspace(), settings);
            let arguments = json!({ "from": "/d", "to": format!("/copy{wait}") });
            let result = call.run(tools::named("copy").unwrap(), arguments).await;
            ended += u64::from(!result.success);
            tokio::time::sleep(Duration::from_millis(5)).await;
            let there = bench.ok("exists", json!({ "path": format!("/copy{wait}") })).await;
            if there["exists"] == true {
                let arguments = json!({ "path": format!("/copy{wait}"), "recursive": true });
                let result = bench.run("list_directory", arguments).await;
                assert_eq!(result.metadata.items, Some(409), "{wait}");
            } else {
                assert!(!result.success);
            }
        }
        // In a stored tree a copy is one link, and done before any clock.
        assert!(ended > 0 || bench.dir.is_none(), "nothing was cut off");
        let data = bench.ok("list_directory", json!({ "path": "/" })).await;
        assert!(crate::fixture::names(&data).iter().all(|name| !name.starts_with('.')));
    }
}
