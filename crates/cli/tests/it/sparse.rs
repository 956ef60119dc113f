//! Files that are longer than any disk: holes cost their maker nothing, and may cost us nothing.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::outside::Premises;
use crate::raw_http::{APPEND, Answer, Connection, JSON};
use crate::score::score;
use crate::server_process::ServerProcess;

/// A TiB takes the fastest disk minutes to read.
const HUGE: u64 = 1 << 40;
/// As long as a file can be.
const LONGEST: u64 = i64::MAX as u64;
const LIMIT_MIB: u64 = 48;
/// What takes longer reads the holes.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_file_of_holes_costs_neither_time_nor_memory_nor_room() {
    let premises = Premises::in_memory(&[]);
    let root = premises.root();
    for (name, len) in [("huge", HUGE), ("longest", LONGEST)] {
        let file = File::create(root.join(name)).unwrap();
        file.set_len(len).unwrap();
        file.write_all_at(b"end", len - 3).unwrap();
    }
    let staging = premises.staging();
    let flags = ["--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&root, &flags);
    let mut attempts = 0;
    for (name, len) in [("huge", HUGE), ("longest", LONGEST)] {
        attempts += looks(&server, name, len) + changes(&server, name);
        for made in ["copy", "moved"] {
            let blocks = fs::metadata(root.join(format!("{name}-{made}"))).unwrap().blocks();
            assert!(blocks * 512 < 1 << 20, "{name}-{made} takes {blocks} blocks");
        }
    }
    let snapshots = "/v1/sandboxes/main/snapshots";
    let refused = soon("snapshot", || server.connect().ask("POST", snapshots, &JSON, b"{}"));
    assert_eq!(refused.status, 413, "{}", refused.text());
    for name in ["longest-copy", "longest-moved"] {
        fs::remove_file(root.join(name)).unwrap();
    }
    soon("snapshot", || server.connect().ask("POST", snapshots, &JSON, b"{}")).succeeds();
    let peak = server.peak_memory_mib();
    score("sparse-files", &[("attempts", attempts + 2), ("hung", 0), ("peak_mib", peak)]);
    assert!(peak < LIMIT_MIB, "{peak} MiB");
    premises.becomes_clean();
}

/// Everything that looks at such a file; gives how much that was.
fn looks(server: &ServerProcess, name: &str, len: u64) -> u64 {
    let target = format!("/v1/fs/file?path={name}");
    let stat = soon("stat", || server.ask("GET", &format!("/v1/fs/stat?path={name}"), b""));
    assert_eq!(stat.succeeds().json()["size"], len);
    let last = [("Range", "bytes=-3")];
    let end = soon("the end", || server.connect().ask("GET", &target, &last, b""));
    assert_eq!((end.status, &*end.body), (206, &b"end"[..]));
    let middle = [("Range", "bytes=536870912000-536870977535")];
    let middle = soon("the middle", || server.connect().ask("GET", &target, &middle, b""));
    assert_eq!((middle.status, middle.body), (206, vec![0; 65536]));
    let beyond = [("Range", "bytes=9223372036854775807-")];
    let beyond = soon("beyond", || server.connect().ask("GET", &target, &beyond, b""));
    assert_eq!(beyond.status, 416, "{}", beyond.text());
    begin_to_take(server, &target);
    begin_to_take(server, &format!("/v1/fs/download-batch?path={name}"));
    for format in ["tar.gz", "tar.zst", "zip"] {
        begin_to_take(server, &format!("/v1/sandboxes/main/fs-archive/{name}?format={format}"));
    }
    let pattern = json!({"pattern": "end", "glob": name, "max_millis": 2000}).to_string();
    let search = "/v1/sandboxes/main/fs-search";
    let found = soon("search", || server.connect().ask("POST", search, &JSON, pattern.as_bytes()));
    assert!(found.is_success() || found.is_clear_refusal(), "{} {}", found.status, found.text());
    let read = json!({"path": name}).to_string();
    let tool = soon("tool", || {
        server.connect().ask("POST", "/v1/tools/read_file", &JSON, read.as_bytes())
    });
    assert!(tool.status < 500, "{} {}", tool.status, tool.text());
    11
}

/// Everything that changes it, or makes another one of it; gives how much that was.
fn changes(server: &ServerProcess, name: &str) -> u64 {
    let ask = |what: &str, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]| {
        let answer = soon(what, || server.connect().ask(method, target, headers, body));
        let done = answer.is_success() || answer.is_clear_refusal();
        assert!(done, "{what}: {} {}", answer.status, answer.text());
        answer
    };
    let sandbox = |call: &str| format!("/v1/sandboxes/main/fs-{call}/{name}");
    let file = format!("/v1/fs/file?path={name}");
    let copy = json!({"from": name, "to": format!("{name}-copy")}).to_string();
    ask("copy", "POST", "/v1/fs/copy", &JSON, copy.as_bytes()).succeeds();
    ask("append", "PATCH", &file, &APPEND, b"+");
    ask("patch", "PATCH", &file, &[("Content-Range", "bytes 5-6/*")], b"in");
    let edit = json!({"replacements": [{"old": "end", "new": "END"}]}).to_string();
    let edited = ask("edit", "POST", &sandbox("edit"), &JSON, edit.as_bytes());
    assert!(!edited.is_success(), "a text of a TiB was edited");
    let longer = json!({"size": u64::MAX}).to_string();
    let longer = ask("truncate", "POST", &sandbox("truncate"), &JSON, longer.as_bytes());
    assert!(longer.is_clear_refusal(), "{}", longer.text());
    let rename = json!({"from": name, "to": format!("{name}-moved")}).to_string();
    ask("move", "POST", "/v1/fs/move", &JSON, rename.as_bytes()).succeeds();
    ask("write", "PUT", &format!("/v1/fs/file?path={name}"), &[], b"small").succeeds();
    7
}

/// Asks for something endless, takes a little of it and leaves.
fn begin_to_take(server: &ServerProcess, target: &str) {
    let begin = Instant::now();
    let mut connection: Connection = server.connect();
    connection.send_head("GET", target, &[], 0).unwrap();
    let head = connection.answer_head().unwrap();
    assert!(head.status < 500, "{target}: {}", head.status);
    drop(connection);
    assert!(begin.elapsed() < SOON, "{target} began after {:?}", begin.elapsed());
}

#[track_caller]
fn soon(what: &str, ask: impl FnOnce() -> Answer) -> Answer {
    let begin = Instant::now();
    let answer = ask();
    assert!(begin.elapsed() < SOON, "{what} took {:?}", begin.elapsed());
    answer
}
