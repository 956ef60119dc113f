//! Whatever goes wrong under `/v1/tools` is told as a tool's result.

use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use server::{Access, Options, PerKey};

use super::{BOX, call, failed, with_box};
use crate::http::{Server, ask};

#[tokio::test]
async fn an_unknown_tool_is_404_with_names_that_are_alike() {
    let server = Server::start().await;
    for (wrong, right) in [("read_fil", "read_file"), ("sandbox_exists", "exists"), ("LS", "")] {
        for answer in [
            call(&server, wrong, "", json!({})).await,
            server.get(&format!("/v1/tools/{wrong}")).await,
        ] {
            let refused = failed(&answer, 404, "tool_not_found");
            assert!(refused["metadata"]["hint"].as_str().unwrap().contains(right), "{refused}");
            assert_eq!(refused["metadata"]["tool"], wrong);
        }
    }
}

#[tokio::test]
async fn a_body_that_is_no_object_is_400() {
    let server = Server::start().await;
    for wrong in [
        "{",
        "[]",
        "[\"f\"]",
        "null",
        "7",
        "\"path\"",
        "{}{}",
        "{\"path\": \"a\", \"path\": \"b\"}",
        "\u{0}",
    ] {
        let answer = server.post_json("/v1/tools/read_file", wrong).await;
        let refused = failed(&answer, 400, "invalid_argument");
        assert!(refused["error"].as_str().unwrap().contains("one JSON object"), "{refused}");
    }
    for type_of in ["text/plain", "application/x-www-form-urlencoded"] {
        let ask = ask("POST", "/v1/tools/read_file").header("content-type", type_of);
        failed(&server.send(ask.body("{}")).await, 415, "invalid_argument");
    }
    let encoded = ask("POST", "/v1/tools/read_file")
        .header("content-type", "application/json")
        .header("content-encoding", "gzip");
    failed(&server.send(encoded.body("{}")).await, 415, "unsupported");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_400_and_named() {
    let server = Server::start().await;
    for (arguments, named) in [
        (json!({}), "path"),
        (json!({"path": 7}), "path"),
        (json!({"path": "f", "pth": "f"}), "pth"),
        (json!({"path": "f", "offset": -1}), "offset"),
        (json!({"path": "f", "encoding": "utf-7"}), "utf-7"),
        (json!({"path": "f", "encoding": "latin9000"}), "latin9000"),
    ] {
        let refused =
            failed(&call(&server, "read_file", "", arguments).await, 400, "invalid_argument");
        assert!(refused["error"].as_str().unwrap().contains(named), "{refused}");
    }
    for wrong in ["", "a\u{0}b", &"n".repeat(256), &"d/".repeat(3000)] {
        let answer = call(&server, "read_file", "", json!({"path": wrong})).await;
        failed(&answer, 400, "invalid_path");
    }
}

#[tokio::test]
async fn an_unknown_sandbox_is_404_and_two_are_400() {
    let server = with_box().await;
    for unknown in ["nope", "..", "%2e%2e", "UPPER", "", "a%2Fb", "%ff"] {
        let answer =
            call(&server, "list_directory", &format!("?sandbox={unknown}"), json!({})).await;
        let status = if unknown == "%ff" { 400 } else { 404 };
        let kind = if unknown == "%ff" { "invalid_argument" } else { "sandbox_not_found" };
        failed(&answer, status, kind);
    }
    let twice = call(&server, "list_directory", "?sandbox=box&sandbox=test", json!({})).await;
    failed(&twice, 400, "invalid_argument");
}

#[tokio::test]
async fn a_stranger_a_wrong_method_and_a_wrong_address_are_told_so_alike() {
    let server = Server::with(Options::new(Access::Token("the-token".into()))).await;
    for target in ["/v1/tools", "/v1/tools/read_file"] {
        let answer = server.get(target).await;
        failed(&answer, 401, "token_invalid");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    failed(&call(&server, "read_file", "", json!({"path": "f"})).await, 401, "token_invalid");
    let server = Server::start().await;
    for (method, target) in [
        ("DELETE", "/v1/tools/read_file"),
        ("POST", "/v1/tools"),
        ("PUT", "/v1/tools/x"),
        ("DELETE", "/v1/tools?sandbox=none"),
    ] {
        let answer = server.send(ask(method, target)).await;
        failed(&answer, 405, "method_not_allowed");
        assert!(answer.header("allow").unwrap().contains("GET"));
    }
    for target in ["/v1/tools/read_file/more", "/v1/tools/"] {
        assert_eq!(server.get(target).await.json()["success"], false, "{target}");
    }
}

#[tokio::test]
async fn whoever_calls_too_fast_is_429_and_may_come_back() {
    let mut options = Options::new(Access::Open);
    options.per_key = PerKey { requests: NonZero::new(1), transfers: None };
    let server = Server::with(options).await;
    let answer = loop {
        let answer = call(&server, "list_directory", "", json!({})).await;
        if answer.status != 200 {
            break answer;
        }
    };
    let refused = failed(&answer, 429, "too_many_requests");
    assert_eq!(refused["metadata"]["retryable"], true);
    assert!(answer.header("retry-after").is_some());
}

#[tokio::test]
async fn each_kind_of_failure_has_the_status_that_it_has_elsewhere() {
    let server = with_box().await;
    let write = json!({"path": "f", "content": "x"});
    super::done(&call(&server, "write_file", BOX, write).await);
    let cases = [
        ("read_file", json!({"path": "gone"}), 404, "not_found"),
        ("read_file", json!({"path": "."}), 400, "is_a_directory"),
        ("write_file", json!({"path": ".", "content": ""}), 409, "is_a_directory"),
        ("write_file", json!({"path": "f/g", "content": ""}), 409, "not_a_directory"),
        ("write_file", json!({"path": "f", "content": "", "force": false}), 409, "already_exists"),
        (
            "write_file",
            json!({"path": "f", "content": "", "ifVersion": "other"}),
            412,
            "precondition_failed",
        ),
        ("list_directory", json!({"path": "f"}), 400, "not_a_directory"),
        ("delete", json!({"path": "gone"}), 404, "not_found"),
        ("read_file", json!({"path": "../f"}), 403, "outside_sandbox"),
        ("read_file", json!({"path": "f", "offset": 2}), 416, "range_not_satisfiable"),
        ("restore", json!({"id": "none"}), 404, "not_found"),
    ];
    for (tool, arguments, status, kind) in cases {
        failed(&call(&server, tool, BOX, arguments).await, status, kind);
    }
    let full = json!({"id": "small", "limits": {"total_size": 10, "nodes": 3, "file_size": 8}});
    server.post_json("/v1/sandboxes", &full.to_string()).await;
    let small = |arguments: Value| call(&server, "write_file", "?sandbox=small", arguments);
    failed(&small(json!({"path": "f", "content": "123456789"})).await, 413, "file_too_large");
    super::done(&small(json!({"path": "f", "content": "12345678"})).await);
    failed(&small(json!({"path": "g", "content": "12345678"})).await, 507, "storage_full");
    failed(&small(json!({"path": "a/b/c", "content": ""})).await, 507, "too_many_nodes");
    let unable =
        call(&server, "batch", "", json!({"steps": [{"operation": "delete", "path": "x"}]})).await;
    failed(&unable, 409, "unsupported");
}

#[tokio::test]
async fn what_the_machine_says_is_not_told() {
    let server = Server::start().await;
    server.put("locked/f", "x");
    server.put("f", "x");
    std::os::unix::fs::symlink("/etc/passwd", server.host("out")).unwrap();
    std::os::unix::fs::symlink("loop", server.host("loop")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        server.host("pipe"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    std::fs::set_permissions(server.host("locked"), PermissionsExt::from_mode(0o000)).unwrap();
    let mut told = String::new();
    for path in ["gone", "f/g", "out", "loop", "pipe", "locked/f", "../x"] {
        for (tool, more) in [
            ("read_file", json!({})),
            ("write_file", json!({"content": "y"})),
            ("list_directory", json!({})),
        ] {
            let mut arguments = more;
            arguments["path"] = json!(path);
            let answer = call(&server, tool, "", arguments).await;
            if answer.status != 200 {
                assert!((400..500).contains(&answer.status), "{tool} {path}: {}", answer.text());
                // Whoever asks sees the directory's own path: that is where his sandbox lies.
                told += &answer.text().replace(server.shown("").trim_end_matches('/'), "");
            }
        }
    }
    std::fs::set_permissions(server.host("locked"), PermissionsExt::from_mode(0o700)).unwrap();
    for leak in [
        "os error",
        "No such",
        "Permission denied (",
        "ENOENT",
        "EACCES",
        "errno",
        "/etc/passwd",
        "openat",
        "/tmp",
        ".rs",
    ] {
        assert!(!told.contains(leak), "{leak}: {told}");
    }
}

/// A directory in which nobody may change anything, root included, until this is dropped.
pub(super) struct Locked(std::fs::File);

impl Locked {
    pub(super) fn new(server: &Server, name: &str) -> Self {
        let dir = std::fs::File::open(server.host(name)).unwrap();
        if rustix::process::geteuid().is_root() {
            rustix::fs::ioctl_setflags(&dir, rustix::fs::IFlags::IMMUTABLE).unwrap();
        } else {
            dir.set_permissions(PermissionsExt::from_mode(0o500)).unwrap();
        }
        Self(dir)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if rustix::process::geteuid().is_root() {
            rustix::fs::ioctl_setflags(&self.0, rustix::fs::IFlags::empty()).unwrap();
        } else {
            self.0.set_permissions(PermissionsExt::from_mode(0o700)).unwrap();
        }
    }
}

#[tokio::test]
async fn a_permission_that_is_missing_is_told_and_leaves_everything_as_it_was() {
    let server = Server::start().await;
    server.put("locked/f", "old");
    let locked = Locked::new(&server, "locked");
    for (tool, arguments) in [
        ("write_file", json!({"path": "locked/g", "content": "x"})),
        ("write_file", json!({"path": "locked/f", "content": "x"})),
        ("create_directory", json!({"path": "locked/d"})),
        ("delete", json!({"path": "locked/f"})),
        ("move", json!({"from": "locked/f", "to": "g"})),
    ] {
        let refused = failed(&call(&server, tool, "", arguments).await, 403, "permission_denied");
        assert!(!refused.to_string().contains("os error"), "{refused}");
    }
    drop(locked);
    assert_eq!((server.content("locked/f"), server.names()), ("old".into(), vec!["locked".into()]));
}
