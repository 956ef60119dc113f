//! How much a call may do: as the server says, or less.

use std::time::Duration;

use engine::{DotDot, SandboxPath};
use serde_json::{Value, json};
use server::{Access, Options};

use super::{BOX, call, does, done, failed, with_box};
use crate::http::{Server, ask};

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text, DotDot::Refuse).unwrap()
}

async fn limited(limit: impl FnOnce(&mut tools::Settings)) -> Server {
    let mut options = Options::new(Access::Open);
    limit(&mut options.tools.programs);
    Server::with(options).await
}

#[tokio::test]
async fn the_longest_file_is_the_servers_or_shorter() {
    let server = limited(|settings| settings.max_file_size = 10).await;
    let eleven = json!({"path": "f", "content": "01234567890"});
    let refused =
        failed(&call(&server, "write_file", "", eleven.clone()).await, 413, "file_too_large");
    assert!(
        refused["error"].as_str().unwrap().contains("11 bytes, and 10 are allowed"),
        "{refused}"
    );
    assert!(!server.has("f"));
    let ten = json!({"path": "f", "content": "0123456789"});
    assert_eq!(does(&server, "write_file", ten.clone()).await["size"], 10);
    failed(
        &call(&server, "write_file", "?maxFileSize=9", ten.clone()).await,
        413,
        "file_too_large",
    );
    let wider = call(&server, "write_file", "?maxFileSize=11", eleven).await;
    let wider = failed(&wider, 400, "invalid_argument");
    assert!(
        wider["error"].as_str().unwrap().contains("`maxFileSize` can be at most 10"),
        "{wider}"
    );
    // What is there already is no file that may be read whole; a part of it is.
    server.put("long", "0123456789abcdef");
    failed(&call(&server, "read_file", "", json!({"path": "long"})).await, 413, "file_too_large");
    let part = does(&server, "read_file", json!({"path": "long", "offset": 10})).await;
    assert_eq!(part["content"], "abcdef");
    let appended = json!({"path": "long", "content": "x"});
    failed(&call(&server, "append_file", "", appended).await, 413, "file_too_large");
}

#[tokio::test]
async fn no_number_is_wider_than_the_servers_and_none_is_zero() {
    let server = Server::start().await;
    let usual = tools::Settings::for_programs();
    let settings = [
        ("maxFileSize", usual.max_file_size),
        ("maxResultBytes", usual.max_result_bytes),
        ("timeoutMs", usual.timeout.as_millis() as u64),
        ("maxDepth", usual.max_depth as u64),
        ("maxEntries", usual.max_entries as u64),
    ];
    for (name, most) in settings {
        for (value, status) in [(most, 200), (most + 1, 400), (1, 200), (0, 400)] {
            let query = format!("?{name}={value}");
            let answer = call(&server, "list_directory", &query, json!({})).await;
            // A millisecond is a wish like any other, and may be too short on a busy machine.
            let is_late = (name, value, answer.status) == ("timeoutMs", 1, 504);
            assert!(answer.status == status || is_late, "{query}: {}", answer.text());
        }
        for wrong in ["-1", "1.5", "x", "", "%31%zz", "99999999999999999999999"] {
            let answer =
                call(&server, "list_directory", &format!("?{name}={wrong}"), json!({})).await;
            failed(&answer, 400, "invalid_argument");
        }
        let twice =
            call(&server, "list_directory", &format!("?{name}=5&{name}=5"), json!({})).await;
        failed(&twice, 400, "invalid_argument");
    }
}

#[tokio::test]
async fn a_long_answer_is_cut_and_says_how_to_go_on() {
    let server = Server::start().await;
    server.put("f", "0123456789");
    let cut = call(&server, "read_file", "?maxResultBytes=4", json!({"path": "f"})).await;
    let truncated = cut.json()["metadata"]["truncated"].clone();
    assert_eq!(done(&cut)["content"], "0123");
    assert_eq!((&truncated["returned"], &truncated["total"]), (&json!(4), &json!(10)));
    let mut next = truncated["next"].clone();
    next["path"] = json!("f");
    let rest = call(&server, "read_file", "?maxResultBytes=100", next).await;
    assert_eq!(done(&rest)["content"], "456789");
    assert_eq!(rest.json()["metadata"].get("truncated"), None);
}

#[tokio::test]
async fn a_listing_has_as_many_entries_and_levels_as_it_may() {
    let server = Server::start().await;
    for name in ["a/b/c/d", "e", "f"] {
        server.put(name, "x");
    }
    let few = call(&server, "list_directory", "?maxEntries=2", json!({})).await;
    assert_eq!(done(&few)["entries"].as_array().unwrap().len(), 2);
    let cut = &few.json()["metadata"]["truncated"];
    assert_eq!((&cut["returned"], &cut["reason"]), (&json!(2), &json!("budget")), "{cut}");
    let mut next = cut["next"].clone();
    let rest = call(&server, "list_directory", "?maxEntries=2", next.take()).await;
    assert_eq!(done(&rest)["entries"][0]["name"], "f");
    let flat = call(&server, "list_directory", "?maxDepth=2", json!({"recursive": true})).await;
    let names: Vec<_> =
        done(&flat)["entries"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["a", "b", "e", "f"]);
    assert_eq!(flat.json()["metadata"]["truncated"]["reason"], "depth");
    let deeper = json!({"recursive": true, "depth": 9});
    let deeper = call(&server, "list_directory", "?maxDepth=2", deeper).await;
    assert_eq!(done(&deeper)["entries"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn the_default_encoding_is_the_servers_or_the_calls() {
    let server = limited(|settings| {
        settings.default_encoding = tools::TextEncoding::named("shift_jis").unwrap();
    })
    .await;
    does(&server, "write_file", json!({"path": "f", "content": "日本"})).await;
    assert_eq!(std::fs::read(server.host("f")).unwrap(), [0x93, 0xfa, 0x96, 0x7b]);
    let read = does(&server, "read_file", json!({"path": "f"})).await;
    assert_eq!((&read["content"], &read["encoding"]), (&json!("日本"), &json!("shift_jis")));
    let raw = call(&server, "read_file", "?defaultEncoding=base64", json!({"path": "f"})).await;
    assert_eq!(done(&raw)["content"], "k/qWew==");
    let said = call(
        &server,
        "read_file",
        "?defaultEncoding=base64",
        json!({"path": "f", "encoding": "shift_jis"}),
    )
    .await;
    assert_eq!(done(&said)["content"], "日本");
    let unknown =
        call(&server, "read_file", "?defaultEncoding=klingon", json!({"path": "f"})).await;
    failed(&unknown, 400, "invalid_argument");
}

#[tokio::test]
async fn only_what_is_allowed_is_reached() {
    let server =
        limited(|settings| settings.allowed_paths = vec![path("/in"), path("/also")]).await;
    for name in ["in/f", "also/f", "out/f"] {
        server.put(name, name);
    }
    std::os::unix::fs::symlink("../out/f", server.host("in/link")).unwrap();
    assert_eq!(does(&server, "read_file", json!({"path": "in/f"})).await["content"], "in/f");
    for wrong in ["out/f", "in/../out/f", "in/link", "inner", "."] {
        let refused = call(&server, "read_file", "", json!({"path": wrong})).await;
        let refused = failed(&refused, 403, "outside_sandbox");
        let hint = refused["metadata"]["hint"].as_str().unwrap();
        assert!(hint.contains(&server.shown("in")), "{refused}");
    }
    failed(
        &call(&server, "write_file", "", json!({"path": "in/link", "content": "x"})).await,
        403,
        "outside_sandbox",
    );
    failed(
        &call(&server, "write_file", "", json!({"path": "new", "content": "x"})).await,
        403,
        "outside_sandbox",
    );
    failed(
        &call(&server, "delete", "", json!({"path": "out", "recursive": true})).await,
        403,
        "outside_sandbox",
    );
    failed(
        &call(&server, "move", "", json!({"from": "in/f", "to": "out/g"})).await,
        403,
        "outside_sandbox",
    );
    failed(
        &call(&server, "copy", "", json!({"from": "out/f", "to": "in/g"})).await,
        403,
        "outside_sandbox",
    );
    assert_eq!(server.content("out/f"), "out/f");
    assert!(!server.has("new") && server.has("in/f"));
}

#[tokio::test]
async fn a_call_may_allow_less_and_never_more() {
    let server = limited(|settings| settings.allowed_paths = vec![path("/in")]).await;
    for name in ["in/a/f", "in/b/f", "out/f"] {
        server.put(name, name);
    }
    let read = |query: &'static str, file: &'static str| {
        call(&server, "read_file", query, json!({"path": file}))
    };
    done(&read("?allowedPaths=in/a", "in/a/f").await);
    failed(&read("?allowedPaths=in/a", "in/b/f").await, 403, "outside_sandbox");
    done(&read("?allowedPaths=in/a&allowedPaths=in/b", "in/b/f").await);
    // What the server does not allow is not allowed by asking for it, or for all.
    failed(&read("?allowedPaths=out", "out/f").await, 400, "invalid_argument");
    failed(&read("?allowedPaths=.", "out/f").await, 403, "outside_sandbox");
    done(&read("?allowedPaths=.", "in/a/f").await);
    failed(&read("?allowedPaths=", "in/a/f").await, 400, "invalid_path");
    failed(&read("?allowedPaths=../..", "in/a/f").await, 403, "outside_sandbox");
}

#[tokio::test]
async fn what_is_blocked_is_neither_reached_nor_told() {
    let server = limited(|settings| settings.blocked_paths = vec![path("/secret")]).await;
    for name in ["secret/key", "open/f", "open/more"] {
        server.put(name, "word");
    }
    std::os::unix::fs::symlink("../secret/key", server.host("open/link")).unwrap();
    for wrong in ["secret/key", "secret", "open/../secret/key", "open/link"] {
        failed(
            &call(&server, "read_file", "", json!({"path": wrong})).await,
            403,
            "outside_sandbox",
        );
    }
    let listed = does(&server, "list_directory", json!({"recursive": true})).await.to_string();
    assert!(listed.contains("open") && !listed.contains("secret"), "{listed}");
    let found = does(&server, "search", json!({"content": "word"})).await.to_string();
    assert!(found.contains("open/f") && !found.contains("secret"), "{found}");
    assert!(!does(&server, "tree", json!({})).await.to_string().contains("secret"));
    // A call blocks more, and cannot unblock.
    let more = call(&server, "read_file", "?blockedPaths=open/f", json!({"path": "open/f"})).await;
    failed(&more, 403, "outside_sandbox");
    done(&call(&server, "read_file", "?blockedPaths=open/f", json!({"path": "open/more"})).await);
    failed(
        &call(&server, "read_file", "?blockedPaths=open", json!({"path": "secret/key"})).await,
        403,
        "outside_sandbox",
    );
    // What holds something that is blocked is not taken away around it.
    failed(
        &call(&server, "delete", "", json!({"path": ".", "recursive": true})).await,
        403,
        "outside_sandbox",
    );
    assert!(server.has("secret/key"));
}

#[tokio::test]
async fn a_whole_system_has_directories_that_are_nothing_for_tools() {
    let server = Server::of_a_system().await;
    for name in ["etc/passwd", "proc/1/environ", "usr/bin/sh", "work/f", "var/run/s", "var/log/l"] {
        server.put(name, "x");
    }
    for blocked in ["etc/passwd", "proc/1/environ", "usr/bin/sh", "var/run/s"] {
        failed(
            &call(&server, "read_file", "", json!({"path": blocked})).await,
            403,
            "outside_sandbox",
        );
        failed(
            &call(&server, "delete", "", json!({"path": blocked})).await,
            403,
            "outside_sandbox",
        );
    }
    for open in ["work/f", "var/log/l"] {
        does(&server, "read_file", json!({"path": open})).await;
    }
    // Another sandbox of the same server is no system.
    server.post_json("/v1/sandboxes", r#"{"id": "box"}"#).await;
    let inner = json!({"path": "etc/hosts", "content": "x"});
    done(&call(&server, "write_file", BOX, inner).await);
}

#[tokio::test]
async fn a_call_that_only_looks_changes_nothing() {
    let server = with_box().await;
    let write = json!({"path": "f", "content": "x"});
    let refused = call(&server, "write_file", "?readOnly=true", write.clone()).await;
    let refused = failed(&refused, 403, "forbidden");
    assert!(refused["error"].as_str().unwrap().contains("only be looked at"), "{refused}");
    assert!(!server.has("f"));
    done(&call(&server, "write_file", "?readOnly=false", write).await);
    done(&call(&server, "read_file", "?readOnly=true", json!({"path": "f"})).await);
    failed(
        &call(&server, "read_file", "?readOnly=maybe", json!({"path": "f"})).await,
        400,
        "invalid_argument",
    );
}

#[tokio::test]
async fn a_server_that_only_looks_cannot_be_asked_to_change() {
    let server = limited(|settings| settings.read_only = true).await;
    let write = json!({"path": "f", "content": "x"});
    failed(&call(&server, "write_file", "?readOnly=false", write).await, 403, "forbidden");
    assert!(!server.has("f"));
    let offered = server.get("/v1/tools?sandbox=test").await.json();
    let hints = offered["tools"].as_array().unwrap().iter();
    assert!(
        hints.map(|tool| &tool["annotations"]["readOnlyHint"]).all(|it| *it == Value::Bool(true))
    );
}

#[tokio::test]
async fn a_body_is_as_long_as_a_file_may_be_and_some_more() {
    let server = limited(|settings| settings.max_file_size = 1000).await;
    let body = json!({"path": "f", "content": "x".repeat(4 << 20)}).to_string();
    let refused = ask("POST", "/v1/tools/write_file").header("content-type", "application/json");
    failed(&server.send(refused.body(body)).await, 413, "limit_exceeded");
    // Every byte escaped, it still fits.
    let escaped = json!({"path": "f", "content": "\n".repeat(1000)});
    assert_eq!(does(&server, "write_file", escaped).await["size"], 1000);
}

#[tokio::test]
async fn the_usual_time_is_thirty_seconds() {
    assert_eq!(Options::new(Access::Open).tools.programs.timeout, Duration::from_secs(30));
}
