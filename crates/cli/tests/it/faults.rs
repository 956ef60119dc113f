//! A disk that is full, broken, read-only or not ours: a clear error, the old content intact,
//! nothing left behind, and the next request fine.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;

use rustix::fs::statvfs;
use serde_json::json;

use crate::archive::archive;
use crate::attack_form::{program, root};
use crate::mounted::Mounted;
use crate::outside::Premises;
use crate::pattern::pattern;
use crate::raw_http::{APPEND, Answer, JSON, TAR};
use crate::score::score;
use crate::server_process::{ServerProcess, binary};

const OLD: &[u8] = b"the old content";

#[test]
fn a_full_disk_refuses_and_keeps_what_it_has() {
    let place = tempfile::tempdir().unwrap();
    let point = place.path().to_path_buf();
    let Some(_mounted) = Mounted::mount("tmpfs", "size=16m", "tmpfs", &point) else { return };
    let premises = Premises::within(tempfile::tempdir_in(&point).unwrap(), &[]);
    let server = prepare(&premises);
    let free = |point: &Path| statvfs(point).unwrap().f_bavail;
    let before = free(&point);
    let too_large = pattern(1, 32 << 20);
    let refused = |answer: Answer| {
        assert_eq!(answer.status, 507, "{}", answer.text());
        assert!(answer.is_problem(), "{}", answer.text());
        old_content_is_intact(&premises);
        assert_eq!(free(&point), before, "all space is free again");
    };
    refused(server.ask("PUT", "/v1/fs/file?path=old", &too_large));
    refused(server.ask("PUT", "/v1/fs/file?path=fresh/new", &too_large));
    refused(server.connect().ask("PATCH", "/v1/fs/file?path=old", &APPEND, &too_large));
    let archive = archive(&[("first", b"x"), ("second", &too_large)]);
    refused(server.connect().ask("POST", "/v1/fs/upload-batch?path=.", &TAR, &archive));
    server.ask("PUT", "/v1/fs/file?path=half", &pattern(2, 9 << 20)).succeeds();
    let copy = json!({"from": "half", "to": "copy"}).to_string();
    let copied = server.connect().ask("POST", "/v1/fs/copy", &JSON, copy.as_bytes());
    assert_eq!(copied.status, 507, "{}", copied.text());
    old_content_is_intact(&premises);
    server.ask("PUT", "/v1/fs/file?path=next", b"fine").succeeds();
    score("full-disks", &[("attempts", 5), ("torn", 0), ("lost", 0)]);
}

/// Not a byte is left: what needs none is done, what needs one is refused, and nothing is harmed.
#[test]
fn a_disk_without_a_byte_left_refuses_what_needs_one_and_does_the_rest() {
    let place = tempfile::tempdir().unwrap();
    let point = place.path().to_path_buf();
    let Some(_mounted) = Mounted::mount("tmpfs", "size=16m", "tmpfs", &point) else { return };
    let premises = Premises::within(tempfile::tempdir_in(&point).unwrap(), &[]);
    let root = premises.root();
    for dir in ["dir", "tree/sub"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    for name in ["tree/sub/leaf", "gone", "lost"] {
        fs::write(root.join(name), OLD).unwrap();
    }
    let server = prepare(&premises);
    ask(&server, &post("/v1/sandboxes/main/snapshots", &json!({"id": "s"}))).succeeds();
    fs::remove_file(root.join("lost")).unwrap();
    let ballast = point.join("ballast");
    fill(&ballast);
    let mut attempts = 0;
    for request in needing_room() {
        let answer = ask(&server, &request);
        let (method, target) = (request.0, &request.1);
        assert_eq!(answer.status, 507, "{method} {target}: {}", answer.text());
        assert!(answer.says_why(), "{method} {target}: {}", answer.text());
        old_content_is_intact(&premises);
        attempts += 1;
    }
    for request in needing_none() {
        let answer = ask(&server, &request);
        assert!(answer.is_success(), "{} {}: {}", request.0, request.1, answer.text());
        attempts += 1;
    }
    assert!(!root.join("gone").exists() && !root.join("tree").exists());
    fs::remove_file(ballast).unwrap();
    for request in needing_room() {
        let answer = ask(&server, &request);
        assert!(answer.is_success(), "{} {}: {}", request.0, request.1, answer.text());
    }
    score("full-disks", &[("attempts", attempts), ("torn", 0), ("lost", 0)]);
}

#[test]
fn a_store_on_a_full_disk_refuses_and_keeps_what_it_has() {
    let place = tempfile::tempdir().unwrap();
    let point = place.path().to_path_buf();
    // A store of files keeps a journal that is as long as this before it has anything.
    let Some(_mounted) = Mounted::mount("tmpfs", "size=256m", "tmpfs", &point) else { return };
    let url = format!("file:{}", point.join("store").display());
    let server = ServerProcess::of_store(&url, &[]);
    server.ask("PUT", "/v1/fs/file?path=old", OLD).succeeds();
    let ballast = point.join("ballast");
    fill(&ballast);
    let put = |server: &ServerProcess, name: &str, content: &[u8]| {
        server.ask("PUT", &format!("/v1/fs/file?path={name}"), content)
    };
    // Room that the store took beforehand is used up first.
    let (mut kept, mut attempts) = (Vec::new(), 0);
    let refused = loop {
        let content = pattern(attempts, 1 << 20);
        let answer = put(&server, &attempts.to_string(), &content);
        attempts += 1;
        if !answer.is_success() {
            break answer;
        }
        kept.push(content);
        assert!(attempts < 300, "a full disk takes everything");
    };
    assert_eq!(refused.status, 507, "{}", refused.text());
    assert!(refused.is_problem(), "{}", refused.text());
    let read = |server: &ServerProcess, name: &str| {
        server.ask("GET", &format!("/v1/fs/file?path={name}"), b"").succeeds().body
    };
    assert_eq!(read(&server, "old"), OLD);
    fs::remove_file(&ballast).unwrap();
    put(&server, "next", b"fine").succeeds();
    server.kill();
    let server = ServerProcess::of_store(&url, &[]);
    assert_eq!((read(&server, "old"), read(&server, "next")), (OLD.to_vec(), b"fine".to_vec()));
    for (number, content) in kept.iter().enumerate() {
        assert!(read(&server, &number.to_string()) == *content, "{number} is torn");
    }
    score("full-disks", &[("attempts", attempts), ("torn", 0), ("lost", 0)]);
}

#[test]
fn a_disk_without_inodes_refuses_and_keeps_what_it_has() {
    let place = tempfile::tempdir().unwrap();
    let point = place.path().to_path_buf();
    let options = "size=16m,nr_inodes=32";
    let Some(_mounted) = Mounted::mount("tmpfs", options, "tmpfs", &point) else { return };
    let premises = Premises::within(tempfile::tempdir_in(&point).unwrap(), &[]);
    let server = prepare(&premises);
    let names: Vec<_> = (0..64).map(|number| format!("member{number}")).collect();
    let members: Vec<_> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let answer =
        server.connect().ask("POST", "/v1/fs/upload-batch?path=new", &TAR, &archive(&members));
    assert_eq!(answer.status, 507, "{}", answer.text());
    old_content_is_intact(&premises);
    let deep = format!("/v1/fs/mkdir?path={}", "d/".repeat(64));
    assert_eq!(server.ask("POST", &deep, b"").status, 507);
    server.ask("PUT", "/v1/fs/file?path=old", b"fine").succeeds();
}

#[test]
fn a_read_only_root_is_served_and_refuses_changes() {
    let place = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::mount("tmpfs", "size=16m", "tmpfs", place.path()) else { return };
    fs::write(place.path().join("old"), OLD).unwrap();
    fs::create_dir(place.path().join("dir")).unwrap();
    mounted.remount("ro");
    let server = ServerProcess::start(place.path(), &[]);
    changes_are_refused(&server, 403);
    assert_eq!(fs::read(place.path().join("old")).unwrap(), OLD);
    mounted.remount("rw");
    server.ask("PUT", "/v1/fs/file?path=old", b"fine").succeeds();
}

#[test]
fn a_root_that_becomes_read_only_refuses_changes() {
    let place = tempfile::tempdir().unwrap();
    let Some(mounted) = Mounted::mount("tmpfs", "size=16m", "tmpfs", place.path()) else { return };
    let premises = Premises::within(tempfile::tempdir_in(place.path()).unwrap(), &[]);
    fs::create_dir(premises.root().join("dir")).unwrap();
    let server = prepare(&premises);
    mounted.remount("ro");
    changes_are_refused(&server, 403);
    old_content_is_intact(&premises);
    mounted.remount("rw");
    server.ask("PUT", "/v1/fs/file?path=old", b"fine").succeeds();
}

#[test]
fn what_belongs_to_another_user_is_refused() {
    if !(root() && program("setpriv")) {
        return;
    }
    let premises = Premises::in_memory(&[]);
    let root = premises.root();
    fs::set_permissions(root.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let locked = root.join("dir");
    fs::create_dir(&locked).unwrap();
    fs::write(locked.join("file"), OLD).unwrap();
    fs::write(root.join("secret"), OLD).unwrap();
    fs::set_permissions(root.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(root.join("closed")).unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    for dir in [&root, &premises.staging()] {
        chown(dir, Some(65534), Some(65534)).unwrap();
    }
    let server = start_as_nobody(&premises);
    for (method, target) in [
        ("GET", "/v1/fs/file?path=secret"),
        ("GET", "/v1/fs/entries?path=closed"),
        ("PUT", "/v1/fs/file?path=dir/file"),
        ("PUT", "/v1/fs/file?path=dir/new"),
        ("DELETE", "/v1/fs/entry?path=dir/file"),
        ("DELETE", "/v1/fs/entry?path=dir&recursive=true"),
        ("POST", "/v1/fs/mkdir?path=dir/new"),
    ] {
        let answer = server.ask(method, target, b"");
        assert_eq!(answer.status, 403, "{method} {target}: {}", answer.text());
        assert!(answer.is_problem());
        assert_eq!(fs::read(locked.join("file")).unwrap(), OLD, "after {method} {target}");
    }
    let upload = archive(&[("member", b"x")]);
    let answer = server.connect().ask("POST", "/v1/fs/upload-batch?path=dir", &TAR, &upload);
    assert_eq!(answer.status, 403, "{}", answer.text());
    for (from, to) in [("dir/file", "taken"), ("secret", "dir/put")] {
        let body = json!({"from": from, "to": to}).to_string();
        let answer = server.connect().ask("POST", "/v1/fs/move", &JSON, body.as_bytes());
        assert_eq!(answer.status, 403, "{from} to {to}: {}", answer.text());
    }
    premises.assert_nothing_is_left_behind();
    assert_eq!(fs::read_dir(&locked).unwrap().count(), 1);
    server.ask("PUT", "/v1/fs/file?path=own", b"fine").succeeds();
}

/// A server over a root with one file.
fn prepare(premises: &Premises) -> ServerProcess {
    fs::write(premises.root().join("old"), OLD).unwrap();
    let staging = premises.staging();
    let flags = ["--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    ServerProcess::start(&premises.root(), &flags)
}

/// A method, a target, headers and a body.
type Request = (&'static str, String, &'static [(&'static str, &'static str)], Vec<u8>);

fn ask(server: &ServerProcess, (method, target, headers, body): &Request) -> Answer {
    server.connect().ask(method, target, headers, body)
}

fn post(target: &str, body: &serde_json::Value) -> Request {
    ("POST", target.to_owned(), &JSON, body.to_string().into_bytes())
}

/// Changes for which a disk needs room.
fn needing_room() -> Vec<Request> {
    let page = vec![b'x'; 8192];
    let edit = json!({"replacements": [{"old": "content", "new": "something else"}]});
    let upload = archive(&[("first", &page)]);
    vec![
        ("PUT", "/v1/fs/file?path=fresh/new".into(), &[], page.clone()),
        ("PUT", "/v1/sandboxes/main/fs/second".into(), &[], page.clone()),
        ("POST", "/v1/fs/upload-batch?path=.".into(), &TAR, upload),
        post("/v1/fs/copy", &json!({"from": "old", "to": "copy"})),
        post("/v1/sandboxes/main/snapshots/s/restore", &json!({"path": "lost"})),
        post("/v1/sandboxes/main/fs-edit/old", &edit),
        ("PATCH", "/v1/fs/file?path=old".into(), &APPEND, page.clone()),
        ("PUT", "/v1/fs/file?path=old".into(), &[], page),
    ]
}

/// What needs none, and what gives some back.
fn needing_none() -> Vec<Request> {
    let remove = |query: &str| ("DELETE", format!("/v1/fs/entry?path={query}"), &[][..], vec![]);
    vec![
        ("GET", "/v1/fs/file?path=old".into(), &[], vec![]),
        ("GET", "/v1/fs/entries?path=.".into(), &[], vec![]),
        ("GET", "/v1/fs/download-batch?path=tree".into(), &[], vec![]),
        post("/v1/sandboxes/main/fs-chmod/old", &json!({"mode": "600"})),
        post("/v1/fs/move", &json!({"from": "gone", "to": "dir/moved"})),
        remove("dir/moved"),
        remove("tree&recursive=true"),
    ]
}

/// Takes all room that is left on the disk.
fn fill(ballast: &Path) {
    let mut file = fs::File::create(ballast).unwrap();
    while file.write(&[0; 65536]).is_ok() {}
    while file.write(&[0; 1]).is_ok() {}
}

/// A server without rights over what root owns.
fn start_as_nobody(premises: &Premises) -> ServerProcess {
    // The build may lie where only its owner can go.
    let program = premises.outside().join("sandkeep");
    fs::copy(binary(), &program).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]);
    command.arg(program).env("HOME", premises.root());
    let staging = premises.staging();
    let flags = ["--staging", staging.to_str().unwrap()];
    ServerProcess::start_with(command, &premises.root(), &flags)
}

#[track_caller]
fn old_content_is_intact(premises: &Premises) {
    assert_eq!(fs::read(premises.root().join("old")).unwrap(), OLD);
    premises.assert_nothing_is_left_behind();
    for made in ["fresh", "first", "second", "copy", "new"] {
        assert!(!premises.root().join(made).exists(), "{made} is left behind");
    }
}

/// Everything that changes a tree with a file `old` and a directory `dir` is refused.
fn changes_are_refused(server: &ServerProcess, status: u16) {
    let changes = changes();
    for request in &changes {
        let ((method, target, ..), answer) = (request, ask(server, request));
        assert_eq!(answer.status, status, "{method} {target}: {}", answer.text());
        assert!(answer.says_why(), "{method} {target}: {}", answer.text());
        assert!(answer.text().contains("read-only"), "{method} {target}: {}", answer.text());
        let read = server.ask("GET", "/v1/fs/file?path=old", b"").succeeds();
        assert_eq!(read.body, OLD);
    }
    score("read-only-disks", &[("attempts", changes.len() as u64), ("torn", 0), ("lost", 0)]);
}

fn changes() -> Vec<Request> {
    let upload = archive(&[("member", b"x")]);
    let trip = json!({"from": "old", "to": "new"});
    let edit = json!({"replacements": [{"old": "content", "new": "x"}]});
    let sandbox = |call: &str| format!("/v1/sandboxes/main/{call}");
    let link = json!({"target": "old"}).to_string().into_bytes();
    vec![
        ("PUT", "/v1/fs/file?path=old".into(), &[], b"x".to_vec()),
        ("PUT", "/v1/fs/file?path=a/b".into(), &[], b"x".to_vec()),
        ("PATCH", "/v1/fs/file?path=old".into(), &APPEND, b"x".to_vec()),
        ("DELETE", "/v1/fs/entry?path=old".into(), &[], vec![]),
        ("DELETE", "/v1/fs/entry?path=dir&recursive=true".into(), &[], vec![]),
        ("POST", "/v1/fs/mkdir?path=made".into(), &[], vec![]),
        ("POST", "/v1/fs/upload-batch?path=.".into(), &TAR, upload.clone()),
        post("/v1/fs/move", &trip),
        post("/v1/fs/copy", &trip),
        ("PUT", sandbox("fs/old"), &[], b"x".to_vec()),
        ("PATCH", sandbox("fs/old"), &APPEND, b"x".to_vec()),
        ("DELETE", sandbox("fs/dir"), &[], vec![]),
        ("PUT", sandbox("fs-link/link"), &JSON, link),
        ("POST", sandbox("fs-mkdir/made"), &[], vec![]),
        ("POST", sandbox("fs-archive/dir"), &TAR, upload),
        post(&sandbox("fs-edit/old"), &edit),
        post(&sandbox("fs-chmod/old"), &json!({"mode": "600"})),
        post(&sandbox("fs-truncate/old"), &json!({"size": 1})),
        post(&sandbox("fs-move"), &trip),
        post(&sandbox("fs-copy"), &trip),
    ]
}
