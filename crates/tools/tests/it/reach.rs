//! Where a call may go.

use serde_json::{Value, json};

use crate::fixture::{Bench, at, names};

/// One call of every tool that names a path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "evil" })),
        ("append_file", json!({ "path": path, "content": "evil" })),
        ("edit_file", json!({ "path": path, "edits": [{ "oldText": "s", "newText": "evil" }] })),
        ("list_directory", json!({ "path": path })),
        ("tree", json!({ "path": path })),
        ("create_directory", json!({ "path": path })),
        ("delete", json!({ "path": path, "recursive": true })),
        ("exists", json!({ "path": path })),
        ("file_info", json!({ "path": path })),
        ("search", json!({ "path": path, "content": "s" })),
        ("move", json!({ "from": path, "to": "/src/taken" })),
        ("move", json!({ "from": "/src/f", "to": path, "force": true })),
        ("copy", json!({ "from": path, "to": "/src/taken" })),
        ("copy", json!({ "from": "/src/f", "to": path, "force": true })),
    ]
}

#[tokio::test]
async fn paths_that_are_not_allowed_are_refused_by_every_tool() {
    for bench in Bench::each().await {
        let bench = bench.allow(&["/src"]);
        bench.put(&[("/secret/f", "secret"), ("/src/f", "source"), ("/src-evil/f", "s")]).await;
        for path in ["/secret/f", "/secret", "/src-evil/f", "/", "/src/../secret/f", "../secret/f"]
        {
            for (tool, arguments) in calls(path) {
                let (kind, result) = bench.err(tool, arguments.clone()).await;
                assert_eq!(kind, "outside_sandbox", "{tool} {arguments}");
                if path != "../secret/f" {
                    assert!(result.metadata.hint.unwrap().contains("/src"), "{tool}");
                }
            }
        }
        assert_eq!(bench.bytes("/secret/f").await, b"secret");
        assert_eq!(bench.bytes("/src/f").await, b"source");
        assert_eq!(bench.ok("read_file", json!({ "path": "/src/f" })).await["content"], "source");
    }
}

#[tokio::test]
async fn no_link_leads_out_of_what_is_allowed() {
    for bench in Bench::each().await {
        let bench = bench.allow(&["/src"]);
        bench.put(&[("/secret/f", "secret"), ("/src/f", "source")]).await;
        bench.link("/src/file", "../secret/f").await;
        bench.link("/src/dir", "../secret").await;
        let follow = [
            ("read_file", json!({ "path": "/src/file" })),
            ("write_file", json!({ "path": "/src/dir/new", "content": "evil" })),
            ("append_file", json!({ "path": "/src/file", "content": "evil" })),
            ("list_directory", json!({ "path": "/src/dir" })),
            ("tree", json!({ "path": "/src/dir" })),
            ("read_file", json!({ "path": "/src/dir/f" })),
            ("delete", json!({ "path": "/src/dir/f" })),
            ("move", json!({ "from": "/src/dir/f", "to": "/src/taken" })),
            ("copy", json!({ "from": "/src/dir/f", "to": "/src/taken" })),
            ("create_directory", json!({ "path": "/src/dir/made" })),
            ("search", json!({ "path": "/src/dir", "content": "secret" })),
        ];
        for (tool, arguments) in follow {
            assert_eq!(
                bench.err(tool, arguments.clone()).await.0,
                "outside_sandbox",
                "{tool} {arguments}"
            );
        }
        // A link itself is what it is, and where it leads is not told.
        let data = bench.ok("exists", json!({ "path": "/src/file" })).await;
        assert_eq!((&data["type"], &data["leadsTo"]), (&json!("symlink"), &Value::Null));
        assert_eq!(bench.bytes("/secret/f").await, b"secret");
        let secret = bench.files.list(&at("/secret"), engine::Page::default()).await.unwrap();
        assert_eq!(futures::StreamExt::count(secret).await, 1);
    }
}

#[tokio::test]
async fn blocked_directories_are_refused_and_not_shown() {
    for bench in Bench::each().await {
        let bench = bench.block(&["/etc", "/proc", "/a/b"]);
        bench
            .put(&[
                ("/etc/passwd", "root"),
                ("/src/f", "s"),
                ("/a/b/c", "s"),
                ("/a/x", "s"),
                ("/top", "s"),
            ])
            .await;
        bench.link("/src/sneaky", "../etc/passwd").await;
        bench.link("/sneaky", "etc").await;
        for path in
            ["/etc/passwd", "/etc", "/proc/self/environ", "/a/b", "/a/b/c", "/src/../etc/passwd"]
        {
            for (tool, arguments) in calls(path) {
                assert_eq!(
                    bench.err(tool, arguments.clone()).await.0,
                    "outside_sandbox",
                    "{tool} {arguments}"
                );
            }
        }
        for arguments in [json!({ "path": "/src/sneaky" }), json!({ "path": "/sneaky/passwd" })] {
            assert_eq!(bench.err("read_file", arguments).await.0, "outside_sandbox");
        }
        assert_eq!(
            names(&bench.ok("list_directory", json!({ "path": "/" })).await),
            ["a", "sneaky", "src", "top"]
        );
        let data = bench.ok("list_directory", json!({ "path": "/", "recursive": true })).await;
        assert_eq!(names(&data), ["a", "x", "sneaky", "src", "f", "sneaky", "top"]);
        // What holds something blocked is not removed or moved as a whole.
        for (tool, arguments) in [
            ("delete", json!({ "path": "/a", "recursive": true })),
            ("move", json!({ "from": "/a", "to": "/c" })),
            ("copy", json!({ "from": "/a", "to": "/c" })),
        ] {
            assert_eq!(bench.err(tool, arguments).await.0, "outside_sandbox");
        }
        // Everything else is as without it.
        bench.ok("write_file", json!({ "path": "/new", "content": "x" })).await;
        bench.ok("write_file", json!({ "path": "/a/new", "content": "x" })).await;
        bench.ok("delete", json!({ "path": "/new" })).await;
        bench.ok("delete", json!({ "path": "/a/new" })).await;
        bench.ok("delete", json!({ "path": "/top" })).await;
        bench.ok("move", json!({ "from": "/src/f", "to": "/src/g" })).await;
        assert_eq!(bench.bytes("/etc/passwd").await, b"root");
    }
}

#[tokio::test]
async fn files_go_from_one_allowed_path_to_another() {
    for bench in Bench::each().await {
        let bench = bench.allow(&["/in", "/out"]);
        bench.put(&[("/in/d/f", "data"), ("/in/d/e/g", "more"), ("/out/old", "old")]).await;
        bench.ok("copy", json!({ "from": "/in/d/f", "to": "/out/f" })).await;
        assert_eq!(bench.bytes("/out/f").await, b"data");
        let arguments = json!({ "from": "/in/d/f", "to": "/out/old" });
        assert_eq!(bench.err("copy", arguments).await.0, "already_exists");
        bench.ok("copy", json!({ "from": "/in/d", "to": "/out/tree" })).await;
        assert_eq!(bench.bytes("/out/tree/e/g").await, b"more");
        let (kind, result) = bench.err("move", json!({ "from": "/in/d/f", "to": "/out/g" })).await;
        assert_eq!(kind, "unsupported");
        assert!(result.metadata.hint.unwrap().contains("copy"));
        bench.ok("move", json!({ "from": "/in/d/f", "to": "/in/f" })).await;
    }
}

#[tokio::test]
async fn what_would_leave_the_sandbox_is_refused_and_what_stays_is_normal() {
    for mut bench in Bench::each().await {
        bench.home = at("/home/me");
        bench.put(&[("/home/me/f", "mine"), ("/home/a..b", "dots")]).await;
        let read = async |path: &str| bench.run("read_file", json!({ "path": path })).await;
        for path in ["f", "./f", "/home/me/f", "../me/f", "//home///me/./f", "/home/x/../me/f"] {
            assert_eq!(read(path).await.data.unwrap()["content"], "mine", "{path}");
        }
        assert_eq!(read("../a..b").await.data.unwrap()["content"], "dots");
        for path in ["../../../etc/passwd", "/../etc/passwd", "/home/../../x", "..//../../.."] {
            assert_eq!(read(path).await.metadata.kind.unwrap(), "outside_sandbox", "{path}");
        }
        for path in ["", "a\0b"] {
            assert_eq!(read(path).await.metadata.kind.unwrap(), "invalid_path", "{path:?}");
        }
        let long = format!("/{}", "x".repeat(256));
        assert_eq!(read(&long).await.metadata.kind.unwrap(), "invalid_path");
    }
}

#[tokio::test]
async fn a_sandbox_that_lies_at_a_path_is_named_by_it() {
    for mut bench in Bench::each().await {
        bench.put(&[("/f", "mine")]).await;
        bench.prefix = at("/workspace");
        let data = bench.ok("read_file", json!({ "path": "/workspace/f" })).await;
        assert_eq!((&data["content"], &data["path"]), (&json!("mine"), &json!("/workspace/f")));
        assert_eq!(bench.ok("read_file", json!({ "path": "f" })).await["content"], "mine");
        for path in ["/etc/passwd", "/workspace/../etc/passwd", "../etc/passwd"] {
            assert_eq!(bench.err("read_file", json!({ "path": path })).await.0, "outside_sandbox");
        }
    }
}

#[tokio::test]
async fn no_step_of_a_batch_follows_a_link_to_what_is_blocked() {
    let bench = Bench::stored().await.block(&["/etc"]);
    bench.put(&[("/etc/passwd", "root"), ("/top", "s")]).await;
    bench.link("/file", "etc/passwd").await;
    bench.link("/dir", "etc").await;
    let harmless = json!({ "operation": "write", "path": "/top", "content": "new" });
    for evil in [
        json!({ "operation": "write", "path": "/file", "content": "evil" }),
        json!({ "operation": "append", "path": "/file", "content": "evil" }),
        json!({ "operation": "write", "path": "/dir/passwd", "content": "evil" }),
        json!({ "operation": "create_directory", "path": "/dir/evil" }),
        json!({ "operation": "delete", "path": "/dir/passwd" }),
        json!({ "operation": "copy", "path": "/dir/passwd", "to": "/stolen" }),
        json!({ "operation": "move", "path": "/dir/passwd", "to": "/stolen" }),
    ] {
        for steps in [json!([evil]), json!([harmless, evil]), json!([evil, harmless])] {
            let result = bench.run("batch", json!({ "steps": steps })).await;
            assert!(!result.success, "{steps}");
        }
    }
    assert_eq!(bench.bytes("/etc/passwd").await, b"root");
    assert_eq!(bench.ok("exists", json!({ "path": "/stolen" })).await["exists"], false);
    bench.ok("batch", json!({ "steps": [harmless] })).await;
    assert_eq!(bench.bytes("/top").await, b"new");
}

#[tokio::test]
async fn no_listing_goes_on_behind_a_link_to_what_is_blocked() {
    for bench in Bench::each().await {
        let bench = bench.block(&["/etc"]);
        bench.put(&[("/etc/passwd", "root"), ("/top", "s")]).await;
        bench.link("/sneaky", "etc").await;
        for (tool, field) in [("list_directory", "entries"), ("tree", "tree")] {
            let arguments = json!({ "path": "/", "depth": 9, "after": "/sneaky/a" });
            let result = bench.run(tool, arguments).await;
            let told = result.data.map(|data| data[field].to_string()).unwrap_or_default();
            assert!(!told.contains("passwd"), "{tool} {told}");
        }
    }
}

#[tokio::test]
async fn no_search_tells_what_is_in_blocked_files() {
    for mut bench in Bench::each().await {
        bench.settings.max_entries = 2;
        let bench = bench.block(&["/etc"]);
        let secret = "secret\n".repeat(9);
        bench.put(&[("/etc/passwd", &secret), ("/etc/shadow", "\0"), ("/top", "secret")]).await;
        let result = bench.run("search", json!({ "path": "/", "content": "secret" })).await;
        let data = result.data.unwrap();
        assert_eq!(data["matches"], json!([{ "path": "/top", "line": 1, "text": "secret" }]));
        assert_eq!((&data["filesSearched"], &data["binaryFiles"]), (&json!(1), &json!(0)));
        assert!(result.metadata.truncated.is_none());
    }
}

#[tokio::test]
async fn no_snapshot_is_restored_by_way_of_a_link() {
    let bench = Bench::stored().await.allow(&["/src"]);
    bench.put(&[("/secret/f", "then"), ("/src/f", "source")]).await;
    bench.link("/src/dir", "../secret").await;
    bench.ok("snapshot", json!({ "id": "linked" })).await;
    bench.put(&[("/secret/f", "now")]).await;
    let arguments = json!({ "id": "linked", "path": "/src/dir/f" });
    assert_eq!(bench.err("restore", arguments.clone()).await.0, "outside_sandbox");
    assert_eq!(bench.bytes("/secret/f").await, b"now");
    // Nor by a link that was there then.
    bench.ok("delete", json!({ "path": "/src/dir" })).await;
    bench.put(&[("/src/dir/f", "mine")]).await;
    assert_eq!(bench.err("restore", arguments).await.0, "outside_sandbox");
    assert_eq!(bench.bytes("/src/dir/f").await, b"mine");
}

#[tokio::test]
async fn what_lies_beside_something_blocked_is_moved_and_copied() {
    for bench in Bench::each().await {
        let bench = bench.block(&["/etc"]);
        bench.put(&[("/a", "a"), ("/d/f", "f"), ("/etc/x", "x")]).await;
        bench.ok("move", json!({ "from": "/a", "to": "/b" })).await;
        bench.ok("copy", json!({ "from": "/b", "to": "/c" })).await;
        bench.ok("copy", json!({ "from": "/d", "to": "/e" })).await;
        assert_eq!(
            (bench.bytes("/c").await, bench.bytes("/e/f").await),
            (b"a".into(), b"f".into())
        );
        let (kind, _) = bench.err("copy", json!({ "from": "/d", "to": "/d/g/h" })).await;
        assert_eq!(kind, "invalid_argument");
        assert_eq!(bench.ok("exists", json!({ "path": "/d/g" })).await["exists"], false);
    }
}

#[tokio::test]
async fn what_went_out_of_sight_has_no_length() {
    let bench = Bench::stored().await.block(&["/etc"]);
    bench.put(&[("/a", "some words of a file"), ("/etc/b", "more words of another file")]).await;
    bench.ok("snapshot", json!({ "id": "s" })).await;
    let unlimited = bench.unlimited();
    for (from, to) in [("/a", "/etc/a"), ("/etc/b", "/b")] {
        let arguments = json!({ "from": from, "to": to });
        assert!(unlimited.run(tools::named("move").unwrap(), arguments).await.success);
    }
    let data = bench.ok("diff", json!({ "from": "s" })).await;
    for change in data["changes"].as_array().unwrap() {
        let hidden = if change["change"] == "added" { "sizeBefore" } else { "sizeAfter" };
        assert_eq!(change[hidden], Value::Null, "{change}");
    }
    assert_eq!(data["changes"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_allowed_directory_that_is_missing_can_be_made() {
    for bench in Bench::each().await {
        let bench = bench.allow(&["/made/by/path", "/made/by/write"]);
        let data = bench.ok("create_directory", json!({ "path": "/made/by/path" })).await;
        assert_eq!(data["created"], true);
        bench.ok("write_file", json!({ "path": "/made/by/write/f", "content": "x" })).await;
        let data = bench.ok("create_directory", json!({ "path": "/made/by/path" })).await;
        assert_eq!(data["created"], false);
    }
}
