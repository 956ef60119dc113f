//! Every tool, once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{BOX, call, done, with_box};
use crate::http::Server;

/// What was called, and what came of it.
struct Caller {
    server: Server,
    called: BTreeSet<String>,
}

impl Caller {
    async fn does(&mut self, tool: &str, arguments: Value) -> Value {
        self.called.insert(tool.to_owned());
        let answer = call(&self.server, tool, BOX, arguments).await;
        let result = answer.json();
        assert_eq!(result["metadata"]["tool"], tool, "{result}");
        assert!(result["metadata"]["durationMs"].as_f64().unwrap() >= 0.0);
        done(&answer)
    }
}

#[tokio::test]
async fn every_tool_does_what_it_says() {
    let mut caller = Caller { server: with_box().await, called: BTreeSet::new() };
    files(&mut caller).await;
    trees(&mut caller).await;
    states(&mut caller).await;
    let listed = caller.server.get("/v1/tools?sandbox=box").await.json();
    let names = listed["tools"].as_array().unwrap().iter();
    let names: BTreeSet<String> = names.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(caller.called, names);
    assert_eq!(names.len(), 18);
}

async fn files(caller: &mut Caller) {
    let written =
        caller.does("write_file", json!({"path": "a/b.txt", "content": "one\ntwo\n"})).await;
    assert_eq!((&written["path"], &written["bytesWritten"]), (&json!("/a/b.txt"), &json!(8)));
    assert_eq!((&written["created"], &written["size"]), (&json!(true), &json!(8)));
    let read = caller.does("read_file", json!({"path": "a/b.txt"})).await;
    assert_eq!((&read["content"], &read["encoding"]), (&json!("one\ntwo\n"), &json!("utf-8")));
    assert_eq!(read["version"], written["version"]);
    let lines = caller.does("read_file", json!({"path": "a/b.txt", "startLine": 2})).await;
    assert_eq!(lines["content"], "two\n");
    let added = caller.does("append_file", json!({"path": "a/b.txt", "content": "three\n"})).await;
    assert_eq!((&added["bytesWritten"], &added["size"]), (&json!(6), &json!(14)));
    let edits = json!([{"oldText": "two", "newText": "2"}]);
    let edited = caller.does("edit_file", json!({"path": "a/b.txt", "edits": edits})).await;
    assert!(edited["diff"].as_str().unwrap().contains("-two\n+2\n"), "{edited}");
    let info = caller.does("file_info", json!({"path": "a/b.txt"})).await;
    assert_eq!(
        (&info["type"], &info["size"], &info["name"]),
        (&json!("file"), &json!(12), &json!("b.txt"))
    );
    assert!(info["createdAt"].is_string() && info["modifiedAt"].is_string(), "{info}");
    let there = caller.does("exists", json!({"path": "a"})).await;
    assert_eq!((&there["exists"], &there["type"]), (&json!(true), &json!("directory")));
    let missing = caller.does("exists", json!({"path": "nowhere"})).await;
    assert_eq!((&missing["exists"], &missing["type"]), (&json!(false), &Value::Null));
}

async fn trees(caller: &mut Caller) {
    let made = caller.does("create_directory", json!({"path": "c/d"})).await;
    assert_eq!(made["created"], true);
    caller.does("copy", json!({"from": "a", "to": "c/d/a"})).await;
    caller.does("move", json!({"from": "a/b.txt", "to": "c/moved.txt"})).await;
    let listed = caller.does("list_directory", json!({"path": "c", "recursive": true})).await;
    let entries = listed["entries"].as_array().unwrap().iter();
    let paths: Vec<&str> = entries.map(|entry| entry["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/c/d", "/c/d/a", "/c/d/a/b.txt", "/c/moved.txt"]);
    let drawn = caller.does("tree", json!({"path": "c"})).await;
    assert_eq!(drawn["tree"], "d/\n  a/\n    b.txt\nmoved.txt\n");
    let found = caller.does("search", json!({"content": "three", "names": "*.txt"})).await;
    let matches = found["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 2, "{found}");
    assert_eq!((&matches[0]["path"], &matches[0]["line"]), (&json!("/c/d/a/b.txt"), &json!(3)));
    let gone = caller.does("delete", json!({"path": "c/d", "recursive": true})).await;
    assert_eq!((&gone["deleted"], &gone["type"]), (&json!(true), &json!("directory")));
}

async fn states(caller: &mut Caller) {
    let kept = caller.does("snapshot", json!({"id": "before", "message": "all well"})).await;
    assert_eq!((&kept["id"], &kept["files"]), (&json!("before"), &json!(1)));
    let steps = json!([
        {"operation": "write", "path": "x.txt", "content": "x"},
        {"operation": "move", "path": "x.txt", "to": "y.txt"},
        {"operation": "delete", "path": "c", "recursive": true},
    ]);
    let left = caller.does("batch", json!({"steps": steps})).await;
    assert_eq!(left["steps"].as_array().unwrap().len(), 3);
    let changed = caller.does("diff", json!({"from": "before"})).await;
    let changes = changed["changes"].as_array().unwrap();
    assert!(
        changes.iter().any(|it| it["path"] == "/y.txt" && it["change"] == "added"),
        "{changed}"
    );
    let listed = caller.does("list_snapshots", json!({})).await;
    assert_eq!(listed["snapshots"][0]["id"], "before");
    caller.does("restore", json!({"id": "before"})).await;
    let back = caller.does("read_file", json!({"path": "c/moved.txt"})).await;
    assert_eq!(back["content"], "one\n2\nthree\n");
}

#[tokio::test]
async fn without_a_body_a_tool_has_no_arguments() {
    let server = with_box().await;
    let answer =
        server.send(crate::http::ask("POST", "/v1/tools/list_directory?sandbox=box")).await;
    assert_eq!(done(&answer), json!({"path": "/", "entries": []}));
}

#[tokio::test]
async fn without_a_sandbox_the_callers_own_is_meant() {
    let server = with_box().await;
    server.put("here.txt", "x");
    let listed = done(&call(&server, "list_directory", "", json!({})).await);
    assert_eq!(listed["entries"][0]["path"], server.shown("here.txt"));
    // And relative paths begin where they do for `/v1/fs`.
    let read = done(&call(&server, "read_file", "", json!({"path": "here.txt"})).await);
    assert_eq!(read["path"], server.shown("here.txt"));
}

#[tokio::test]
async fn ten_megabytes_go_in_and_out_unchanged() {
    let server = with_box().await;
    let text: String = ('\0'..='\u{ff}').cycle().take(6_000_000).collect();
    let written = call(&server, "write_file", BOX, json!({"path": "f", "content": text})).await;
    assert_eq!(done(&written)["bytesWritten"], text.len());
    let read = done(&call(&server, "read_file", BOX, json!({"path": "f"})).await);
    assert!(read["content"] == text);
}
