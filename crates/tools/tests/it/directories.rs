//! Directories are listed, made and removed truly.

use serde_json::{Value, json};

use crate::fixture::{Bench, names};

#[tokio::test]
async fn a_listing_is_sorted_and_typed() {
    for bench in Bench::each().await {
        bench.put(&[("/d/b.txt", "12345"), ("/d/a/deep.txt", "1")]).await;
        bench.link("/d/z", "b.txt").await;
        let result = bench.run("list_directory", json!({ "path": "/d" })).await;
        assert_eq!(result.metadata.items, Some(3));
        let data = result.data.unwrap();
        assert_eq!(names(&data), ["a", "b.txt", "z"]);
        let types: Vec<&Value> =
            data["entries"].as_array().unwrap().iter().map(|e| &e["type"]).collect();
        assert_eq!(types, ["directory", "file", "symlink"]);
        let sizes: Vec<&Value> =
            data["entries"].as_array().unwrap().iter().map(|e| &e["size"]).collect();
        assert_eq!(sizes, [&Value::Null, &json!(5), &Value::Null]);
        assert_eq!(data["entries"][1]["path"], "/d/b.txt");
        let data = bench.ok("list_directory", json!({ "path": "/d", "recursive": true })).await;
        assert_eq!(names(&data), ["a", "deep.txt", "b.txt", "z"]);
        let data = bench
            .ok("list_directory", json!({ "path": "/d", "recursive": true, "pattern": "*.txt" }))
            .await;
        assert_eq!(names(&data), ["deep.txt", "b.txt"]);
        let data = bench.ok("list_directory", json!({ "path": "/d", "type": "directory" })).await;
        assert_eq!(names(&data), ["a"]);
    }
}

#[tokio::test]
async fn a_file_is_no_directory_and_a_link_to_one_is() {
    for bench in Bench::each().await {
        bench.put(&[("/d/f", "")]).await;
        bench.link("/l", "d").await;
        assert_eq!(
            bench.err("list_directory", json!({ "path": "/d/f" })).await.0,
            "not_a_directory"
        );
        assert_eq!(names(&bench.ok("list_directory", json!({ "path": "/l" })).await), ["f"]);
        assert_eq!(bench.err("list_directory", json!({ "path": "/x" })).await.0, "not_found");
    }
}

/// Lists to the end by what each answer says about the next one.
async fn list_on(bench: &Bench, mut arguments: Value) -> (Vec<String>, usize) {
    let (mut all, mut calls) = (Vec::new(), 0);
    loop {
        let result = bench.run("list_directory", arguments.clone()).await;
        let data = result.data.unwrap();
        all.extend(names(&data).into_iter().map(str::to_owned));
        calls += 1;
        let Some(truncated) = result.metadata.truncated else { return (all, calls) };
        assert_eq!(truncated.returned, names(&data).len() as u64);
        arguments.as_object_mut().unwrap().extend(truncated.next.unwrap());
    }
}

#[tokio::test]
async fn whoever_follows_next_gets_every_entry_once() {
    for mut bench in Bench::each().await {
        let files: Vec<String> = (0..60).map(|n| format!("/d/{}/{n:02}", n % 7)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|path| (path.as_str(), "")).collect();
        bench.put(&files).await;
        let whole = bench.ok("list_directory", json!({ "path": "/d", "recursive": true })).await;
        let arguments = json!({ "path": "/d", "recursive": true, "limit": 9 });
        let (all, calls) = list_on(&bench, arguments).await;
        assert_eq!(all, names(&whole));
        assert_eq!((all.len(), calls), (67, 8));
        bench.settings.max_result_bytes = 1200;
        let (all, calls) = list_on(&bench, json!({ "path": "/d", "recursive": true })).await;
        assert_eq!(all, names(&whole));
        assert!(calls > 5);
    }
}

#[tokio::test]
async fn what_lies_deeper_than_may_be_looked_at_is_told() {
    for mut bench in Bench::each().await {
        bench.put(&[("/a/b/c/d/e", "")]).await;
        bench.settings.max_depth = 3;
        let result = bench.run("list_directory", json!({ "path": "/", "recursive": true })).await;
        assert_eq!(names(&result.data.unwrap()), ["a", "b", "c"]);
        let truncated = serde_json::to_value(result.metadata.truncated.unwrap()).unwrap();
        assert_eq!(truncated["reason"], "depth");
        // Whoever asks for two levels gets two, and knows it.
        let result = bench
            .run("list_directory", json!({ "path": "/", "recursive": true, "depth": 2 }))
            .await;
        assert!(result.metadata.truncated.is_none());
        let result = bench.run("tree", json!({ "path": "/" })).await;
        assert_eq!(result.data.unwrap()["tree"], "a/\n  b/\n    c/\n");
        assert!(result.metadata.truncated.is_some());
    }
}

#[tokio::test]
async fn a_tree_is_drawn_and_counted() {
    for bench in Bench::each().await {
        bench.put(&[("/d/a/x", "12"), ("/d/b", "345"), ("/d/new\nline", "")]).await;
        bench.link("/d/link", "b").await;
        let data = bench.ok("tree", json!({ "path": "/d" })).await;
        assert_eq!(data["tree"], "a/\n  x\nb\nlink@\nnew\\nline\n");
        assert_eq!(
            (&data["files"], &data["directories"], &data["bytes"]),
            (&json!(4), &json!(1), &json!(5))
        );
    }
}

#[tokio::test]
async fn made_is_said_only_of_what_was_made() {
    for bench in Bench::each().await {
        let make = |arguments| bench.ok("create_directory", arguments);
        assert_eq!(make(json!({ "path": "/a/b/c" })).await["created"], true);
        assert_eq!(make(json!({ "path": "/a/b/c" })).await["created"], false);
        assert_eq!(make(json!({ "path": "/a", "recursive": false })).await["created"], false);
        assert_eq!(make(json!({ "path": "/n", "recursive": false })).await["created"], true);
        let arguments = json!({ "path": "/x/y", "recursive": false });
        assert_eq!(bench.err("create_directory", arguments).await.0, "not_found");
        assert_eq!(make(json!({ "path": "/" })).await["created"], false);
        bench.put(&[("/f", "")]).await;
        assert_eq!(
            bench.err("create_directory", json!({ "path": "/f" })).await.0,
            "already_exists"
        );
        assert_eq!(
            bench.err("create_directory", json!({ "path": "/f/g" })).await.0,
            "not_a_directory"
        );
    }
}

#[tokio::test]
async fn an_empty_directory_goes_and_a_full_one_only_when_told() {
    for bench in Bench::each().await {
        bench.put(&[("/full/f", ""), ("/file", "")]).await;
        bench.ok("create_directory", json!({ "path": "/empty" })).await;
        let data = bench.ok("delete", json!({ "path": "/empty" })).await;
        assert_eq!((&data["deleted"], &data["type"]), (&json!(true), &json!("directory")));
        assert_eq!(bench.err("delete", json!({ "path": "/full" })).await.0, "directory_not_empty");
        bench.ok("delete", json!({ "path": "/full", "recursive": true })).await;
        bench.ok("delete", json!({ "path": "/file" })).await;
        assert_eq!(bench.err("delete", json!({ "path": "/file" })).await.0, "not_found");
        let data = bench.ok("delete", json!({ "path": "/file", "force": true })).await;
        assert_eq!(data["deleted"], false);
        assert_eq!(
            bench.err("delete", json!({ "path": "/", "recursive": true })).await.0,
            "invalid_argument"
        );
    }
}

#[tokio::test]
async fn a_link_is_deleted_itself() {
    for bench in Bench::each().await {
        bench.put(&[("/d/f", "x")]).await;
        bench.link("/l", "d").await;
        bench.ok("delete", json!({ "path": "/l", "recursive": true })).await;
        assert_eq!(bench.bytes("/d/f").await, b"x");
    }
}

#[tokio::test]
async fn what_is_there_is_told_even_of_links_that_lead_nowhere() {
    for bench in Bench::each().await {
        bench.put(&[("/f", "x")]).await;
        bench.link("/live", "f").await;
        bench.link("/dangling", "nowhere").await;
        let exists = |path: &str| bench.ok("exists", json!({ "path": path }));
        assert_eq!(
            exists("/f").await,
            json!({ "path": "/f", "exists": true, "type": "file", "leadsTo": null })
        );
        assert_eq!(exists("/live").await["leadsTo"], "file");
        let data = exists("/dangling").await;
        assert_eq!(
            (&data["exists"], &data["type"], &data["leadsTo"]),
            (&json!(true), &json!("symlink"), &Value::Null)
        );
        for nothing in ["/x", "/x/y", "/f/y"] {
            let data = exists(nothing).await;
            assert_eq!(
                (&data["exists"], &data["type"]),
                (&json!(false), &Value::Null),
                "{nothing}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_known_of_a_file_is_told() {
    for bench in Bench::each().await {
        bench.put(&[("/d/f.txt", "12345")]).await;
        bench.link("/d/l", "f.txt").await;
        let data = bench.ok("file_info", json!({ "path": "/d/f.txt" })).await;
        assert_eq!(
            (&data["name"], &data["type"], &data["size"]),
            (&json!("f.txt"), &json!("file"), &json!(5))
        );
        assert!(data["permissions"].as_str().unwrap().starts_with("-rw"));
        for time in ["modifiedAt", "createdAt"] {
            let text = data[time].as_str().unwrap();
            assert!(text.contains('T') && text.ends_with('Z'), "{text}");
        }
        let data = bench.ok("file_info", json!({ "path": "/d/" })).await;
        assert_eq!(
            (&data["path"], &data["name"], &data["size"]),
            (&json!("/d"), &json!("d"), &Value::Null)
        );
        assert_eq!(bench.ok("file_info", json!({ "path": "/" })).await["name"], "/");
        let data = bench.ok("file_info", json!({ "path": "/d/l" })).await;
        assert_eq!((&data["target"], &data["leadsTo"]), (&json!("f.txt"), &json!("file")));
    }
}

#[tokio::test]
async fn whatever_lies_too_deep_is_told_however_one_asks() {
    for mut bench in Bench::each().await {
        bench.put(&[("/a/b/c/d.rs", ""), ("/a/e.rs", "")]).await;
        bench.settings.max_depth = 2;
        for arguments in [
            json!({ "path": "/", "recursive": true }),
            json!({ "path": "/", "depth": 9 }),
            json!({ "path": "/", "recursive": true, "type": "file" }),
            json!({ "path": "/", "recursive": true, "pattern": "*.rs" }),
        ] {
            let result = bench.run("list_directory", arguments.clone()).await;
            assert_eq!(
                result.metadata.truncated.map(|cut| cut.reason),
                Some(tools::Why::Depth),
                "{arguments}"
            );
        }
        let arguments = json!({ "path": "/", "recursive": true, "depth": 2, "type": "file" });
        assert!(bench.run("list_directory", arguments).await.metadata.truncated.is_none());
    }
}

#[tokio::test]
async fn one_entry_always_has_room_and_none_is_no_number() {
    for mut bench in Bench::each().await {
        bench.put(&[("/a", ""), ("/b", ""), ("/c", "")]).await;
        bench.settings.max_result_bytes = 1;
        let (mut found, mut arguments) = (Vec::new(), json!({ "path": "/" }));
        for _ in 0..5 {
            let result = bench.run("list_directory", arguments.clone()).await;
            let data = result.data.unwrap();
            found.extend(names(&data).into_iter().map(ToOwned::to_owned));
            let Some(truncated) = result.metadata.truncated else { break };
            arguments.as_object_mut().unwrap().extend(truncated.next.unwrap());
        }
        assert_eq!(found, ["a", "b", "c"]);
        for (tool, arguments) in [
            ("list_directory", json!({ "path": "/", "limit": 0 })),
            ("list_directory", json!({ "path": "/", "depth": 0 })),
            ("tree", json!({ "path": "/", "limit": 0 })),
            ("tree", json!({ "path": "/", "depth": 0 })),
            ("search", json!({ "path": "/", "names": "*", "limit": 0 })),
        ] {
            assert_eq!(bench.err(tool, arguments).await.0, "invalid_argument", "{tool}");
        }
    }
}
