//! The tools as an operator sets them up.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::raw_http::{Connection, JSON};
use crate::server_process::{ServerProcess, binary};
use crate::site::Server;

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

/// What the tools leave alone where the root is that of a whole system.
const SYSTEM: [&str; 5] =
    ["/etc/passwd", "/proc/self/environ", "/usr/bin/env", "/dev/null", "/home/../etc/passwd"];

/// A server of the whole machine, whose user's home is at this place.
fn whole_machine(home: &Path, flags: &[&str]) -> Machine {
    let mut command = Command::new(binary());
    command.args(["server", "--token", "tok", "--host", "127.0.0.1", "--port", "0", "--json"]);
    let state = tempfile::tempdir().unwrap();
    command.args(flags).env("HOME", home).env("XDG_STATE_HOME", state.path());
    let server = Server::start(command);
    let address = server.url().trim_start_matches("http://").parse().unwrap();
    Machine { connection: Connection::open(address, "tok"), _server: server, _state: state }
}

struct Machine {
    connection: Connection,
    _server: Server,
    _state: TempDir,
}

impl Machine {
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let target = format!("/v1/tools/{tool}");
        let body = arguments.to_string();
        let answer = self.connection.ask("POST", &target, &JSON, body.as_bytes());
        serde_json::from_slice(&answer.body).unwrap()
    }

    fn kind(&mut self, tool: &str, path: &str) -> Value {
        self.call(tool, &json!({"path": path}))["metadata"]["kind"].clone()
    }
}

#[test]
fn the_tools_of_a_whole_machine_leave_the_system_alone() {
    let home = tempfile::tempdir().unwrap();
    let mut machine = whole_machine(home.path(), &[]);
    for path in SYSTEM {
        assert_eq!(machine.kind("read_file", path), "outside_sandbox", "{path}");
    }
    assert_eq!(machine.kind("file_info", "/tmp"), Value::Null);
}

#[test]
fn a_served_root_of_the_machine_leaves_the_system_alone_too() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "x").unwrap();
    let server =
        ServerProcess::start(Path::new("/"), &["--snapshots", "memory:", "--cross-mounts"]);
    for path in SYSTEM {
        let (status, refused) = call(&server, "read_file", &json!({"path": path}));
        assert_eq!((status, &refused["metadata"]["kind"]), (403, &json!("outside_sandbox")));
    }
    let (status, read) = call(&server, "read_file", &json!({"path": dir.path().join("f")}));
    assert_eq!((status, &read["data"]["content"]), (200, &json!("x")));
}

#[test]
fn what_the_flags_say_holds_for_the_tools_of_a_whole_machine() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("open/secret")).unwrap();
    fs::write(home.path().join("open/f"), "0123456789").unwrap();
    fs::write(home.path().join("beside"), "x").unwrap();
    let (open, secret) = (home.path().join("open"), home.path().join("open/secret"));
    let mut machine = whole_machine(
        home.path(),
        &[
            &format!("--tools-allowed-path={}", open.display()),
            &format!("--tools-blocked-path={}", secret.display()),
            "--tools-max-file-size=9",
        ],
    );
    assert_eq!(machine.kind("read_file", "open/f"), "file_too_large");
    assert_eq!(machine.kind("file_info", "open/f"), Value::Null);
    assert_eq!(machine.kind("file_info", "open/secret"), "outside_sandbox");
    assert_eq!(machine.kind("read_file", "beside"), "outside_sandbox");
}

#[test]
fn where_the_home_is_blocked_relative_paths_begin_at_the_root() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("f"), "x").unwrap();
    let relative = place.path().strip_prefix("/").unwrap().join("f");
    // As root has it: a home among the directories of the system.
    let mut machine = whole_machine(Path::new("/usr"), &[]);
    let listed = machine.call("list_directory", &json!({}));
    assert_eq!((&listed["success"], &listed["data"]["path"]), (&json!(true), &json!("/")));
    let read = machine.call("read_file", &json!({"path": relative}));
    assert_eq!(read["data"]["content"], "x", "{read}");
    // And one that the operator blocked.
    let blocked = format!("--tools-blocked-path={}", place.path().display());
    let mut machine = whole_machine(place.path(), &[&blocked]);
    assert_eq!(machine.call("list_directory", &json!({}))["data"]["path"], "/");
    assert_eq!(machine.kind("read_file", relative.to_str().unwrap()), "outside_sandbox");
}
