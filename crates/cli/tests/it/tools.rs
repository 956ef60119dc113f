//! The tools as an operator sets them up.

use std::fs;

use serde_json::{Value, json};

use crate::raw_http::JSON;
use crate::server_process::ServerProcess;

fn call(server: &ServerProcess, tool: &str, arguments: &Value) -> (u16, Value) {
    let target = format!("/v1/tools/{tool}");
    let body = arguments.to_string();
    let answer = server.connect().ask("POST", &target, &JSON, body.as_bytes());
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

#[test]
fn what_the_flags_say_holds_for_every_call() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("open/secret")).unwrap();
    fs::write(dir.path().join("open/secret/key"), "x").unwrap();
    fs::write(dir.path().join("beside"), "x").unwrap();
    fs::write(dir.path().join("open/sjis"), [0x93, 0xfa]).unwrap();
    let server = ServerProcess::start(
        dir.path(),
        &[
            "--tools-allowed-path=open",
            "--tools-blocked-path=/open/secret",
            "--tools-max-file-size=1KiB",
            "--tools-max-entries=2",
            "--tools-max-depth=1",
            "--tools-max-result-bytes=1000",
            "--tools-default-encoding=shift_jis",
            "--tools-timeout=5s",
        ],
    );
    let kind = |(_, result): (u16, Value)| result["metadata"]["kind"].clone();
    assert_eq!(kind(call(&server, "read_file", &json!({"path": "beside"}))), "outside_sandbox");
    let blocked = json!({"path": "open/secret/key"});
    assert_eq!(kind(call(&server, "read_file", &blocked)), "outside_sandbox");
    let long = json!({"path": "open/long", "content": "x".repeat(1025)});
    assert_eq!(kind(call(&server, "write_file", &long)), "file_too_large");
    let (status, read) = call(&server, "read_file", &json!({"path": "open/sjis"}));
    assert_eq!((status, &read["data"]["content"]), (200, &json!("日")));
    for name in ["a", "b", "c"] {
        call(&server, "write_file", &json!({"path": format!("open/{name}"), "content": ""}));
    }
    let (_, listed) = call(&server, "list_directory", &json!({"path": "open"}));
    assert_eq!(listed["data"]["entries"].as_array().unwrap().len(), 2);
    for wider in
        ["maxEntries=3", "maxDepth=2", "maxFileSize=1025", "maxResultBytes=1001", "timeoutMs=5001"]
    {
        let target = format!("list_directory?{wider}");
        assert_eq!(call(&server, &target, &json!({"path": "open"})).0, 400, "{wider}");
    }
}

#[test]
fn the_tools_of_a_whole_machine_leave_the_system_alone() {
    let mut command = std::process::Command::new(crate::server_process::binary());
    command.args(["server", "--token", "tok", "--host", "127.0.0.1", "--port", "0", "--json"]);
    let server = crate::site::Server::start(command);
    let address = server.url().trim_start_matches("http://").parse().unwrap();
    let mut connection = crate::raw_http::Connection::open(address, "tok");
    let mut kind = |tool: &str, path: &str| {
        let body = json!({"path": path}).to_string();
        let answer = connection.ask("POST", &format!("/v1/tools/{tool}"), &JSON, body.as_bytes());
        let result: Value = serde_json::from_slice(&answer.body).unwrap();
        result["metadata"]["kind"].as_str().map(ToOwned::to_owned)
    };
    for path in
        ["/etc/passwd", "/proc/self/environ", "/usr/bin/env", "/dev/null", "/home/../etc/passwd"]
    {
        assert_eq!(kind("read_file", path).as_deref(), Some("outside_sandbox"), "{path}");
    }
    assert_eq!(kind("file_info", "/tmp"), None);
}
