//! What security asks for is written down, and the log has the story that the caller is not told.

use serde_json::{Value, json};
use server::{Access, Options};

use super::failures::Locked;
use super::{call, does, failed};
use crate::http::Server;

async fn events(server: &Server) -> Vec<Value> {
    let page = server.get("/v1/sandboxes/test/audit?limit=1000").await;
    page.json()["events"].as_array().unwrap().clone()
}

async fn guarded() -> Server {
    let path = |text| engine::SandboxPath::parse(text, engine::DotDot::Refuse).unwrap();
    let mut options = Options::new(Access::Open);
    options.tools.programs.allowed_paths = vec![path("/project")];
    options.tools.programs.blocked_paths = vec![path("/project/secret")];
    let server = Server::with(options).await;
    for name in ["project/f", "project/secret/key", "out/f"] {
        server.put(name, "x");
    }
    std::os::unix::fs::symlink("../out/f", server.host("project/link")).unwrap();
    server
}

#[tokio::test]
async fn climbing_out_is_written_down_with_what_was_spelled() {
    let server = guarded().await;
    for (tool, arguments, spelled) in [
        (
            "read_file",
            json!({"path": "../../../../../../../../etc/passwd"}),
            "../../../../../../../../etc/passwd",
        ),
        ("delete", json!({"path": "/elsewhere"}), "/elsewhere"),
        (
            "copy",
            json!({"from": "project/f", "to": "a/../../../../../../../b"}),
            "a/../../../../../../../b",
        ),
    ] {
        failed(&call(&server, tool, "", arguments).await, 403, "outside_sandbox");
        let events = events(&server).await;
        let event = events.last().unwrap();
        assert_eq!((&event["operation"], &event["outcome"]), (&json!(tool), &json!("refused")));
        assert_eq!((&event["subject"], &event["sandbox"]), (&json!(spelled), &json!("test")));
    }
    assert_eq!(events(&server).await.len(), 3);
}

#[tokio::test]
async fn what_is_blocked_or_not_allowed_is_written_down_once() {
    let server = guarded().await;
    for (path, at, reason) in [
        ("project/secret/key", "project/secret/key", "blocked"),
        ("out/f", "out/f", "not among the allowed"),
        ("project/link", "project/link", ""),
    ] {
        let before = events(&server).await.len();
        failed(
            &call(&server, "read_file", "", json!({"path": path})).await,
            403,
            "outside_sandbox",
        );
        let events = events(&server).await;
        assert_eq!(events.len(), before + 1, "{events:#?}");
        let event = events.last().unwrap();
        assert_eq!((&event["path"], &event["outcome"]), (&json!(at), &json!("refused")));
        assert!(event["reason"].as_str().unwrap().contains(reason), "{event}");
    }
}

#[tokio::test]
async fn a_change_is_one_event_and_a_look_is_none() {
    let server = Server::start().await;
    server.put("project/f", "x");
    does(&server, "read_file", json!({"path": "project/f"})).await;
    does(&server, "list_directory", json!({"path": "project"})).await;
    does(&server, "search", json!({"path": "project", "content": "x"})).await;
    assert_eq!(events(&server).await, Vec::<Value>::new());
    for (tool, arguments, operation) in [
        ("write_file", json!({"path": "project/g", "content": "x"}), "write"),
        ("append_file", json!({"path": "project/g", "content": "x"}), "write"),
        (
            "edit_file",
            json!({"path": "project/g", "edits": [{"oldText": "xx", "newText": "y"}]}),
            "edit",
        ),
        ("create_directory", json!({"path": "project/d"}), "create_dir"),
        ("copy", json!({"from": "project/g", "to": "project/h"}), "copy"),
        ("move", json!({"from": "project/g", "to": "project/d/g"}), "rename"),
        ("delete", json!({"path": "project/h"}), "remove"),
    ] {
        let before = events(&server).await.len();
        does(&server, tool, arguments).await;
        let events = events(&server).await;
        assert_eq!(events.len(), before + 1, "{tool}: {events:#?}");
        let event = events.last().unwrap();
        assert_eq!((&event["operation"], &event["outcome"]), (&json!(operation), &json!("ok")));
    }
}

#[tokio::test]
async fn a_wider_wish_is_written_down() {
    let server = guarded().await;
    let answer =
        call(&server, "read_file", "?allowedPaths=../../../../../..", json!({"path": "f"})).await;
    failed(&answer, 403, "outside_sandbox");
    let events = events(&server).await;
    let event = events.last().unwrap();
    assert_eq!(
        (&event["operation"], &event["subject"]),
        (&json!("call_tool"), &json!("read_file"))
    );
}

#[tokio::test]
async fn the_log_has_the_story_and_no_name_can_forge_it() {
    crate::logs::start();
    let server = guarded().await;
    let name = "project/x\nFORGED-BY-TOOL\r\u{1b}[31m";
    let ask = super::request("read_file", "", &json!({"path": name}))
        .header("x-request-id", "tool-forger");
    assert_eq!(server.send(ask).await.status, 404);
    let told = crate::logs::lines_with("FORGED-BY-TOOL").await;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("tool-forger") && told[0].contains("read_file"), "{told:#?}");
    assert!(!told[0].contains(char::is_control), "{told:#?}");
}

#[tokio::test]
async fn what_the_machine_said_is_in_the_log_and_not_in_the_answer() {
    crate::logs::start();
    let server = Server::start().await;
    server.put("shut/f", "x");
    let shut = Locked::new(&server, "shut");
    let ask = super::request("delete", "", &json!({"path": "shut/f"}))
        .header("x-request-id", "tool-told-nothing");
    let answer = server.send(ask).await;
    drop(shut);
    failed(&answer, 403, "permission_denied");
    assert!(!answer.text().contains("os error"), "{}", answer.text());
    assert!(!answer.text().contains("not permitted"), "{}", answer.text());
    let told = crate::logs::lines_with("tool-told-nothing").await;
    let story: Vec<_> = told.iter().filter(|line| line.contains("a tool failed")).collect();
    assert_eq!(story.len(), 1, "{told:#?}");
    for part in ["os error", "delete", "permission_denied", "/shut/f"] {
        assert!(story[0].contains(part), "{part}: {story:#?}");
    }
}
