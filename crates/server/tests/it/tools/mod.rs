//! `/v1/tools`: file operations as tools, over HTTP.

pub(crate) mod departures;
mod every_tool;
mod failures;
mod formats;
mod keys;
mod reference_defects;
mod security;
mod settings;
mod timeouts;
mod tricks;

use serde_json::{Value, json};

use crate::http::{Answer, Ask, Server, ask};

/// A sandbox whose tree is kept in memory, beside the served directory.
const BOX: &str = "?sandbox=box";

/// A server with a sandbox that can do everything.
async fn with_box() -> Server {
    let server = Server::start().await;
    let made = server.post_json("/v1/sandboxes", r#"{"id": "box"}"#).await;
    assert_eq!(made.status, 201, "{}", made.text());
    server
}

fn request(tool: &str, query: &str, arguments: &Value) -> Ask {
    ask("POST", &format!("/v1/tools/{tool}{query}"))
        .header("content-type", "application/json")
        .body(arguments.to_string())
}

/// Calls a tool in the sandbox that a query names, whatever comes of it.
async fn call(server: &Server, tool: &str, query: &str, arguments: Value) -> Answer {
    server.send(request(tool, query, &arguments)).await
}

/// Calls a tool that does it; gives its data.
#[track_caller]
fn done(answer: &Answer) -> Value {
    let result = answer.json();
    assert_eq!(answer.status, 200, "{result}");
    assert_eq!((&result["success"], &result["error"]), (&json!(true), &Value::Null), "{result}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    result["data"].clone()
}

/// That a call failed, with everything that a failure has; gives the whole result.
#[track_caller]
fn failed(answer: &Answer, status: u16, kind: &str) -> Value {
    let result = answer.json();
    let metadata = &result["metadata"];
    assert_eq!((answer.status, metadata["kind"].as_str()), (status, Some(kind)), "{result}");
    assert_eq!((&result["success"], &result["data"]), (&json!(false), &Value::Null), "{result}");
    let (error, hint) = (result["error"].as_str().unwrap(), metadata["hint"].as_str().unwrap());
    assert!(error.ends_with(&format!("({hint})")), "{result}");
    assert!(metadata["tool"].is_string() && metadata["durationMs"].is_number(), "{result}");
    assert!(metadata["retryable"].is_boolean(), "{result}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    result
}

/// What a tool of the served directory did.
async fn does(server: &Server, tool: &str, arguments: Value) -> Value {
    done(&call(server, tool, "", arguments).await)
}
