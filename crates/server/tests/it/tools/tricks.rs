//! Paths that try to lead out, in every spelling, through every argument of every tool that is one.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::request;
use crate::http::{Ask, Server};
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_path_leads_out_through_any_tool() {
    let (texts, places) = (texts(), places());
    assert!(texts.len() > 300, "{} texts", texts.len());
    assert!(places.len() >= 12, "{places:?}");
    let server = Arc::new(Server::start().await);
    let outside = plant(&server);
    let before = list(&outside);
    for (tool, fields) in &places {
        let asks = texts.iter().flat_map(|text| requests(tool, fields, text));
        let outcomes = stream::iter(asks).map(|ask| {
            let (server, shown) = (Arc::clone(&server), format!("{ask:?}"));
            async move { (server.send(ask).await, shown) }
        });
        let mut outcomes = outcomes.buffer_unordered(16);
        while let Some((answer, shown)) = outcomes.next().await {
            assert!((200..500).contains(&answer.status), "{} for {shown}", answer.status);
            let body = String::from_utf8_lossy(&answer.body);
            assert!(!body.contains(SECRET) && !body.contains("root:x:0"), "{shown} told {body}");
            assert_eq!(answer.json()["success"], answer.status == 200, "{shown}");
        }
        assert_eq!(list(&outside), before, "{tool}");
    }
    let beside = server.host("").parent().unwrap().join("secret.txt");
    assert_eq!(std::fs::read_to_string(beside).unwrap(), SECRET);
}
