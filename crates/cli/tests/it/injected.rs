//! System calls that fail, one at a time: strace makes the n-th of a kind fail while one request
//! is served, for n = 1 and up until the request makes no more of them. What a call does by halves is
//! in `halves.rs`.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::archive::archive;
use crate::attack_form::{program, short_or_long};
use crate::outside::{Premises, files_beneath};
use crate::raw_http::{APPEND, Answer, JSON, TAR};
use crate::score::score;
use crate::server_process::ServerProcess;

const OLD: &[u8] = b"the old content";
const NEW: &[u8] = b"the new content, which is longer";

/// The calls that an operation of the server is made of. Files are read and written at offsets;
/// plain `read` and `write` are the connections' and stay whole.
const CALLS: [&str; 14] = [
    "pwrite64,pwritev,pwritev2",
    "pread64,preadv,preadv2",
    "fsync,fdatasync,syncfs",
    "renameat2,renameat",
    "linkat",
    "openat2",
    "openat",
    "mkdirat",
    "unlinkat",
    "statx,newfstatat,fstat",
    "fchmod,fchmodat,fchown",
    "ftruncate,fallocate,copy_file_range",
    "utimensat",
    "getdents64",
];

/// What a disk says, and in the long form also what others may.
const ERRORS: [&str; 3] = ["EIO", "ENOSPC", "EINTR"];
const ALL_ERRORS: [&str; 8] =
    ["EIO", "ENOSPC", "EINTR", "EDQUOT", "EROFS", "EMFILE", "ENOMEM", "EACCES"];
/// More calls of a kind than any of these requests makes.
const MOST_CALLS: usize = 200;
/// The calls of a store: it writes at the end of its files.
const STORE_CALLS: [&str; 2] = ["write,writev,pwrite64,pwritev", "fsync,fdatasync,syncfs"];

/// A request that changes a tree with the files `old`, `other` and `dir/leaf`.
struct Operation {
    name: &'static str,
    method: &'static str,
    target: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: Vec<u8>,
}

impl Operation {
    fn send(&self, server: &ServerProcess) -> io::Result<Answer> {
        server.connect().try_ask(self.method, self.target, self.headers, &self.body)
    }
}

#[test]
fn a_write_survives_every_failing_call() {
    sweep(&put("a write onto a file", "/v1/fs/file?path=old"));
    sweep(&put("a write of a new file", "/v1/fs/file?path=made/new"));
}

#[test]
fn an_append_survives_every_failing_call() {
    let append = put("an append", "/v1/fs/file?path=old");
    sweep(&Operation { method: "PATCH", headers: &APPEND, ..append });
}

#[test]
fn a_move_survives_every_failing_call() {
    sweep(&post(
        "a move onto a file",
        "/v1/fs/move",
        r#"{"from":"other","to":"old","overwrite":true}"#,
    ));
    sweep(&post("a move of a directory", "/v1/fs/move", r#"{"from":"dir","to":"made/dir"}"#));
    let body = r#"{"from":"dir","to":"old","overwrite":true}"#;
    sweep(&post("a move of a directory onto a file", "/v1/fs/move", body));
}

#[test]
fn a_copy_survives_every_failing_call() {
    sweep(&post(
        "a copy onto a file",
        "/v1/fs/copy",
        r#"{"from":"other","to":"old","overwrite":true}"#,
    ));
    sweep(&post("a copy of a directory", "/v1/fs/copy", r#"{"from":"dir","to":"made/dir"}"#));
}

#[test]
fn an_upload_survives_every_failing_call() {
    let members: [(&str, &[u8]); 3] = [("old", NEW), ("made/new", NEW), ("dir/leaf", NEW)];
    let upload = post("an upload", "/v1/fs/upload-batch?path=.", "");
    sweep(&Operation { headers: &TAR, body: archive(&members), ..upload });
}

#[test]
fn a_removal_and_a_new_directory_survive_every_failing_call() {
    let removal = post("a removal of a file", "/v1/fs/entry?path=old", "");
    sweep(&Operation { method: "DELETE", ..removal });
    let removal = post("a removal of a tree", "/v1/fs/entry?path=dir&recursive=true", "");
    sweep(&Operation { method: "DELETE", ..removal });
    sweep(&post("a new directory", "/v1/fs/mkdir?path=made/dir/s", ""));
}

#[test]
fn an_edit_and_a_new_mode_survive_every_failing_call() {
    let edit =
        r#"{"replacements":[{"old":"the old content","new":"the new content, which is longer"}]}"#;
    sweep(&post("an edit", "/v1/sandboxes/main/fs-edit/old", edit));
    sweep(&post("a new mode", "/v1/sandboxes/main/fs-chmod/old", r#"{"mode":"600"}"#));
}

#[test]
fn a_snapshot_survives_every_failing_call() {
    sweep(&post("a snapshot", "/v1/sandboxes/main/snapshots", "{}"));
}

#[test]
fn a_restore_survives_every_failing_call() {
    sweep(&post("a restore", "/v1/sandboxes/main/snapshots/new/restore", "{}"));
}

#[test]
fn a_store_survives_every_failing_call() {
    if !program("strace") {
        return;
    }
    let (mut attempts, errors) = (0, short_or_long(&ERRORS[..], &ALL_ERRORS[..]));
    for (calls, error) in pairs(&STORE_CALLS, errors) {
        let mut number = 1;
        while store_fails_well(&Fault { calls, error, number }) {
            number += 1;
        }
        attempts += number - 1;
    }
    score("S7", &[("attempts", attempts as u64), ("torn", 0), ("lost", 0), ("hung", 0)]);
    assert!(attempts > errors.len(), "hardly a call could be made to fail");
}

/// Writes to a store under the fault, kills it, and looks what is there. False when it did not occur.
fn store_fails_well(fault: &Fault<'_>) -> bool {
    let place = tempfile::tempdir().unwrap();
    let store = place.path().join("store");
    let url = format!("file:{}", store.display());
    let server = ServerProcess::of_store(&url, &[]);
    let put = |server: &ServerProcess, content: &[u8]| {
        server.connect().try_ask("PUT", "/v1/fs/file?path=f", &[], content).unwrap()
    };
    put(&server, OLD).succeeds();
    let files: Vec<_> = files_beneath(&store).into_iter().filter(|path| path.is_file()).collect();
    let tracer = Tracer::attach(&server, fault, &files);
    let answer = put(&server, NEW);
    if tracer.detach() == 0 {
        return false;
    }
    let said = format!("{fault:?}: {} {}", answer.status, answer.text());
    assert!(answer.is_success() || answer.says_why(), "{said}");
    server.kill();
    let server = ServerProcess::of_store(&url, &[]);
    let found = server.ask("GET", "/v1/fs/file?path=f", b"").succeeds().body;
    assert!(found == NEW || found == OLD && !answer.is_success(), "{said}, found {found:?}");
    put(&server, b"next").succeeds();
    true
}

fn pairs<'a>(
    calls: &'a [&'a str],
    errors: &'a [&'a str],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    calls.iter().flat_map(|calls| errors.iter().map(|error| (*calls, *error)))
}

fn put(name: &'static str, target: &'static str) -> Operation {
    Operation { name, method: "PUT", target, headers: &[], body: NEW.to_vec() }
}

fn post(name: &'static str, target: &'static str, body: &str) -> Operation {
    Operation { name, method: "POST", target, headers: &JSON, body: body.as_bytes().to_vec() }
}

/// Every kind of call, every number of it, and the errors that a disk gives.
fn sweep(operation: &Operation) {
    if !program("strace") {
        return;
    }
    let premises = Premises::in_memory(&[]);
    let staging = premises.staging();
    let flags = ["--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&premises.root(), &flags);
    take_snapshot(&premises.root(), &server);
    let (mut failed, mut attempts) = (Vec::new(), 0);
    for (calls, error) in pairs(&CALLS, short_or_long(&ERRORS, &ALL_ERRORS)) {
        let occurs = |number| {
            let fault = Fault { calls, error, number };
            // Tried twice: a thread that is just starting can escape the tracer.
            (0..2).any(|_| fails_well(&premises, &server, operation, &fault))
        };
        let mut number = 1;
        while occurs(number) {
            number += 1;
            // What failed must not leave anything that the next request has to go through.
            assert!(number < MOST_CALLS, "{} makes more and more of {calls}", operation.name);
        }
        lay_out(&premises.root());
        operation.send(&server).unwrap().succeeds();
        if number > 1 {
            let call = calls.split(',').next().unwrap_or_default();
            failed.push(format!("{call} {error} ×{}", number - 1));
            attempts += number - 1;
        }
    }
    drop(server);
    let _swept = ServerProcess::start(&premises.root(), &flags);
    premises.becomes_clean();
    eprintln!("faults: {} survives {}", operation.name, failed.join(", "));
    score("S7", &[("attempts", attempts as u64), ("torn", 0), ("lost", 0), ("hung", 0)]);
    assert!(failed.len() > 1, "hardly a call could be made to fail: {failed:?}");
}

/// A snapshot in which every file is new. The requests also make the server's threads, so that the
/// tracer finds them.
fn take_snapshot(root: &Path, server: &ServerProcess) {
    lay_out(root);
    for name in ["old", "dir/leaf"] {
        fs::write(root.join(name), NEW).unwrap();
    }
    let target = "/v1/sandboxes/main/snapshots";
    server.connect().ask("POST", target, &JSON, br#"{"id":"new"}"#).succeeds();
    server.ask("GET", "/v1/fs/entries?path=.", b"").succeeds();
}

/// One call that fails.
#[derive(Debug)]
struct Fault<'a> {
    calls: &'a str,
    error: &'a str,
    number: usize,
}

/// Serves the request under the fault and checks what it left. False when it did not occur.
fn fails_well(
    premises: &Premises,
    server: &ServerProcess,
    operation: &Operation,
    fault: &Fault<'_>,
) -> bool {
    let root = premises.root();
    lay_out(&root);
    let before = contents(&root);
    let left_before = premises.unfinished();
    let tracer = Tracer::attach(server, fault, &[]);
    let answer = operation.send(server);
    let hits = tracer.detach();
    if hits == 0 {
        return false;
    }
    let what = format!("{} under {fault:?}", operation.name);
    let answer = answer.unwrap_or_else(|err| panic!("{what}: no answer, {err}"));
    assert!(
        answer.is_success() || answer.says_why(),
        "{what}: {} {}",
        answer.status,
        answer.text()
    );
    check_content(&root, &before, &answer, operation, &what);
    // Numbers count per thread, so that a second fault may hit the cleaning up after the first;
    // what is left then is out of sight, and the next start sweeps it.
    let cleaning_up_was_hit = answer.is_success() || hits > 1 || fault.calls == "unlinkat";
    if !cleaning_up_was_hit {
        // What an earlier fault left may be gone by now.
        let mut left = premises.unfinished();
        left.retain(|path| !left_before.contains(path));
        assert!(left.is_empty(), "{what}: {}, left behind {left:?}", answer.status);
    }
    true
}

/// Every file is whole, and an error took nothing away.
fn check_content(
    root: &Path,
    before: &[(PathBuf, Vec<u8>)],
    answer: &Answer,
    operation: &Operation,
    what: &str,
) {
    let status = answer.status;
    for (path, content) in contents(root) {
        let known = content == OLD || content == NEW || content == [OLD, NEW].concat();
        assert!(known, "{what}: {status}, {} is torn: {content:?}", path.display());
    }
    if status >= 400 {
        for (path, content) in before {
            // A sync that fails after the rename reports an error for what has happened.
            let now = fs::read(path).ok();
            let moved = operation.name.contains("move") || operation.name.contains("removal");
            assert!(now.is_some() || moved, "{what}: {status}, {} is lost", path.display());
            assert!(now.is_none_or(|now| now.len() >= content.len()), "{what}: {status}, cut");
        }
    }
}

/// The files that every request starts from.
fn lay_out(root: &Path) {
    for entry in fs::read_dir(root).unwrap().map(|entry| entry.unwrap()) {
        if entry.file_type().unwrap().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    fs::create_dir(root.join("dir")).unwrap();
    for (name, content) in [("old", OLD), ("other", NEW), ("dir/leaf", OLD)] {
        fs::write(root.join(name), content).unwrap();
    }
}

fn contents(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files_beneath(root).into_iter().filter(|path| path.is_file());
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// A strace that makes calls fail.
struct Tracer {
    process: Child,
    log: tempfile::NamedTempFile,
}

impl Tracer {
    /// Attaches to a server; only calls at these files fail, if there are any.
    fn attach(
        server: &ServerProcess,
        Fault { calls, error, number }: &Fault<'_>,
        files: &[PathBuf],
    ) -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-p", &server.pid().to_string(), "-o"]).arg(log.path());
        for file in files {
            strace.arg("-P").arg(file);
        }
        strace.args(["-e", &format!("trace={calls}")]);
        strace.args(["-e", &format!("inject={calls}:error={error}:when={number}")]);
        let mut process = strace.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("attached"), "strace attaches: {said}");
        Self { process, log }
    }

    /// How many calls were made to fail.
    fn detach(mut self) -> usize {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, Signal::INT).unwrap();
        self.process.wait().unwrap();
        fs::read_to_string(self.log.path()).unwrap().matches("(INJECTED)").count()
    }
}
