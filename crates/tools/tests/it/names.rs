//! Names are data: none is an option, a command or a pattern.

use serde_json::{Value, json};

use crate::fixture::{Bench, names};

const ODD: [&str; 16] = [
    "-delete",
    "--help",
    "--version",
    "-rf",
    "a b",
    "new\nline",
    "tab\there",
    "it's",
    "\"quoted\"",
    "$(touch pwned)",
    "`id`",
    "; rm -rf *",
    "a|b&c>d<e",
    "*?[x]{a,b}",
    "a..b",
    "~",
];

#[tokio::test]
async fn odd_names_are_ordinary_in_every_tool() {
    for bench in Bench::each().await {
        bench.put(&[("/keep/me", "kept")]).await;
        for (number, name) in ODD.into_iter().enumerate() {
            let dir = format!("{name}/sub");
            let file = format!("{dir}/{name}");
            let call = async |tool: &str, arguments: Value| bench.ok(tool, arguments).await;
            assert_eq!(call("create_directory", json!({ "path": name })).await["created"], true);
            call("write_file", json!({ "path": file, "content": name })).await;
            call("append_file", json!({ "path": file, "content": "!" })).await;
            let content = call("read_file", json!({ "path": file })).await["content"].clone();
            assert_eq!(content, format!("{name}!"));
            assert_eq!(
                names(&call("list_directory", json!({ "path": dir, "recursive": true })).await),
                [name]
            );
            assert_eq!(call("exists", json!({ "path": file })).await["exists"], true);
            assert_eq!(call("file_info", json!({ "path": file })).await["name"], name);
            let copy = format!("{dir}/copy of {name}");
            call("copy", json!({ "from": file, "to": copy })).await;
            call("move", json!({ "from": copy, "to": format!("{name}/moved") })).await;
            call(
                "edit_file",
                json!({ "path": file, "edits": [{ "oldText": "!", "newText": "unheard-of" }] }),
            )
            .await;
            let found = call("search", json!({ "path": name, "content": "unheard-of" })).await;
            assert_eq!(found["matches"][0]["path"], format!("/{file}"), "{name:?}");
            call("tree", json!({ "path": name })).await;
            if bench.dir.is_none() {
                in_steps_and_snapshots(&bench, name, &format!("s{number}")).await;
            }
            call("delete", json!({ "path": name, "recursive": true })).await;
            assert_eq!(call("exists", json!({ "path": name })).await["exists"], false);
        }
        assert_eq!(names(&bench.ok("list_directory", json!({ "path": "/" })).await), ["keep"]);
        assert_eq!(bench.bytes("/keep/me").await, b"kept");
    }
}

/// What not every tree can do: a batch whose steps have the name, and a snapshot that brings it back.
async fn in_steps_and_snapshots(bench: &Bench, name: &str, id: &str) {
    let (one, other) = (format!("{name}/one {name}"), format!("{name}/other {name}"));
    let steps = json!([
        { "operation": "create_directory", "path": format!("{name}/made/{name}") },
        { "operation": "write", "path": one, "content": name },
        { "operation": "append", "path": one, "content": "!" },
        { "operation": "copy", "path": one, "to": other },
        { "operation": "move", "path": one, "to": format!("{name}/made/{name}/moved") },
        { "operation": "delete", "path": format!("{name}/made"), "recursive": true },
    ]);
    let told = bench.ok("batch", json!({ "steps": steps })).await;
    assert_eq!(told["steps"][3]["path"], format!("/{other}"));
    bench.ok("snapshot", json!({ "id": id, "message": name })).await;
    bench.ok("delete", json!({ "path": other })).await;
    let changes = bench.ok("diff", json!({ "from": id })).await;
    assert_eq!(changes["changes"][0]["path"], format!("/{other}"), "{name:?}");
    bench.ok("restore", json!({ "id": id, "path": other })).await;
    let read = bench.ok("read_file", json!({ "path": other })).await;
    assert_eq!(read["content"], format!("{name}!"));
}

#[tokio::test]
async fn a_name_that_is_no_text_can_be_used_as_it_is_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::host();
    let dir = bench.dir.as_ref().unwrap().path();
    #[expect(clippy::disallowed_methods, reason = "somebody beside us writes")]
    std::fs::write(dir.join(OsStr::from_bytes(b"odd\xff\xfename")), "x").unwrap();
    let data = bench.ok("list_directory", json!({ "path": "/" })).await;
    let shown = data["entries"][0]["path"].clone();
    assert_eq!(bench.ok("read_file", json!({ "path": shown })).await["content"], "x");
    bench.ok("delete", json!({ "path": shown })).await;
    assert_eq!(names(&bench.ok("list_directory", json!({})).await), [""; 0]);
}
