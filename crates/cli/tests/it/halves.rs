//! A disk that writes and reads less than it is told to, as disks may: nothing is torn by that.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::json;

use crate::archive::archive;
use crate::attack_form::{machine_has, program, root, short_or_long};
use crate::mounted::Mounted;
use crate::outside::Premises;
use crate::pattern::{pattern, version_of};
use crate::raw_http::{APPEND, Answer, JSON, TAR};
use crate::score::score;
use crate::server_process::ServerProcess;

const PROGRAM: &str = include_str!("halving_fuse.py");

/// The file system and whoever answers for it.
pub(crate) struct Halving {
    _mounted: Mounted,
    process: Child,
    said: BufReader<ChildStdout>,
}

impl Halving {
    pub(crate) fn mount(point: &Path, mood: &str) -> Option<Self> {
        let has_fuse = machine_has("/dev/fuse", Path::new("/dev/fuse").exists());
        if !(root() && program("python3") && has_fuse) {
            return None;
        }
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM]).arg(point).arg(mood);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let mut halving = Self { _mounted: Mounted::by_another(point), process, said };
        machine_has("to mount fuse", halving.hears("ready\n")).then_some(halving)
    }

    /// From now on nothing is answered.
    pub(crate) fn fall_silent(&mut self) {
        self.process.stdin.as_mut().unwrap().write_all(b"silent\n").unwrap();
        assert!(self.hears("silent\n"));
    }

    fn hears(&mut self, word: &str) -> bool {
        let mut line = String::new();
        self.said.read_line(&mut line).is_ok() && line == word
    }
}

impl Drop for Halving {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[test]
fn short_writes_and_short_reads_tear_nothing() {
    work_on_halves("willing");
}

#[test]
fn interrupted_writes_tear_nothing() {
    work_on_halves("sulking");
}

fn work_on_halves(mood: &str) {
    let place = tempfile::tempdir().unwrap();
    let point = place.path().to_path_buf();
    let Some(_disk) = Halving::mount(&point, mood) else { return };
    let premises = Premises::within(tempfile::tempdir_in(&point).unwrap(), &[]);
    let staging = premises.staging();
    let flags = ["--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&premises.root(), &flags);
    let rounds = short_or_long(3, 40);
    let attempts: u64 = (0..rounds).map(|round| work(&server, &premises.root(), round)).sum();
    score("S7", &[("attempts", attempts), ("torn", 0), ("lost", 0), ("5xx", 0)]);
    drop(server);
}

/// One of each change, each with content that proves itself; gives how many.
fn work(server: &ServerProcess, root: &Path, round: u64) -> u64 {
    let (version, len) = (round + 1, 200_000 + round as usize);
    let content = pattern(version, len);
    let post = |target: &str, body: serde_json::Value| -> Answer {
        server.connect().ask("POST", target, &JSON, body.to_string().as_bytes())
    };
    server.ask("PUT", "/v1/fs/file?path=whole", &content).succeeds();
    let (begin, rest) = content.split_at(len / 3);
    server.ask("PUT", "/v1/fs/file?path=appended", begin).succeeds();
    server.connect().ask("PATCH", "/v1/fs/file?path=appended", &APPEND, rest).succeeds();
    post("/v1/fs/copy", json!({"from": "whole", "to": "copied", "overwrite": true})).succeeds();
    let members = archive(&[("uploaded/one", &content), ("uploaded/two", &content)]);
    server.connect().ask("POST", "/v1/fs/upload-batch?path=.", &TAR, &members).succeeds();
    post("/v1/sandboxes/main/snapshots", json!({"id": format!("s{round}")})).succeeds();
    server.ask("PUT", "/v1/fs/file?path=whole", b"something else").succeeds();
    post(&format!("/v1/sandboxes/main/snapshots/s{round}/restore"), json!({})).succeeds();
    for name in ["whole", "appended", "copied", "uploaded/one", "uploaded/two"] {
        // What lies there, by a reader that is as patient as ours must be; and what we say of it.
        assert_eq!(version_of(&fs::read(root.join(name)).unwrap()), Ok(version), "{name}");
        let read = server.ask("GET", &format!("/v1/fs/file?path={name}"), b"").succeeds();
        assert_eq!(version_of(&read.body), Ok(version), "{name}");
    }
    let got = server.ask("GET", "/v1/fs/download-batch?path=uploaded", b"").succeeds().body;
    assert!(got.windows(len).any(|window| window == content), "the archive is whole");
    9
}
