//! Who may call what.

use serde_json::{Value, json};
use server::{Access, Options};

use super::{done, failed, request};
use crate::http::{Answer, Ask, Server, ask};

const TOKEN: &str = "the-token";

struct World(Server);

impl World {
    async fn new() -> Self {
        let world = Self(Server::with(Options::new(Access::Token(TOKEN.into()))).await);
        for id in ["mine", "other"] {
            let ask = ask("POST", "/v1/sandboxes").header("content-type", "application/json");
            let made = world.send(TOKEN, ask.body(json!({"id": id}).to_string())).await;
            assert_eq!(made.status, 201, "{}", made.text());
            for path in ["docs/f", "private/f"] {
                let write = json!({"path": path, "content": path});
                done(&world.call(TOKEN, "write_file", &format!("?sandbox={id}"), write).await);
            }
        }
        world
    }

    async fn send(&self, key: &str, ask: Ask) -> Answer {
        self.0.send(ask.header("authorization", &format!("Bearer {key}"))).await
    }

    async fn call(&self, key: &str, tool: &str, query: &str, arguments: Value) -> Answer {
        self.send(key, request(tool, query, &arguments)).await
    }

    async fn key(&self, wish: Value) -> String {
        let ask = ask("POST", "/v1/keys").header("content-type", "application/json");
        let made = self.send(TOKEN, ask.body(wish.to_string())).await;
        made.json()["key"].as_str().unwrap().to_owned()
    }

    async fn offered(&self, key: &str, query: &str) -> Vec<String> {
        let listed = self.send(key, ask("GET", &format!("/v1/tools{query}"))).await;
        let listed = listed.json();
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

const LOOKING: [&str; 8] = [
    "read_file",
    "list_directory",
    "exists",
    "file_info",
    "search",
    "tree",
    "list_snapshots",
    "diff",
];

#[tokio::test]
async fn a_viewer_is_offered_and_may_call_what_looks_and_nothing_else() {
    let world = World::new().await;
    let viewer = world.key(json!({"role": "viewer", "sandboxes": ["mine"]})).await;
    assert_eq!(world.offered(&viewer, "").await, LOOKING);
    assert_eq!(world.offered(&viewer, "?sandbox=mine").await, LOOKING);
    for tool in &tools::TOOLS {
        let answer = world.call(&viewer, tool.name, "", json!({"nonsense": 1})).await;
        // Whoever may call it is told what is wrong with the arguments.
        match tool.only_looks() {
            true => failed(&answer, 400, "invalid_argument"),
            false => failed(&answer, 403, "forbidden"),
        };
    }
    let read = world.call(&viewer, "read_file", "?sandbox=mine", json!({"path": "docs/f"})).await;
    assert_eq!(done(&read)["content"], "docs/f");
}

#[tokio::test]
async fn a_developer_and_an_owner_may_call_all_of_them() {
    let world = World::new().await;
    for role in ["developer", "owner"] {
        let key = world.key(json!({"role": role, "sandboxes": ["mine"]})).await;
        assert_eq!(world.offered(&key, "?sandbox=mine").await.len(), 18);
        let write = json!({"path": role, "content": "x"});
        done(&world.call(&key, "write_file", "", write).await);
        done(&world.call(&key, "snapshot", "", json!({})).await);
    }
}

#[tokio::test]
async fn the_sandbox_of_another_key_is_not_there() {
    let world = World::new().await;
    let key = world.key(json!({"role": "owner", "sandboxes": ["mine"]})).await;
    let there = world.call(&key, "read_file", "?sandbox=other", json!({"path": "docs/f"})).await;
    let nowhere =
        world.call(&key, "read_file", "?sandbox=nowhere", json!({"path": "docs/f"})).await;
    let (there, nowhere) =
        (failed(&there, 404, "sandbox_not_found"), failed(&nowhere, 404, "sandbox_not_found"));
    let alike = |result: &Value, id: &str| result["error"].as_str().unwrap().replace(id, "ID");
    assert_eq!(alike(&there, "other"), alike(&nowhere, "nowhere"));
    let listed = world.send(&key, ask("GET", "/v1/tools?sandbox=other")).await;
    failed(&listed, 404, "sandbox_not_found");
    // Without a name, his own is meant.
    assert_eq!(
        done(&world.call(&key, "read_file", "", json!({"path": "docs/f"})).await)["content"],
        "docs/f"
    );
}

#[tokio::test]
async fn a_key_for_a_directory_stays_in_it() {
    let world = World::new().await;
    let wish = json!({"role": "owner", "sandboxes": ["mine"], "prefix": "docs"});
    let key = world.key(wish).await;
    let call = |tool: &'static str, arguments: Value| world.call(&key, tool, "", arguments);
    // Relative paths begin there, absolute ones where they always do.
    for path in ["f", "./f", "/docs/f"] {
        assert_eq!(done(&call("read_file", json!({"path": path})).await)["content"], "docs/f");
    }
    let listed = done(&call("list_directory", json!({"recursive": true})).await);
    assert_eq!(listed["path"], "/docs");
    assert!(!listed.to_string().contains("private"));
    for path in ["../private/f", "/private/f", "/docs/../private/f"] {
        failed(&call("read_file", json!({"path": path})).await, 403, "outside_sandbox");
        failed(
            &call("write_file", json!({"path": path, "content": "x"})).await,
            403,
            "outside_sandbox",
        );
        failed(&call("move", json!({"from": "f", "to": path})).await, 403, "outside_sandbox");
        failed(&call("exists", json!({"path": path})).await, 403, "outside_sandbox");
    }
    // What is about the whole tree is not for him.
    for (tool, arguments) in [
        ("snapshot", json!({})),
        ("list_snapshots", json!({})),
        ("restore", json!({"id": "x"})),
        ("diff", json!({"from": "x"})),
    ] {
        failed(&call(tool, arguments).await, 409, "unsupported");
        assert!(!world.offered(&key, "?sandbox=mine").await.contains(&tool.to_owned()));
    }
    let steps = json!([{"operation": "write", "path": "/private/f", "content": "x"}]);
    failed(&call("batch", json!({"steps": steps})).await, 403, "outside_sandbox");
    // Nor does a wider wish help.
    let wide =
        world.call(&key, "read_file", "?allowedPaths=/", json!({"path": "/private/f"})).await;
    failed(&wide, 403, "outside_sandbox");
}

#[tokio::test]
async fn a_revoked_key_and_a_signed_address_call_nothing() {
    let world = World::new().await;
    let made = ask("POST", "/v1/keys").header("content-type", "application/json");
    let made = world.send(TOKEN, made.body(json!({"role": "owner"}).to_string())).await.json();
    let key = made["key"].as_str().unwrap();
    done(&world.call(key, "list_directory", "?sandbox=mine", json!({})).await);
    world.send(TOKEN, ask("DELETE", &format!("/v1/keys/{}", made["id"].as_str().unwrap()))).await;
    failed(
        &world.call(key, "list_directory", "?sandbox=mine", json!({})).await,
        401,
        "token_invalid",
    );
    let sign = ask("POST", "/v1/sandboxes/mine/sign").header("content-type", "application/json");
    let sign = sign.body(json!({"path": "docs", "directory": true}).to_string());
    let signed = world.send(TOKEN, sign).await.json()["signed"].as_str().unwrap().to_owned();
    let answer = world
        .0
        .send(request(
            "read_file",
            &format!("?sandbox=mine&signed={signed}"),
            &json!({"path": "docs/f"}),
        ))
        .await;
    failed(&answer, 401, "token_invalid");
}
