//! `/v1/sandboxes` on a real directory and on a virtual tree.

mod archives;
mod batches;
mod by_client;
mod conditions;
mod edits;
mod files;
mod links;
mod listings;
mod names;
mod registry;
mod showing;
mod snapshots;
mod watches;
mod workspace_prefix;

use serde_json::{Value, json};

use crate::http::{Answer, Ask, Server, ask};

/// Where the sandbox of a directory is that every server of these tests has.
const HOST: &str = "/v1/sandboxes/test";
/// Where a virtual one is.
const VIRTUAL: &str = "/v1/sandboxes/v";
/// Both.
const KINDS: [&str; 2] = [HOST, VIRTUAL];

/// A server with a sandbox of each kind, both empty.
async fn serving() -> Server {
    let server = Server::start().await;
    made(&server, json!({"id": "v"})).await;
    server
}

async fn made(server: &Server, sandbox: Value) -> Value {
    let answer = server.post_json("/v1/sandboxes", &sandbox.to_string()).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

async fn put(server: &Server, sandbox: &str, path: &str, content: impl Into<Vec<u8>>) -> Answer {
    let answer = server.send(ask("PUT", &format!("{sandbox}/fs/{path}")).body(content)).await;
    assert_eq!((answer.status, answer.text()), (204, ""), "{sandbox}/{path}");
    answer
}

async fn content(server: &Server, sandbox: &str, path: &str) -> String {
    let answer = server.get(&format!("{sandbox}/fs/{path}")).await;
    assert_eq!(answer.status, 200, "{sandbox}/{path}: {}", answer.text());
    answer.text().to_owned()
}

async fn delete(server: &Server, target: &str) -> u16 {
    server.send(ask("DELETE", target)).await.status
}

fn json_body(method: &'static str, target: &str, body: &Value) -> Ask {
    ask(method, target).header("content-type", "application/json").body(body.to_string())
}

/// The field of every entry of a listing.
fn fields(answer: &Answer, field: &str) -> Vec<String> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let listing = answer.json();
    let text = |entry: &Value| {
        let value = &entry[field];
        value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    listing["entries"].as_array().unwrap().iter().map(text).collect()
}

async fn names(server: &Server, target: &str) -> Vec<String> {
    fields(&server.get(target).await, "name")
}
