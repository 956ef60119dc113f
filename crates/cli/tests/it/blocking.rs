//! Files that block whoever opens them, and clients that block whoever serves them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use tempfile::TempDir;

use crate::archive::archive;
use crate::attack_form::{memory_dir, program, root, short_or_long};
use crate::halves::Halving;
use crate::mounted::{Mounted, run};
use crate::outside::Premises;
use crate::raw_http::{APPEND, Answer, Connection, JSON, TAR};
use crate::score::score;
use crate::server_process::ServerProcess;

const AT_ONCE: Duration = Duration::from_secs(1);
/// How many requests and clients are stuck at a time: at leases, FIFOs, an answer that nobody takes, and
/// half a head.
const STUCK: u64 = 40 + 2 * 64 + 50 + 300;

#[test]
fn a_fifo_is_refused_at_once() {
    refuses_at_once(|path| make_node(path, FileType::Fifo, 0));
}

#[test]
fn a_socket_is_refused_at_once() {
    refuses_at_once(|path| drop(UnixListener::bind(path).unwrap()));
}

#[test]
fn a_character_device_is_refused_at_once() {
    if root() {
        // The kernel's endless zeros: reading them would never end.
        refuses_at_once(|path| make_node(path, FileType::CharacterDevice, makedev(1, 5)));
    }
}

#[test]
fn a_block_device_is_refused_at_once() {
    if root() {
        refuses_at_once(|path| make_node(path, FileType::BlockDevice, makedev(7, 0)));
    }
}

#[test]
fn a_file_under_a_lease_is_refused_at_once() {
    if !program("python3") {
        return;
    }
    let premises = Premises::in_memory(&[]);
    let file = premises.root().join("leased");
    fs::write(&file, "x").unwrap();
    let _lease = Lease::hold(&[file]);
    let server = start(&premises);
    let read = at_once("GET", || server.ask("GET", "/v1/fs/file?path=leased", b""));
    assert_eq!(read.status, 423, "{}", read.text());
    let listing = at_once("list", || server.ask("GET", "/v1/fs/entries?path=.", b""));
    assert_eq!(listing.succeeds().json()[0]["name"], "leased");
    // A write replaces the entry and a removal takes it: neither opens the leased file.
    at_once("PUT", || server.ask("PUT", "/v1/fs/file?path=leased", b"new")).succeeds();
    at_once("DELETE", || server.ask("DELETE", "/v1/fs/entry?path=leased", b"")).succeeds();
}

/// Aims everything at a special file named `special` in the root.
fn refuses_at_once(make: impl FnOnce(&Path)) {
    let premises = Premises::in_memory(&[]);
    make(&premises.root().join("special"));
    let server = start(&premises);
    let ask = |method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]| {
        at_once(&format!("{method} {target}"), || {
            server.connect().ask(method, target, headers, body)
        })
    };
    let refused = refused_requests();
    score("S11", &[("attempts", refused.len() as u64), ("hung", 0), ("5xx", 0)]);
    for (method, target, headers, body) in refused {
        let answer = ask(method, target, headers, &body);
        let (status, text) = (answer.status, answer.text());
        assert!(answer.is_clear_refusal(), "{method} {target}: {status} {text}");
    }
    let stat = ask("GET", "/v1/fs/stat?path=special", &[], b"").succeeds().json();
    assert_eq!(stat["entryType"], "file");
    let listing = ask("GET", "/v1/fs/entries?path=.", &[], b"").succeeds().json();
    assert_eq!(listing[0]["name"], "special");
    ask("GET", "/v1/fs/download-batch?path=.", &[], b"");
    let body = br#"{"from":"special","to":"moved"}"#;
    ask("POST", "/v1/fs/move", &JSON, body).succeeds();
    ask("DELETE", "/v1/fs/entry?path=moved", &[], b"").succeeds();
    ask("GET", "/v1/health", &[], b"").succeeds();
    premises.assert_nothing_is_left_behind();
}

type Request = (&'static str, &'static str, &'static [(&'static str, &'static str)], Vec<u8>);

fn refused_requests() -> Vec<Request> {
    let copy = br#"{"from":"special","to":"copy"}"#.to_vec();
    vec![
        ("GET", "/v1/fs/file?path=special", &[], vec![]),
        ("PUT", "/v1/fs/file?path=special", &[], b"x".to_vec()),
        ("PATCH", "/v1/fs/file?path=special", &APPEND, b"x".to_vec()),
        ("GET", "/v1/fs/entries?path=special", &[], vec![]),
        ("GET", "/v1/fs/file?path=special/beneath", &[], vec![]),
        ("PUT", "/v1/fs/file?path=special/beneath", &[], b"x".to_vec()),
        ("POST", "/v1/fs/mkdir?path=special", &[], vec![]),
        ("POST", "/v1/fs/upload-batch?path=special", &TAR, archive(&[("member", b"x")])),
        ("GET", "/v1/fs/download-batch?path=special", &[], vec![]),
        ("POST", "/v1/fs/copy", &JSON, copy),
    ]
}

#[test]
fn stuck_files_and_stuck_clients_slow_nobody_else() {
    if !program("python3") {
        return;
    }
    let premises = Premises::in_memory(&[]);
    let root = premises.root();
    fs::write(root.join("small"), vec![7; 4096]).unwrap();
    fs::File::create(root.join("large")).unwrap().set_len(64 << 20).unwrap();
    for number in 0..64 {
        make_node(&root.join(format!("fifo{number}")), FileType::Fifo, 0);
    }
    let server = start(&premises);
    let length = Duration::from_millis(short_or_long(1000, 4000));
    quiet_p99(&server, length);
    let runs: Vec<_> = (0..5).map(|run| measure(&server, &root, run, length)).collect();
    let mut excess: Vec<_> = runs
        .iter()
        .map(|(alone, beside)| {
            beside.as_secs_f64() - (alone.as_secs_f64() * 1.5).max(alone.as_secs_f64() + 0.002)
        })
        .collect();
    excess.sort_by(f64::total_cmp);
    for (alone, beside) in &runs {
        eprintln!("blocking: p99 {alone:?} alone, {beside:?} beside the stuck");
    }
    score("S11", &[("attempts", STUCK * runs.len() as u64), ("hung", 0), ("5xx", 0)]);
    assert!(excess[2] <= 0.0, "p99 rose by more than half and by more than 2 ms: {runs:?}");
}

/// Whoever asks for it may wait; a path into it is refused, and others are served.
#[test]
fn a_mount_that_never_answers_holds_up_nobody_else() {
    let premises = Premises::in_memory(&[]);
    let (root, hung) = (premises.root(), premises.root().join("hung"));
    fs::create_dir(&hung).unwrap();
    fs::create_dir(root.join("fine")).unwrap();
    fs::write(root.join("fine/small"), "x").unwrap();
    let Some(mut silent) = Halving::mount(&hung, "silent") else { return };
    let server = start(&premises);
    silent.fall_silent();
    let waiting: Vec<_> = (0..64)
        .map(|_| {
            let mut connection = server.connect();
            connection.send_head("GET", "/v1/fs/entries?path=.", &[], 0).unwrap();
            connection
        })
        .collect();
    let ask = |method: &str, target: &str| {
        at_once(&format!("{method} {target}"), || server.ask(method, target, b"x"))
    };
    for _ in 0..20 {
        for (method, target) in [
            ("GET", "/v1/fs/file?path=hung/x"),
            ("PUT", "/v1/fs/file?path=hung/x"),
            ("GET", "/v1/fs/entries?path=hung"),
        ] {
            assert!(ask(method, target).is_clear_refusal(), "{method} {target}");
        }
        ask("GET", "/v1/fs/file?path=fine/small").succeeds();
        ask("PUT", "/v1/fs/file?path=fine/new").succeeds();
        ask("GET", "/v1/fs/entries?path=fine").succeeds();
    }
    score("S11", &[("attempts", 64 + 6 * 20), ("hung", 0), ("5xx", 0)]);
    drop(silent);
    drop(waiting);
    ask("GET", "/v1/fs/file?path=fine/small").succeeds();
}

/// Changes wait until it thaws and are then made; whoever only reads waits for nothing.
#[test]
fn a_frozen_disk_holds_up_only_those_who_change_something() {
    for durability in ["full", "relaxed"] {
        let Some(disk) = Disk::new() else { return };
        let flags = ["--durability", durability, "--staging", disk.staging.to_str().unwrap()];
        let server = ServerProcess::start(&disk.root, &flags);
        server.ask("PUT", "/v1/fs/file?path=there", b"x").succeeds();
        server.ask("GET", "/v1/fs/file?path=there", b"").succeeds();
        let frozen = disk.freeze();
        let mut waiting: Vec<_> = (0..40)
            .map(|number| {
                let mut connection = server.connect();
                let target = format!("/v1/fs/file?path=new{number}");
                connection.send_head("PUT", &target, &[], 1).unwrap();
                connection.send(b"y").unwrap();
                connection
            })
            .collect();
        for _ in 0..20 {
            for target in ["file?path=there", "stat?path=there", "entries?path=."] {
                let target = format!("/v1/fs/{target}");
                at_once(&target, || server.ask("GET", &target, b"")).succeeds();
            }
        }
        assert!(!disk.root.join("new0").exists());
        drop(frozen);
        for connection in &mut waiting {
            connection.answer().unwrap().succeeds();
        }
        let names = server.ask("GET", "/v1/fs/entries?path=.", b"").succeeds().json();
        assert_eq!(names.as_array().unwrap().len(), 41, "{durability}");
    }
    score("S11", &[("attempts", 2 * (40 + 60)), ("hung", 0), ("5xx", 0)]);
}

/// A disk of its own, which can be frozen.
struct Disk {
    root: PathBuf,
    staging: PathBuf,
    point: PathBuf,
    _mounted: Mounted,
    _place: TempDir,
}

impl Disk {
    fn new() -> Option<Self> {
        if !(program("mkfs.ext4") && program("fsfreeze")) {
            return None;
        }
        let place = memory_dir();
        let [image, point] = ["image", "disk"].map(|name| place.path().join(name));
        fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
        run(Command::new("mkfs.ext4").arg("-q").arg(&image));
        fs::create_dir(&point).unwrap();
        let mounted = Mounted::mount("ext4", "loop", image.to_str().unwrap(), &point)?;
        let [root, staging] = ["root", "staging"].map(|name| point.join(name));
        fs::create_dir(&root).unwrap();
        Some(Self { root, staging, point, _mounted: mounted, _place: place })
    }

    fn freeze(&self) -> Frozen<'_> {
        run(Command::new("fsfreeze").arg("--freeze").arg(&self.point));
        Frozen(self)
    }
}

/// Thaws when it is dropped: nothing ends whose calls wait for a frozen disk.
struct Frozen<'a>(&'a Disk);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        Command::new("fsfreeze").arg("--unfreeze").arg(&self.0.point).output().ok();
    }
}

/// The p99 of other clients alone, and while everything is stuck.
fn measure(
    server: &ServerProcess,
    root: &Path,
    run: usize,
    length: Duration,
) -> (Duration, Duration) {
    let before = quiet_p99(server, length);
    // New files each time: a lease is broken some time after somebody tried.
    let leased: Vec<_> = (0..40).map(|number| root.join(format!("leased{run}-{number}"))).collect();
    for file in &leased {
        fs::write(file, "x").unwrap();
    }
    let _lease = Lease::hold(&leased);
    let mut stuck: Vec<Connection> = Vec::new();
    let mut ask = |method: &str, target: &str, length: u64| {
        let mut connection = server.connect();
        connection.send_head(method, target, &[], length).unwrap();
        stuck.push(connection);
    };
    for number in 0..40 {
        ask("GET", &format!("/v1/fs/file?path=leased{run}-{number}"), 0);
    }
    for number in 0..64 {
        ask("GET", &format!("/v1/fs/file?path=fifo{number}"), 0);
        ask("PUT", &format!("/v1/fs/file?path=fifo{number}"), 1 << 20);
    }
    for _ in 0..50 {
        ask("GET", "/v1/fs/file?path=large", 0);
    }
    for _ in 0..300 {
        let mut half_open = server.connect();
        half_open.send(b"GET /v1/fs/file?path=small HTTP/1.1\r\nHost: te").unwrap();
        stuck.push(half_open);
    }
    // Their coming is work like any other; from when nothing more can be done for them they are
    // stuck, and must cost nothing.
    server.comes_to_rest();
    let beside = quiet_p99(server, length);
    drop(stuck);
    server.comes_to_rest();
    // Before and after, since whatever else the machine does comes and goes.
    ((before + quiet_p99(server, length)) / 2, beside)
}

/// The 99th percentile of small requests by four clients.
fn quiet_p99(server: &ServerProcess, length: Duration) -> Duration {
    let client = || {
        let mut connection = server.connect();
        let (end, mut times) = (Instant::now() + length, Vec::new());
        while Instant::now() < end {
            let begin = Instant::now();
            if times.len() % 8 == 7 {
                connection.ask("PUT", "/v1/fs/file?path=written", &[], b"new").succeeds();
            } else {
                connection.ask("GET", "/v1/fs/file?path=small", &[], b"").succeeds();
            }
            times.push(begin.elapsed());
        }
        times
    };
    let mut times: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    times.sort();
    times[times.len() * 99 / 100]
}

/// A process that holds leases on files and never gives them back.
struct Lease(Child);

impl Lease {
    const HOLD: &str = "
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
held = [os.open(path, os.O_RDWR) for path in sys.argv[1:]]
for file in held:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()
";

    fn hold(files: &[PathBuf]) -> Self {
        let mut holder = Command::new("python3");
        holder.args(["-c", Self::HOLD]).args(files);
        let mut child = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "held\n", "leases can be taken");
        Self(child)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(premises: &Premises) -> ServerProcess {
    let staging = premises.staging();
    ServerProcess::start(&premises.root(), &["--staging", staging.to_str().unwrap()])
}

#[track_caller]
fn at_once(what: &str, ask: impl FnOnce() -> Answer) -> Answer {
    let begin = Instant::now();
    let answer = ask();
    let elapsed = begin.elapsed();
    assert!(elapsed < AT_ONCE, "{what} took {elapsed:?}");
    answer
}

fn make_node(path: &Path, kind: FileType, device: u64) {
    mknodat(CWD, path, kind, Mode::from(0o666), device).unwrap();
}
