//! What goes wrong is told so that a model can mend it, and nothing else is told.

use engine::Outcome;
use serde_json::{Value, json};

use crate::fixture::Bench;

#[tokio::test]
async fn names_that_are_alike_are_told() {
    for bench in Bench::each().await {
        bench
            .put(&[("/src/main.rs", ""), ("/src/mail.rs", ""), ("/src/other", ""), ("/docs/x", "")])
            .await;
        let (kind, result) = bench.err("read_file", json!({ "path": "/src/mian.rs" })).await;
        assert_eq!(kind, "not_found");
        assert_eq!(result.metadata.suggestions[0], "/src/main.rs");
        assert!(result.metadata.suggestions.len() <= 3);
        assert!(result.error.unwrap().contains("did you mean /src/main.rs"));
        // A directory on the way counts too, and letters of another case.
        let (_, result) = bench.err("read_file", json!({ "path": "/SRC/main.rs" })).await;
        assert_eq!(result.metadata.suggestions, ["/src"]);
        let (_, result) = bench.err("read_file", json!({ "path": "/zzz" })).await;
        assert_eq!(result.metadata.suggestions, [""; 0]);
        assert!(result.metadata.hint.unwrap().contains("list_directory"));
    }
}

#[tokio::test]
async fn names_are_not_told_of_what_may_not_be_seen() {
    for bench in Bench::each().await {
        let bench = bench.allow(&["/src"]);
        bench.put(&[("/secret", ""), ("/src/x", "")]).await;
        let (kind, result) = bench.err("read_file", json!({ "path": "/secre" })).await;
        assert_eq!((kind.as_str(), result.metadata.suggestions.len()), ("outside_sandbox", 0));
        assert!(!result.error.unwrap().contains("/secret"));
        let bench = Bench {
            settings: tools::Settings { allowed_paths: Vec::new(), ..bench.settings },
            ..bench
        };
        let bench = bench.block(&["/secret"]);
        let (_, result) = bench.err("read_file", json!({ "path": "/secre" })).await;
        assert_eq!(result.metadata.suggestions, [""; 0]);
    }
}

#[tokio::test]
async fn bad_arguments_are_named() {
    let bench = Bench::stored().await;
    for (arguments, word) in [
        (json!({}), "path"),
        (json!({ "path": 7 }), "path"),
        (json!({ "path": "/f", "pth": 1 }), "pth"),
        (json!([]), "object"),
        (json!("x"), "object"),
        (Value::Null, "path"),
        (json!({ "path": "/f", "offset": "x" }), "offset"),
    ] {
        let (kind, result) = bench.err("read_file", arguments.clone()).await;
        assert_eq!(kind, "invalid_argument");
        let error = result.error.unwrap();
        assert!(error.contains(word), "{arguments}: {error}");
        assert!(error.contains("schema"));
    }
}

#[tokio::test]
async fn an_error_names_no_path_of_the_host_and_no_words_of_the_machine() {
    let bench = Bench::host();
    bench.put(&[("/f", "x")]).await;
    let dir = bench.dir.as_ref().unwrap().path().to_str().unwrap().to_owned();
    for (tool, arguments) in [
        ("read_file", json!({ "path": "/gone" })),
        ("read_file", json!({ "path": "/f/x" })),
        ("list_directory", json!({ "path": "/f" })),
        ("create_directory", json!({ "path": "/f" })),
        ("write_file", json!({ "path": "/f/x", "content": "" })),
        ("delete", json!({ "path": "/gone" })),
        ("read_file", json!({ "path": "../../etc/passwd" })),
    ] {
        let (_, result) = bench.err(tool, arguments).await;
        let told = serde_json::to_string(&result).unwrap();
        for leak in [dir.as_str(), "os error", "No such file", "ENOENT", "openat", "Errno"] {
            assert!(!told.contains(leak), "{told}");
        }
        assert!(result.metadata.hint.is_some());
    }
}

#[tokio::test]
async fn what_was_refused_is_written_down_once() {
    for bench in Bench::each().await {
        let bench = bench.allow(&["/src"]).block(&["/src/private"]);
        bench.put(&[("/src/f", "x"), ("/out", "x")]).await;
        bench.link("/src/link", "../out").await;
        let before = bench.events().await.len();
        for path in ["/out", "/src/private/x", "../../x", "/src/link"] {
            bench.err("read_file", json!({ "path": path })).await;
        }
        let events = bench.events().await;
        let refused = |event: &&engine::AuditEvent| matches!(event.outcome, Outcome::Refused(_));
        assert_eq!(events[before..].iter().filter(refused).count(), 4, "{events:#?}");
        bench.err("read_file", json!({ "path": "/src/gone" })).await;
        assert_eq!(bench.events().await.len(), events.len());
    }
}

#[tokio::test]
async fn a_path_that_is_none_is_written_down_as_it_was_spelled() {
    let bench = Bench::stored().await;
    for (tool, arguments, spelled) in [
        ("read_file", json!({ "path": "a/../../etc/passwd" }), "a/../../etc/passwd"),
        ("move", json!({ "from": "f", "to": "../g" }), "../g"),
        ("batch", json!({ "steps": [{ "operation": "delete", "path": "../../x" }] }), "../../x"),
    ] {
        let (kind, _) = bench.err(tool, arguments).await;
        assert_eq!(kind, "outside_sandbox");
        let events = bench.events().await;
        let event = events.last().unwrap();
        assert_eq!((&*event.operation, event.subject.as_deref()), (tool, Some(spelled)));
    }
}

#[tokio::test]
async fn a_wrong_argument_is_not_repeated_at_length() {
    let bench = Bench::stored().await;
    let long = "x".repeat(1 << 20);
    for arguments in [
        json!({ "path": "/f", "content": "", "force": long }),
        json!({ "path": "/f", "content": "", long: 1 }),
    ] {
        let (kind, result) = bench.err("write_file", arguments).await;
        assert_eq!(kind, "invalid_argument");
        assert!(result.error.unwrap().len() < 2000);
    }
}

#[tokio::test]
async fn where_something_is_there_already_the_advice_can_be_followed() {
    for bench in Bench::each().await {
        bench.put(&[("/f", "x"), ("/d/g", "y"), ("/d/h/i", "z")]).await;
        for (tool, arguments, hint) in [
            (
                "write_file",
                json!({ "path": "/f", "content": "", "force": false }),
                "choose another name, or set `force` to replace a file",
            ),
            (
                "move",
                json!({ "from": "/f", "to": "/d/g" }),
                "choose another name, or set `force` to replace it",
            ),
            (
                "copy",
                json!({ "from": "/f", "to": "/d" }),
                "choose another name, or set `force` to replace it",
            ),
            // What it would replace is what it is in.
            ("move", json!({ "from": "/d/h", "to": "/d" }), "choose another name"),
            (
                "create_directory",
                json!({ "path": "/f" }),
                "choose another name, or delete what is there first",
            ),
        ] {
            let shown = arguments.to_string();
            let (kind, result) = bench.err(tool, arguments).await;
            assert_eq!(kind, "already_exists", "{tool} {shown}");
            assert_eq!(result.metadata.hint.as_deref(), Some(hint), "{tool} {shown}");
        }
    }
}

#[tokio::test]
async fn between_allowed_paths_a_directory_is_not_replaced_whatever_one_sets() {
    for bench in Bench::each().await {
        let bench = bench.allow(&["/a", "/b"]);
        bench.put(&[("/a/d/f", "x"), ("/b/d/f", "y"), ("/a/f", "x"), ("/b/f", "y")]).await;
        let directory = json!({ "from": "/a/d", "to": "/b/d", "force": true });
        let (kind, result) = bench.err("copy", directory).await;
        let hint = "choose another name, or delete what is there first";
        assert_eq!((&*kind, result.metadata.hint.as_deref()), ("already_exists", Some(hint)));
        let (kind, result) = bench.err("copy", json!({ "from": "/a/f", "to": "/b/f" })).await;
        let hint = "choose another name, or set `force` to replace a file";
        assert_eq!((&*kind, result.metadata.hint.as_deref()), ("already_exists", Some(hint)));
    }
}

#[tokio::test]
async fn what_has_no_force_is_not_told_to_set_it() {
    let bench = Bench::stored().await;
    bench.put(&[("/f", "x")]).await;
    bench.ok("snapshot", json!({ "id": "s" })).await;
    let (kind, result) = bench.err("snapshot", json!({ "id": "s" })).await;
    assert_eq!(kind, "already_exists");
    assert_eq!(result.metadata.hint.as_deref(), Some("choose another `id`"));
    let steps = json!([{ "operation": "create_directory", "path": "/f" }]);
    let (kind, result) = bench.err("batch", json!({ "steps": steps })).await;
    assert_eq!(kind, "already_exists");
    assert!(!result.error.unwrap().contains("`force`"));
}

#[tokio::test]
async fn where_nothing_may_be_changed_no_key_is_asked_for() {
    let mut bench = Bench::stored().await;
    bench.put(&[("/f", "x")]).await;
    bench.settings.read_only = true;
    let (kind, result) = bench.err("delete", json!({ "path": "/f" })).await;
    assert_eq!(kind, "forbidden");
    let error = result.error.unwrap();
    assert!(error.contains("use a tool that only looks") && !error.contains("key"), "{error}");
    bench.settings.read_only = false;
    bench.role = engine::Role::Viewer;
    let (kind, result) = bench.err("delete", json!({ "path": "/f" })).await;
    assert_eq!(kind, "forbidden");
    assert!(result.error.unwrap().contains("a key that may do more"));
}
