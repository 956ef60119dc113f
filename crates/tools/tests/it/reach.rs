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
