//! Sessions by method.

use engine::{DotDot, SandboxPath};
use serde_json::{Value, json};
use server::{Access, Options};

use super::client::Client;
use crate::http::{Server, ask};

fn ours(fields: &Value) -> Value {
    json!({"sandboxagent.dev": fields})
}

#[tokio::test]
async fn a_session_gets_the_id_that_it_wants() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let made = client.session("my-session").await;
    assert_eq!(made, json!({"availableModes": [], "configOptions": [], "sessionId": "my-session"}));
    let meta = ours(&json!({"requestedSessionId": "my-session"}));
    let taken = client.fail("session/new", json!({"_meta": meta})).await;
    assert_eq!(
        (&taken["data"]["status"], &taken["data"]["kind"]),
        (&json!(409), &json!("session_exists"))
    );
    for wrong in ["", "a\u{7}", &"x".repeat(300)] {
        let meta = ours(&json!({"requestedSessionId": wrong}));
        assert_eq!(client.fail("session/new", json!({"_meta": meta})).await["data"]["status"], 400);
    }
}

#[tokio::test]
async fn a_session_that_wants_no_id_gets_one_with_its_agent_in_it() {
    let server = Server::start().await;
    let client = Client::stranger(&server).connected("claude").await;
    let first = client.call("session/new", json!({})).await["sessionId"].clone();
    let other = client.call("session/new", json!({})).await["sessionId"].clone();
    assert_ne!(first, other);
    for id in [first, other] {
        assert!(id.as_str().unwrap().starts_with("claude-session-"), "{id}");
    }
}

#[tokio::test]
async fn relative_paths_begin_at_the_directory_of_the_session_or_at_the_servers() {
    let mut options = Options::new(Access::Open);
    options.working_directory = SandboxPath::parse("work", DotDot::Refuse).unwrap();
    let server = Server::with(options).await;
    let client = Client::connect(&server).await;
    client.session("usual").await;
    client.files("mkdir", json!({"path": "./a", "sessionId": "usual"})).await;
    assert!(server.has("work/a"));
    let cwd = server.shown("else/where");
    client
        .call(
            "session/new",
            json!({"cwd": cwd, "_meta": ours(&json!({"requestedSessionId": "own"}))}),
        )
        .await;
    client.files("mkdir", json!({"path": "./b", "session_id": "own"})).await;
    assert!(server.has("else/where/b"));
    client.files("mkdir", json!({"path": "c"})).await;
    assert!(server.has("c"));
    let both = json!({"path": "d", "session_id": "own", "sessionId": "own"});
    client.files("mkdir", both).await;
    assert!(server.has("else/where/d"));
    let refused = client.fails("mkdir", json!({"path": "../e", "sessionId": "own"})).await;
    assert_eq!(refused["kind"], "invalid_path");
    // `/` is everything that there is.
    client.call("session/load", json!({"sessionId": "all", "cwd": "/"})).await;
    client.files("mkdir", json!({"path": "f", "sessionId": "all"})).await;
    assert!(server.has("f"));
}

#[tokio::test]
async fn a_directory_must_be_absolute_and_inside() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let told =
        async |cwd: Value| client.fail("session/new", json!({"cwd": cwd})).await["data"].clone();
    let relative = told(json!("work")).await;
    assert_eq!(relative["detail"], "invalid request: params.cwd must be an absolute path");
    assert_eq!(told(json!("/etc")).await["kind"], "outside_sandbox");
    let climbing = format!("{}/../..", server.shown("a"));
    assert_eq!(told(json!(climbing)).await["kind"], "outside_sandbox");
    assert_eq!(told(json!(7)).await["status"], 400);
}

#[tokio::test]
async fn a_session_of_v1_is_the_same_and_the_other_way_round() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    server.send(ask("POST", "/v1/sessions/s1")).await.is_json(r#"{"healthy":true}"#);
    client.files("mkdir", json!({"path": "a", "sessionId": "s1"})).await;
    client.session("s2").await;
    assert_eq!(server.get("/v1/fs/stat?path=a&sessionId=s2").await.status, 200);
    server.send(ask("POST", "/v1/sessions/s2")).await.is_kind(409, "session_exists");
}

#[tokio::test]
async fn loading_a_session_that_is_not_there_opens_it_by_that_id() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for (method, id) in [("session/load", "one"), ("session/resume", "two")] {
        let cwd = server.shown(id);
        let loaded =
            client.call(method, json!({"sessionId": id, "cwd": cwd, "mcpServers": []})).await;
        assert_eq!(loaded["sessionId"], id);
        client.files("mkdir", json!({"path": "in", "sessionId": id})).await;
        assert!(server.has(&format!("{id}/in")));
    }
    // One that is there goes on where it was, or where it is told to.
    client.call("session/load", json!({"sessionId": "one"})).await;
    let info = client.call("_sandboxagent/session/get", json!({"sessionId": "one"})).await;
    assert_eq!(info["directory"], server.shown("one"));
    client.call("session/load", json!({"sessionId": "one", "cwd": server.shown("two")})).await;
    let info = client.call("_sandboxagent/session/get", json!({"sessionId": "one"})).await;
    assert_eq!(info["directory"], server.shown("two"));
}

#[tokio::test]
async fn a_fork_begins_as_its_origin_is() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let meta = ours(&json!({"requestedSessionId": "one", "title": "first"}));
    client.call("session/new", json!({"cwd": server.shown("w"), "_meta": meta})).await;
    let forked = client.call("session/fork", json!({"sessionId": "one"})).await;
    assert_ne!(forked["sessionId"], "one");
    let info =
        client.call("_sandboxagent/session/get", json!({"sessionId": forked["sessionId"]})).await;
    assert_eq!((&info["title"], &info["directory"]), (&json!("first"), &json!(server.shown("w"))));
    let missing = client.fail("session/fork", json!({"sessionId": "none"})).await;
    assert_eq!(missing["data"]["status"], 404);
}

#[tokio::test]
async fn a_session_is_told_with_what_was_noted() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let meta =
        ours(&json!({"requestedSessionId": "s", "title": "a title", "model": "m", "ended": true}));
    client.call("session/new", json!({"_meta": meta})).await;
    let info = client.call("_sandboxagent/session/get", json!({"sessionId": "s"})).await;
    let created = info["createdAt"].as_i64().unwrap();
    assert!(created > 1_700_000_000_000 && info["updatedAt"].as_i64().unwrap() >= created);
    let expected = json!({
        "agent": "mock", "agentMode": "build", "createdAt": created, "directory": server.shown("").trim_end_matches('/'),
        "ended": false, "eventCount": 0, "model": "m", "permissionMode": "default",
        "sessionId": "s", "title": "a title", "updatedAt": info["updatedAt"],
    });
    assert_eq!(info, expected);
    let changes = json!({"title": "another", "model": null, "more": {"a": [1]}});
    let set = client
        .call("_sandboxagent/session/set_metadata", json!({"sessionId": "s", "metadata": changes}))
        .await;
    assert_eq!(set, json!({}));
    let info = client.call("_sandboxagent/session/get", json!({"sessionId": "s"})).await;
    assert_eq!((&info["title"], &info["more"]), (&json!("another"), &json!({"a": [1]})));
    assert_eq!(info.get("model"), None);
}

#[tokio::test]
async fn what_is_noted_is_bounded_and_the_agent_stays() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let set = async |metadata: Value| {
        let params = json!({"sessionId": "s", "metadata": metadata});
        client.fail("_sandboxagent/session/set_metadata", params).await["data"].clone()
    };
    assert_eq!(set(json!({"title": "x".repeat(5000)})).await["kind"], "limit_exceeded");
    assert_eq!(set(json!({"agent": "claude"})).await["status"], 400);
    assert_eq!(set(json!([1])).await["status"], 400);
    assert_eq!(set(Value::Null).await["status"], 400);
    let meta = ours(&json!({"agent": "zzz"}));
    let error = client.fail("session/new", json!({"_meta": meta})).await;
    assert_eq!(error["data"]["agent"], "zzz");
    let servers = json!([{"name": "m", "command": "c"}]);
    let error = client.fail("session/new", json!({"mcpServers": servers})).await;
    assert_eq!(error["data"]["kind"], "unsupported");
}

#[tokio::test]
async fn sessions_are_listed_in_pages() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    for number in 0..205 {
        let cwd = server.shown(if number % 2 == 0 { "even" } else { "odd" });
        let id = format!("s-{number:03}");
        client.call("session/load", json!({"sessionId": id, "cwd": cwd})).await;
        // A connection follows only so many of them.
        client.call("_sandboxagent/session/detach", json!({"sessionId": id})).await;
    }
    for method in ["session/list", "_sandboxagent/session/list"] {
        let first = client.call(method, json!({})).await;
        let rest = client.call(method, json!({"cursor": first["nextCursor"]})).await;
        let ids: Vec<String> = [&first, &rest]
            .iter()
            .flat_map(|page| page["sessions"].as_array().unwrap())
            .map(|session| session["sessionId"].as_str().unwrap().to_owned())
            .collect();
        let expected: Vec<String> = (0..205).map(|number| format!("s-{number:03}")).collect();
        assert_eq!(ids, expected, "{method}");
        assert_eq!(
            (first["sessions"].as_array().unwrap().len(), &rest["nextCursor"]),
            (200, &Value::Null)
        );
    }
    let odd = client.call("session/list", json!({"cwd": server.shown("odd")})).await;
    assert_eq!(odd["sessions"].as_array().unwrap().len(), 102);
    let one = &odd["sessions"][0];
    assert_eq!((&one["cwd"], &one["sessionId"]), (&json!(server.shown("odd")), &json!("s-001")));
    assert_eq!(one["_meta"]["sandboxagent.dev"]["agent"], "mock");
    assert!(one["updatedAt"].as_str().unwrap().ends_with("+00:00"));
    let wrong = client.fail("session/list", json!({"cursor": "!"})).await;
    assert_eq!(wrong["data"]["status"], 400);
}

#[tokio::test]
async fn a_session_that_was_terminated_is_told_to_its_followers_and_files_still_work() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    client.session("s").await;
    let mut listener = client.listen(None).await;
    let ended = client.call("_sandboxagent/session/terminate", json!({"sessionId": "s"})).await;
    let expected = json!({"alreadyEnded": false, "reason": "terminated", "terminated": true, "terminatedBy": "daemon"});
    assert_eq!(ended, expected);
    let event = listener.next().await.unwrap();
    assert_eq!(event.id, 1);
    let data = json!({"reason": "terminated", "terminated_by": "daemon"});
    let params = json!({"data": data, "session_id": "s"});
    assert_eq!(
        event.data,
        json!({"jsonrpc": "2.0", "method": "_sandboxagent/session/ended", "params": params})
    );
    let again = client.call("_sandboxagent/session/terminate", json!({"sessionId": "s"})).await;
    assert_eq!((&again["alreadyEnded"], &again["terminated"]), (&json!(true), &json!(false)));
    client.files("mkdir", json!({"path": "d", "sessionId": "s"})).await;
    let info = client.call("_sandboxagent/session/get", json!({"sessionId": "s"})).await;
    assert_eq!((&info["ended"], &info["eventCount"]), (&json!(true), &json!(1)));
    assert_eq!(info["terminationInfo"], json!({"reason": "terminated", "terminatedBy": "daemon"}));
    let prompt = client.fail("session/prompt", json!({"sessionId": "s", "prompt": []})).await;
    assert_eq!(prompt["data"]["kind"], "session_ended");
    client.call("session/resume", json!({"sessionId": "s"})).await;
    let info = client.call("_sandboxagent/session/get", json!({"sessionId": "s"})).await;
    assert_eq!(info["ended"], false);
}

#[tokio::test]
async fn whoever_is_detached_is_told_no_more() {
    let server = Server::start().await;
    let (one, other) = (Client::connect(&server).await, Client::connect(&server).await);
    one.session("s").await;
    other.call("session/load", json!({"sessionId": "s"})).await;
    let mut listener = other.listen(None).await;
    assert_eq!(
        one.call("_sandboxagent/session/detach", json!({"sessionId": "s"})).await,
        json!({})
    );
    other.call("_sandboxagent/session/terminate", json!({"sessionId": "s"})).await;
    assert_eq!(listener.next().await.unwrap().data["params"]["session_id"], "s");
    let closed = one.listen(None).await;
    server.send(one.ask("DELETE", "/v2/rpc")).await;
    let mut closed = closed;
    assert_eq!(closed.next().await, None);
    let unknown = other.fail("_sandboxagent/session/detach", json!({"sessionId": "none"})).await;
    assert_eq!(unknown["data"]["status"], 404);
}

#[tokio::test]
async fn every_method_that_is_about_a_session_wants_its_id() {
    let server = Server::start().await;
    let client = Client::connect(&server).await;
    let methods = [
        "session/load",
        "session/resume",
        "session/fork",
        "session/prompt",
        "session/cancel",
        "_sandboxagent/session/get",
        "_sandboxagent/session/terminate",
        "_sandboxagent/session/detach",
        "_sandboxagent/session/set_metadata",
    ];
    for method in methods {
        let error = client.fail(method, json!({})).await;
        assert_eq!(
            error["message"],
            format!("invalid request: {method} requires params.sessionId")
        );
    }
}
