//! Paths that try to lead out, in every spelling, through every argument of every tool that is one.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::{BOX, call, does, done, request, with_box};
use crate::http::{Ask, Server, ask};
use crate::tricks::{SECRET, decoded, list, plant, tricks};

/// Arguments that nothing is wrong with but the path that is put into one of them.
fn usual(tool: &str) -> Value {
    match tool {
        "write_file" | "append_file" => json!({"path": "sub/f.txt", "content": "body"}),
        "edit_file" => json!({"path": "sub/f.txt", "edits": [{"oldText": "a", "newText": "b"}]}),
        "move" | "copy" => json!({"from": "sub/f.txt", "to": "sub/g.txt"}),
        "search" => json!({"content": "TOP"}),
        "restore" => json!({"id": "s1", "path": "sub"}),
        "list_directory" | "tree" => json!({"path": "."}),
        _ => json!({"path": "sub/f.txt"}),
    }
}

/// Every tool with the arguments that are paths.
fn places() -> Vec<(&'static str, Vec<String>)> {
    let paths = |schema: &serde_json::Map<String, Value>| -> Vec<String> {
        let fields = schema["properties"].as_object().unwrap().keys();
        let names = ["path", "from", "to", "after"];
        fields.filter(|field| names.contains(&field.as_str())).cloned().collect()
    };
    let tools = tools::TOOLS.iter().map(|tool| (tool.name, paths(tool.input_schema())));
    tools.filter(|(tool, fields)| !fields.is_empty() && *tool != "diff").collect()
}

/// What is tried: in JSON nothing is decoded once more, so that most of what is spelled for addresses
/// is a name like any other, of which some are enough.
fn texts() -> BTreeSet<String> {
    let tricks = tricks();
    let plain = tricks.iter().map(|trick| decoded(trick));
    plain.chain(tricks.iter().step_by(9).cloned()).collect()
}

fn requests(tool: &'static str, fields: &[String], text: &str) -> Vec<Ask> {
    let with = |field: &String| {
        let mut arguments = usual(tool);
        arguments[field] = json!(text);
        request(tool, "", &arguments)
    };
    fields.iter().map(with).collect()
}

/// Every operation of a batch with the arguments that are paths.
const STEPS: [(&str, &[&str]); 6] = [
    ("write", &["path"]),
    ("append", &["path"]),
    ("create_directory", &["path"]),
    ("delete", &["path"]),
    ("move", &["path", "to"]),
    ("copy", &["path", "to"]),
];

/// Batches of one step, with nothing wrong but the path.
fn batches(operation: &str, fields: &[&str], text: &str) -> Vec<Ask> {
    let mut usual = json!({"operation": operation, "path": "sub/f.txt"});
    match operation {
        "write" | "append" => usual["content"] = json!("body"),
        "move" | "copy" => usual["to"] = json!("sub/g.txt"),
        _ => {}
    }
    let with = |field: &&str| {
        let mut step = usual.clone();
        step[*field] = json!(text);
        request("batch", BOX, &json!({"steps": [step]}))
    };
    fields.iter().map(with).collect()
}

/// Sends what tries to lead out. Nothing of what lies outside is told, and every answer is one.
async fn try_all(server: &Arc<Server>, asks: impl Iterator<Item = Ask>) {
    let outcomes = stream::iter(asks).map(|ask| {
        let (server, shown) = (Arc::clone(server), format!("{ask:?}"));
        async move { (server.send(ask).await, shown) }
    });
    let mut outcomes = outcomes.buffer_unordered(16);
    while let Some((answer, shown)) = outcomes.next().await {
        assert!((200..500).contains(&answer.status), "{} for {shown}", answer.status);
        let body = String::from_utf8_lossy(&answer.body);
        assert!(!body.contains(SECRET) && !body.contains("root:x:0"), "{shown} told {body}");
        assert_eq!(answer.json()["success"], answer.status == 200, "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_path_leads_out_through_any_tool() {
    let (texts, places) = (texts(), places());
    assert!(texts.len() > 300, "{} texts", texts.len());
    assert!(places.len() >= 12, "{places:?}");
    let server = Arc::new(Server::keeping().await);
    let outside = plant(&server);
    let before = list(&outside);
    does(&server, "snapshot", json!({"id": "s1"})).await;
    does(&server, "restore", usual("restore")).await;
    for (tool, fields) in &places {
        try_all(&server, texts.iter().flat_map(|text| requests(tool, fields, text))).await;
        assert_eq!(list(&outside), before, "{tool}");
    }
    let beside = server.host("").parent().unwrap().join("secret.txt");
    assert_eq!(std::fs::read_to_string(beside).unwrap(), SECRET);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_path_leads_out_through_the_steps_of_a_batch() {
    let texts = texts();
    let server = Arc::new(with_box().await);
    let outside = plant(&server);
    let before = list(&outside);
    let steps = json!([{"operation": "write", "path": "sub/f.txt", "content": "fine"}]);
    done(&call(&server, "batch", BOX, json!({"steps": steps})).await);
    for (name, target) in [("out", "/etc/passwd"), ("way", "../.."), ("sub/up", "../../outside")] {
        let link = ask("PUT", &format!("/v1/sandboxes/box/fs-link/{name}"))
            .header("content-type", "application/json")
            .body(json!({"target": target}).to_string());
        assert!(server.send(link).await.status < 300, "{name}");
    }
    for (operation, fields) in STEPS {
        try_all(&server, texts.iter().flat_map(|text| batches(operation, fields, text))).await;
        assert_eq!(list(&outside), before, "{operation}");
    }
    let left = done(&call(&server, "list_directory", BOX, json!({"recursive": true})).await);
    let climbs = |entry: &Value| matches!(entry["name"].as_str(), Some("." | ".." | ""));
    assert!(!left["entries"].as_array().unwrap().iter().any(climbs), "{left}");
}
