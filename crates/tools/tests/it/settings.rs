//! How much a call may do.

use std::time::Duration;

use engine::Role;
use serde_json::{Value, json};
use tools::{CallSettings, Settings, TextEncoding};

use crate::fixture::{Bench, at};

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

mod slow {
    //! A tree that takes its time.

    use super::*;
    use tools::{Call, named};

    #[tokio::test(start_paused = true)]
    async fn a_call_that_takes_too_long_ends_and_leaves_nothing() {
        let bench = Bench::stored().await;
        bench.put(&[("/f", "old")]).await;
        let settings = Settings { timeout: Duration::from_nanos(1), ..Settings::for_programs() };
        let content = "x".repeat(1 << 20);
        for (tool, arguments) in [
            ("write_file", json!({ "path": "/f", "content": content })),
            ("copy", json!({ "from": "/f", "to": "/g" })),
            ("delete", json!({ "path": "/f" })),
        ] {
            let call = Call::new(bench.workspace(), settings.clone());
            let result = call.run(named(tool).unwrap(), arguments).await;
            if result.success {
                continue; // It was faster than the clock.
            }
            assert_eq!(result.metadata.kind.as_deref(), Some("timeout"), "{tool}");
            assert_eq!(result.metadata.retryable, Some(true));
            assert_eq!(bench.bytes("/f").await, b"old", "{tool}");
        }
    }
}
