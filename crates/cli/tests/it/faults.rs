//! A disk that is full, broken, read-only or not ours: a clear error, the old content intact,
//! nothing left behind, and the next request fine.

use std::fs;
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
    ServerProcess::start(&premises.root(), &["--staging", staging.to_str().unwrap()])
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

/// Everything that changes a tree with a file `old` and a directory `dir`.
fn changes_are_refused(server: &ServerProcess, status: u16) {
    let upload = archive(&[("member", b"x")]);
    let bodies = ["move", "copy"].map(|call| {
        let body = json!({"from": "old", "to": "new"}).to_string().into_bytes();
        ("POST", format!("/v1/fs/{call}"), &JSON[..], body)
    });
    let requests = [
        ("PUT", "/v1/fs/file?path=old".to_owned(), &[][..], b"x".to_vec()),
        ("PUT", "/v1/fs/file?path=a/b".to_owned(), &[], b"x".to_vec()),
        ("PATCH", "/v1/fs/file?path=old".to_owned(), &APPEND, b"x".to_vec()),
        ("DELETE", "/v1/fs/entry?path=old".to_owned(), &[], vec![]),
        ("DELETE", "/v1/fs/entry?path=dir&recursive=true".to_owned(), &[], vec![]),
        ("POST", "/v1/fs/mkdir?path=made".to_owned(), &[], vec![]),
        ("POST", "/v1/fs/upload-batch?path=.".to_owned(), &TAR[..], upload),
    ];
    for (method, target, headers, body) in requests.into_iter().chain(bodies) {
        let answer = server.connect().ask(method, &target, headers, &body);
        assert_eq!(answer.status, status, "{method} {target}: {}", answer.text());
        assert!(answer.is_problem(), "{method} {target}: {}", answer.text());
        assert!(answer.text().contains("read-only"), "{method} {target}: {}", answer.text());
        let read = server.ask("GET", "/v1/fs/file?path=old", b"").succeeds();
        assert_eq!(read.body, OLD);
    }
}
