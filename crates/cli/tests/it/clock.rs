//! The clock jumps, forward and back, and files bear times that nobody has seen.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde_json::json;
use tempfile::TempDir;

use crate::attack_form::{EndOnDrop, program, short_or_long};
use crate::dice::Dice;
use crate::mounted::run;
use crate::outside::Premises;
use crate::raw_http::{Connection, JSON};
use crate::score::score;
use crate::server_process::{ServerProcess, binary};
use crate::traffic::Lane;

const HOUR: i64 = 3600;
const YEAR: i64 = 365 * 24 * HOUR;
/// Where the clock goes, from where it should be. A kernel knows no time beyond 2262.
const JUMPS: [i64; 9] = [0, -1, 1, -HOUR, HOUR, -YEAR, YEAR, -50 * YEAR, 200 * YEAR];

/// A clock that the program believes. It speaks only of the time of day: what a program measures by
/// itself goes on as it should, and so do the stamps of the kernel.
struct Clock {
    library: PathBuf,
    offset: File,
    place: TempDir,
}

impl Clock {
    fn new() -> Option<Self> {
        if !program("cc") {
            return None;
        }
        let place = tempfile::tempdir().unwrap();
        let (source, library) = (place.path().join("clock.c"), place.path().join("clock.so"));
        fs::write(&source, include_str!("clock.c")).unwrap();
        run(Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .arg("-ldl"));
        let offset = File::create(place.path().join("offset")).unwrap();
        let clock = Self { library, offset, place };
        clock.jump(0);
        Some(clock)
    }

    /// From now on it is wrong by so many seconds.
    fn jump(&self, seconds: i64) {
        self.offset.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
    }

    /// The program, by this clock.
    fn program(&self) -> Command {
        let mut command = Command::new(binary());
        command.env("LD_PRELOAD", &self.library);
        command.env("CLOCK_OFFSET", self.place.path().join("offset"));
        command
    }

    fn serve(&self, store: &str) -> ServerProcess {
        let mut command = self.program();
        command.args(["serve", "--store", store]);
        ServerProcess::spawn(command)
    }
}

#[test]
fn a_version_never_comes_back_whatever_the_clock_says() {
    let Some(clock) = Clock::new() else { return };
    let server = clock.serve("memory:");
    let (mut connection, mut dice) = (server.connect(), Dice::new(1));
    let (mut seen, mut last) = (BTreeSet::new(), None);
    let rounds = short_or_long(300, 20_000);
    for round in 0..rounds {
        clock.jump(*dice.pick(&JUMPS));
        // The same content each time: only the version tells one write from another.
        connection.ask("PUT", "/v1/fs/file?path=f", &[], b"same").succeeds();
        let version = version(&mut connection, "f");
        assert!(seen.insert(version.clone()), "{version} came back in round {round}");
        if let Some(last) = last.replace(version) {
            let stale = [("If-Match", last.as_str())];
            let refused = connection.ask("PUT", "/v1/fs/file?path=f", &stale, b"lost");
            assert_eq!(refused.status, 412, "{}", refused.text());
        }
    }
    score("clock-jumps", &[("attempts", rounds), ("lost", 0), ("5xx", 0)]);
}

#[test]
fn what_ends_with_a_time_ends_by_the_clock_and_no_sooner() {
    let Some(clock) = Clock::new() else { return };
    let server = clock.serve("memory:");
    let make = |target: &str, body: serde_json::Value| {
        let answer = server.connect().ask("POST", target, &JSON, body.to_string().as_bytes());
        answer.succeeds().json()
    };
    make("/v1/sandboxes", json!({"id": "brief", "ttl": HOUR}));
    server.ask("PUT", "/v1/sandboxes/brief/fs/f", b"x").succeeds();
    let key = make("/v1/keys", json!({"role": "viewer", "sandboxes": ["brief"], "ttl": HOUR}));
    let key: &'static str = key["key"].as_str().unwrap().to_owned().leak();
    let look = |connection: &mut Connection| {
        connection.ask("GET", "/v1/sandboxes/brief/fs/f", &[], b"").status
    };
    for back in [0, -HOUR, -YEAR, HOUR - 60, 0] {
        clock.jump(back);
        let seen = [look(&mut server.connect()), look(&mut server.connect_as(key))];
        assert_eq!(seen, [200, 200], "{back} seconds off");
    }
    clock.jump(HOUR + 60);
    assert_eq!([look(&mut server.connect()), look(&mut server.connect_as(key))], [404, 401]);
    score("clock-jumps", &[("attempts", 12), ("lost", 0), ("5xx", 0)]);
}

#[test]
fn nothing_is_lost_while_the_clock_jumps() {
    let Some(clock) = Clock::new() else { return };
    let url = format!("file:{}", clock.place.path().join("store").display());
    let (lanes, mut dice): (Vec<_>, _) = ((0..4).map(Lane::new).collect(), Dice::new(2));
    let cycles = short_or_long(4, 50);
    let mut acknowledged = 0;
    for _ in 0..cycles {
        let server = clock.serve(&url);
        acknowledged += work_while_it_jumps(&clock, &server, &lanes, &mut dice);
        server.kill();
        // Whatever is collected at a wrong time was nobody's.
        run(clock.program().args(["gc", "--store", &url]));
        clock.jump(*dice.pick(&JUMPS));
        let server = clock.serve(&url);
        for lane in &lanes {
            let found =
                lane.found_on(&mut server.connect()).unwrap_or_else(|torn| panic!("{torn}"));
            let mut ledger = lane.ledger.lock().unwrap();
            ledger.explains_whole(&found).unwrap_or_else(|lost| panic!("{lost}"));
            *ledger = crate::ledger::Ledger::from(found);
        }
    }
    let figures = [("attempts", acknowledged), ("torn", 0), ("lost", 0), ("5xx", 0)];
    score("clock-jumps", &figures);
}

/// Lets every client work while the clock jumps; gives how much they did.
fn work_while_it_jumps(
    clock: &Clock,
    server: &ServerProcess,
    lanes: &[Lane],
    dice: &mut Dice,
) -> u64 {
    let (stop, (sender, acknowledgements)) = (AtomicBool::new(false), mpsc::channel());
    let changes = 150;
    thread::scope(|scope| {
        let _end = EndOnDrop(&stop);
        for lane in lanes {
            let (connection, dice) = (server.connect(), Dice::new(dice.roll()));
            let (stop, sender) = (&stop, sender.clone());
            scope.spawn(move || lane.drive(connection, dice, stop, &sender));
        }
        for _ in 0..changes {
            acknowledgements.recv_timeout(Duration::from_secs(60)).expect("the server works");
            clock.jump(*dice.pick(&JUMPS));
        }
    });
    changes
}

/// Whoever lives in the sandbox sets times as he likes.
#[test]
fn times_that_no_calendar_has_are_borne() {
    const TIMES: [i64; 10] = [
        i64::MIN,
        -62_135_596_801,
        -1 << 40,
        -1,
        0,
        1 << 31,
        1 << 34,
        253_402_300_800,
        1 << 50,
        i64::MAX,
    ];
    // On a disk such times are cut to what its inodes hold.
    let premises = Premises::in_memory(&[]);
    let root = premises.root().join("times");
    fs::create_dir(&root).unwrap();
    for (number, seconds) in TIMES.into_iter().enumerate() {
        let path = root.join(number.to_string());
        fs::write(&path, "x").unwrap();
        let time = Timespec { tv_sec: seconds, tv_nsec: 999_999_999 };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(CWD, &path, &times, AtFlags::empty()).unwrap();
    }
    let staging = premises.staging();
    let flags = ["--snapshots", "memory:", "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&premises.root(), &flags);
    let mut attempts = 0;
    let mut fine = |method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]| {
        let answer = server.connect().ask(method, target, headers, body);
        let done = answer.is_success() || answer.status == 304 || answer.is_clear_refusal();
        assert!(done, "{method} {target}: {} {}", answer.status, answer.text());
        attempts += 1;
        answer
    };
    let listed = fine("GET", "/v1/fs/entries?path=times", &[], b"").succeeds().json();
    assert_eq!(listed.as_array().unwrap().len(), TIMES.len());
    let since = [("If-Modified-Since", "Tue, 15 Nov 1994 08:12:31 GMT")];
    for number in 0..TIMES.len() {
        fine("GET", &format!("/v1/fs/stat?path=times/{number}"), &[], b"").succeeds();
        fine("GET", &format!("/v1/fs/file?path=times/{number}"), &since, b"");
        fine("GET", &format!("/v1/sandboxes/main/fs-stat/times/{number}"), &[], b"").succeeds();
    }
    for format in ["tar", "tar.gz", "tar.zst", "zip"] {
        let target = format!("/v1/sandboxes/main/fs-archive/times?format={format}");
        let archive = fine("GET", &target, &[], b"").succeeds().body;
        let target = format!("/v1/sandboxes/main/fs-archive/back-{format}?format={format}");
        fine("POST", &target, &[], &archive).succeeds();
    }
    let copy = json!({"from": "times", "to": "copy"}).to_string();
    fine("POST", "/v1/fs/copy", &JSON, copy.as_bytes()).succeeds();
    fine("POST", "/v1/sandboxes/main/snapshots", &JSON, br#"{"id": "s"}"#).succeeds();
    fs::remove_dir_all(&root).unwrap();
    fine("POST", "/v1/sandboxes/main/snapshots/s/restore", &JSON, b"{}").succeeds();
    assert_eq!(fs::read_dir(&root).unwrap().count(), TIMES.len());
    score("clock-jumps", &[("attempts", attempts), ("lost", 0), ("5xx", 0)]);
}

/// A file that is changed again and again, and made to look as old and as long as before.
#[test]
fn a_version_tells_changes_that_were_made_to_look_like_none() {
    let premises = Premises::new(&[]);
    let path = premises.root().join("f");
    let staging = premises.staging();
    let server = ServerProcess::start(&premises.root(), &["--staging", staging.to_str().unwrap()]);
    let (mut connection, mut last) = (server.connect(), None);
    let rounds = short_or_long(50, 500);
    for round in 0..rounds {
        // Within one tick, kernels before 6.13 stamp two changes alike.
        thread::sleep(Duration::from_millis(11));
        fs::write(&path, format!("{round:08}")).unwrap();
        let time = Timespec { tv_sec: 1_000_000_000, tv_nsec: 0 };
        let times = Timestamps { last_access: time, last_modification: time };
        utimensat(CWD, &path, &times, AtFlags::empty()).unwrap();
        let now = version(&mut connection, "f");
        assert_ne!(Some(&now), last.as_ref(), "round {round}");
        last = Some(now);
    }
    score("clock-jumps", &[("attempts", rounds), ("lost", 0), ("5xx", 0)]);
}

fn version(connection: &mut Connection, path: &str) -> String {
    connection.send_head("HEAD", &format!("/v1/fs/file?path={path}"), &[], 0).unwrap();
    let head = connection.answer_head().unwrap();
    assert_eq!(head.status, 200);
    head.header("etag").unwrap().to_owned()
}
