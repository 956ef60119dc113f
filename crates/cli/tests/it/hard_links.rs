//! Files that have a name outside too: whatever a client does to the one inside, the file outside
//! stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::{Value, json};

use crate::archive::archive;
use crate::outside::Premises;
use crate::raw_http::{APPEND, Answer, JSON, TAR};
use crate::score::score;
use crate::server_process::ServerProcess;

type Headers = &'static [(&'static str, &'static str)];

/// A request at the file `name`, which is one outside as well.
struct Deed {
    name: &'static str,
    method: &'static str,
    target: String,
    headers: Headers,
    body: Vec<u8>,
}

#[test]
fn a_file_that_lies_outside_too_is_never_changed() {
    let deeds = deeds();
    let names: BTreeSet<_> = deeds.iter().map(|deed| deed.name).collect();
    let names: Vec<_> = names.into_iter().collect();
    let premises = Premises::new(&names);
    let (root, outside) = (premises.root(), premises.outside());
    for name in &names {
        fs::hard_link(outside.join(name), root.join(name)).unwrap();
    }
    fs::write(root.join("own"), "own").unwrap();
    let staging = premises.staging();
    let flags = ["--no-landlock", "--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&root, &flags);
    let before = looks(&premises);
    let mut failed = Vec::new();
    for deed in &deeds {
        let answer = server.connect().ask(deed.method, &deed.target, deed.headers, &deed.body);
        let done = answer.is_success() || answer.is_clear_refusal();
        assert!(done, "{}: {} {}", deed.name, answer.status, answer.text());
        if looks(&premises) != before {
            failed.push(deed.name);
        }
    }
    score("hard-links", &[("attempts", deeds.len() as u64), ("escapes", failed.len() as u64)]);
    assert_eq!(failed, Vec::<&str>::new(), "changed the outside");
    assert_eq!(fs::read(root.join("put")).unwrap(), b"new");
    premises.becomes_clean();
}

#[test]
fn a_restore_over_a_file_that_lies_outside_too_changes_the_one_inside() {
    let premises = Premises::new(&["file"]);
    let root = premises.root();
    fs::write(root.join("file"), "as it was").unwrap();
    let staging = premises.staging();
    let flags = ["--no-landlock", "--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&root, &flags);
    let ask = |target: &str, body: Value| -> Answer {
        let target = format!("/v1/sandboxes/main/snapshots{target}");
        server.connect().ask("POST", &target, &JSON, body.to_string().as_bytes())
    };
    ask("", json!({"id": "before"})).succeeds();
    fs::remove_file(root.join("file")).unwrap();
    fs::hard_link(premises.outside().join("file"), root.join("file")).unwrap();
    let before = looks(&premises);
    ask("/before/restore", json!({})).succeeds();
    assert_eq!(fs::read(root.join("file")).unwrap(), b"as it was");
    assert_eq!(looks(&premises), before);
}

fn deeds() -> Vec<Deed> {
    let fs = |name, method, target: &str, headers, body: &[u8]| Deed {
        name,
        method,
        target: format!("/v1/fs/{target}"),
        headers,
        body: body.to_vec(),
    };
    let file = |name, method, headers, body: &[u8]| {
        fs(name, method, &format!("file?path={name}"), headers, body)
    };
    let json = |name, target: String, body: Value| Deed {
        name,
        method: "POST",
        target,
        headers: &JSON,
        body: body.to_string().into_bytes(),
    };
    let sandbox =
        |name, call: &str, body| json(name, format!("/v1/sandboxes/main/fs-{call}/{name}"), body);
    let tool = |name, tool: &str, body| json(name, format!("/v1/tools/{tool}"), body);
    let onto = |name, call: &str| {
        let body = json!({"from": "own", "to": name, "overwrite": true});
        json(name, format!("/v1/fs/{call}"), body)
    };
    let edit = json!({"replacements": [{"old": "canary", "new": "cat"}]});
    let told = json!([{"oldText": "canary", "newText": "cat"}]);
    vec![
        file("put", "PUT", &[], b"new"),
        file("appended", "PATCH", &APPEND, b"more"),
        file("patched", "PATCH", &[("Content-Range", "bytes 4-6/*")], b"cat"),
        fs("uploaded", "POST", "upload-batch?path=.", &TAR, &archive(&[("uploaded", b"new")])),
        onto("copied-onto", "copy"),
        json("copied", "/v1/fs/copy".into(), json!({"from": "copied", "to": "copy"})),
        file("copied", "PATCH", &APPEND, b"more"),
        json("moved", "/v1/fs/move".into(), json!({"from": "moved", "to": "away"})),
        fs("moved", "PATCH", "file?path=away", &APPEND, b"more"),
        fs("removed", "DELETE", "entry?path=removed", &[], b""),
        sandbox("edited", "edit", edit),
        sandbox("closed", "chmod", json!({"mode": "000"})),
        sandbox("dated", "chmod", json!({"modified": "2001-01-01T00:00:00Z"})),
        sandbox("cut", "truncate", json!({"size": 1})),
        sandbox("lengthened", "truncate", json!({"size": 1 << 20})),
        tool("by-tool", "write_file", json!({"path": "by-tool", "content": "new"})),
        tool("more-by-tool", "append_file", json!({"path": "more-by-tool", "content": "more"})),
        tool("edited-by-tool", "edit_file", json!({"path": "edited-by-tool", "edits": told})),
        onto("moved-onto", "move"),
    ]
}

/// The files outside as they look, but for how many names they have.
fn looks(premises: &Premises) -> BTreeMap<String, (Vec<u8>, u32, i64, i64)> {
    let entries = fs::read_dir(premises.outside()).unwrap().map(|entry| entry.unwrap());
    let look = |entry: fs::DirEntry| {
        let metadata = entry.metadata().unwrap();
        let content = fs::read(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, (content, metadata.mode(), metadata.mtime(), metadata.mtime_nsec()))
    };
    entries.map(look).collect()
}
