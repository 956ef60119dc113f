//! The list of tools, as others spell it.

use serde_json::{Value, json};

use super::with_box;
use crate::http::Server;

async fn listed(server: &Server, query: &str) -> Vec<Value> {
    let answer = server.get(&format!("/v1/tools{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    answer.json()["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_tool_has_a_name_a_description_both_schemas_and_annotations() {
    let server = Server::start().await;
    let tools = listed(&server, "").await;
    assert_eq!(tools.len(), 18);
    for tool in &tools {
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(
            tool["outputSchema"]["required"],
            json!(["success", "data", "error", "metadata"])
        );
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        // Not every model's maker follows references.
        assert!(!tool.to_string().contains("$ref"), "{tool}");
    }
    assert_eq!(tools, listed(&server, "?format=json-schema").await);
}

#[tokio::test]
async fn the_specifications_seven_take_what_it_says() {
    let server = Server::start().await;
    let tools = listed(&server, "").await;
    let fields = |name: &str| -> (Vec<String>, Value) {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        (properties.keys().cloned().collect(), tool["inputSchema"]["required"].clone())
    };
    let takes = |name: &str, wanted: &[&str], required: Value| {
        let (there, needed) = fields(name);
        assert!(wanted.iter().all(|it| there.iter().any(|field| field == it)), "{name}: {there:?}");
        assert_eq!(needed, required, "{name}");
    };
    takes("read_file", &["path", "encoding"], json!(["path"]));
    takes("write_file", &["path", "content", "encoding", "force"], json!(["path", "content"]));
    takes("list_directory", &["path", "recursive"], Value::Null);
    takes("create_directory", &["path", "recursive"], json!(["path"]));
    takes("delete", &["path", "recursive", "force"], json!(["path"]));
    takes("exists", &["path"], json!(["path"]));
    takes("file_info", &["path"], json!(["path"]));
}

#[tokio::test]
async fn openai_gets_functions_with_parameters() {
    let server = Server::start().await;
    let (ours, tools) = (listed(&server, "").await, listed(&server, "?format=openai").await);
    assert_eq!(tools.len(), ours.len());
    for (tool, our) in tools.iter().zip(&ours) {
        assert_eq!(tool["type"], "function");
        assert_eq!(tool["function"]["name"], our["name"]);
        assert_eq!(tool["function"]["description"], our["description"]);
        assert_eq!(tool["function"]["parameters"], our["inputSchema"]);
    }
}

#[tokio::test]
async fn anthropic_gets_an_input_schema() {
    let server = Server::start().await;
    let (ours, tools) = (listed(&server, "").await, listed(&server, "?format=anthropic").await);
    assert_eq!(names(&tools), names(&ours));
    for (tool, our) in tools.iter().zip(&ours) {
        assert_eq!(tool["input_schema"], our["inputSchema"]);
        assert_eq!(tool.as_object().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn one_tool_is_shown_alone_in_every_format() {
    let server = Server::start().await;
    for format in ["json-schema", "openai", "anthropic"] {
        let all = listed(&server, &format!("?format={format}")).await;
        let one = server.get(&format!("/v1/tools/read_file?format={format}")).await;
        assert_eq!((one.status, &one.json()), (200, &all[0]));
    }
}

#[tokio::test]
async fn an_unknown_format_is_refused_with_those_that_there_are() {
    let server = Server::start().await;
    for target in ["/v1/tools?format=yaml", "/v1/tools/read_file?format="] {
        let refused = super::failed(&server.get(target).await, 400, "invalid_argument");
        assert!(refused["error"].as_str().unwrap().contains("`openai`"), "{refused}");
    }
}

#[tokio::test]
async fn a_sandbox_is_offered_what_its_tree_can_do() {
    let server = with_box().await;
    // The served directory keeps no snapshots here, and no host tree takes many steps as one.
    let tools = listed(&server, "?sandbox=test").await;
    let missing = ["batch", "snapshot", "list_snapshots", "restore", "diff"];
    assert_eq!(tools.len(), 18 - missing.len());
    assert!(names(&tools).iter().all(|name| !missing.contains(name)));
    assert_eq!(listed(&server, "?sandbox=box").await.len(), 18);
    super::failed(&server.get("/v1/tools?sandbox=none").await, 404, "sandbox_not_found");
}
