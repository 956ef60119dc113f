//! An attacker inside swaps directories and files for links to the outside, or for second names of
//! what lies there, while clients work through them. Landlock is off: the first wall must hold alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::archive::archive;
use crate::attack_form::short_or_long;
use crate::dice::Dice;
use crate::outside::{CANARY, Premises, holds_canary};
use crate::raw_http::{APPEND, Answer, Connection, JSON, TAR};
use crate::score::score;
use crate::server_process::ServerProcess;

const INSIDE: &[u8] = b"inside";
const CLIENTS: u64 = 4;
/// A request that takes this long hangs.
const HANGS: Duration = Duration::from_secs(10);

/// Names that exist on both sides, so that a lost race finds something to harm.
const SHARED: [&str; 5] = ["file", "log", "victim", "tree/leaf", "w1"];

#[test]
fn a_directory_swapped_for_a_link_leads_nobody_out() {
    let premises = premises();
    let root = premises.root();
    fs::create_dir_all(root.join("door/tree")).unwrap();
    for name in SHARED {
        fs::write(root.join("door").join(name), INSIDE).unwrap();
    }
    symlink("../outside", root.join("swap")).unwrap();
    // A legal way in through `..`: the kernel must retry its walk when a rename disturbs it.
    fs::create_dir_all(root.join("deep/er")).unwrap();
    symlink("../../door", root.join("deep/er/way")).unwrap();
    let exchange = |_| {
        let (door, swap) = (root.join("door"), root.join("swap"));
        renameat_with(CWD, door, CWD, swap, RenameFlags::EXCHANGE).unwrap();
    };
    let sums = attack(&premises, "directory", exchange, |connection, dice| {
        let door = *dice.pick(&["door", "door", "deep/er/way"]);
        if dice.once_in(3) {
            through_sandbox(connection, dice, door)
        } else {
            through_directory(connection, dice, door)
        }
    });
    premises.assert_outside_is_untouched();
    premises.assert_nothing_was_carried_in();
    assert_enough_was_served(&sums);
}

#[test]
fn a_file_swapped_for_a_link_leads_nobody_out() {
    let premises = premises();
    let root = premises.root();
    let replace = |turn: u64| {
        let next = root.join("next");
        if turn.is_multiple_of(2) {
            symlink("../outside/file", &next).unwrap();
        } else {
            fs::write(&next, INSIDE).unwrap();
        }
        fs::rename(&next, root.join("leaf")).unwrap();
    };
    replace(1);
    let sums = attack(&premises, "leaf", replace, through_leaf);
    premises.assert_outside_is_untouched();
    premises.assert_nothing_was_carried_in();
    assert_enough_was_served(&sums);
}

/// Whoever may link a file may read it, so that only what changes it is an escape.
#[test]
fn a_file_swapped_for_another_name_of_an_outside_one_is_never_changed() {
    let premises = premises();
    let (root, outside) = (premises.root(), premises.outside().join("file"));
    let look = || {
        let metadata = fs::metadata(&outside).unwrap();
        (fs::read(&outside).unwrap(), metadata.mode(), metadata.mtime(), metadata.mtime_nsec())
    };
    let before = look();
    let (next, leaf) = (root.join("next"), root.join("leaf"));
    // By replacing the name, and by taking it away. Others make both names and restore the directory, so
    // that any step may fail; and what is written is surely a new file.
    let swap = |turn: u64| match turn % 4 {
        0 => {
            let _raced = fs::hard_link(&outside, &next);
            let _raced = fs::rename(&next, &leaf);
        }
        1 | 3 => {
            let _raced = fs::remove_file(&next);
            let made = fs::File::create_new(&next).and_then(|mut file| file.write_all(INSIDE));
            let _raced = made.and_then(|()| fs::rename(&next, &leaf));
        }
        _ => {
            let _raced = fs::remove_file(&leaf);
            let _raced = fs::hard_link(&outside, &leaf);
            let _raced = fs::remove_file(&leaf);
        }
    };
    swap(1);
    let sums = attack(&premises, "hard link", swap, |connection, dice| {
        let (sort, outcome) = through_second_name(connection, dice);
        if look() == before { (sort, outcome) } else { (sort, escaped("the outside changed")) }
    });
    assert_eq!(look(), before);
    assert_enough_was_served(&sums);
}

/// What became of one request.
enum Outcome {
    /// It was done, inside.
    Served,
    /// It was refused.
    Refused,
    /// It touched the outside.
    Escaped(String),
    /// The server failed.
    Failed(String),
}

/// Requests of one sort.
#[derive(Default)]
struct Tally {
    attempts: u64,
    served: u64,
    escaped: u64,
    failed: u64,
    hung: u64,
    /// The first that went wrong.
    wrong: Option<String>,
}

type Tallies = BTreeMap<&'static str, Tally>;

impl Tally {
    fn note(&mut self, outcome: Outcome, took: Duration) {
        self.attempts += 1;
        self.hung += u64::from(took > HANGS);
        match outcome {
            Outcome::Served => self.served += 1,
            Outcome::Refused => {}
            Outcome::Escaped(how) => {
                self.escaped += 1;
                self.wrong.get_or_insert(format!("escaped: {how}"));
            }
            Outcome::Failed(how) => {
                self.failed += 1;
                self.wrong.get_or_insert(format!("failed: {how}"));
            }
        }
    }

    fn add(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.served += other.served;
        self.escaped += other.escaped;
        self.failed += other.failed;
        self.hung += other.hung;
        self.wrong = self.wrong.take().or(other.wrong);
    }
}

fn premises() -> Premises {
    let only_outside = ["canary", "tree/canary"];
    Premises::new(&[&SHARED[..], &only_outside].concat())
}

/// Lets one attacker and four clients loose, and counts.
fn attack(
    premises: &Premises,
    scheme: &str,
    swap: impl Fn(u64) + Sync,
    request: impl Fn(&mut Connection, &mut Dice) -> (&'static str, Outcome) + Sync,
) -> Tallies {
    let flags = ["--no-landlock", "--durability", "relaxed", "--snapshots", "memory:", "--staging"];
    let staging = premises.staging();
    let flags = [&flags[..], &[staging.to_str().unwrap()]].concat();
    let server = ServerProcess::start(&premises.root(), &flags);
    let target = "/v1/sandboxes/main/snapshots";
    server.connect().ask("POST", target, &JSON, br#"{"id":"before"}"#).succeeds();
    let end = Instant::now() + Duration::from_secs(short_or_long(10, 60));
    let enough = short_or_long(1, 50_000 / CLIENTS);
    let over = AtomicBool::new(false);
    let client = |seed: u64| {
        let (mut connection, mut dice) = (server.connect(), Dice::new(seed));
        let mut tallies = Tallies::new();
        while Instant::now() < end || tallies.values().any(|tally| tally.attempts < enough) {
            let begin = Instant::now();
            let (sort, outcome) = request(&mut connection, &mut dice);
            tallies.entry(sort).or_default().note(outcome, begin.elapsed());
        }
        tallies
    };
    let (swaps, tallies) = thread::scope(|scope| {
        let attacker = scope.spawn(|| {
            let turns = (0_u64..).take_while(|_| !over.load(Ordering::Relaxed));
            turns.inspect(|turn| swap(*turn)).count()
        });
        let clients: Vec<_> = (0..CLIENTS).map(|seed| scope.spawn(move || client(seed))).collect();
        let tallies: Vec<_> = clients.into_iter().map(thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        (attacker.join().unwrap(), tallies)
    });
    judge(scheme, swaps, tallies.into_iter().map(Result::unwrap))
}

fn judge(scheme: &str, swaps: usize, tallies: impl Iterator<Item = Tallies>) -> Tallies {
    let mut sums = Tallies::new();
    for (sort, tally) in tallies.flatten() {
        sums.entry(sort).or_default().add(tally);
    }
    for (sort, Tally { attempts, served, escaped, .. }) in &sums {
        eprintln!("race, {scheme}: {sort:9} {served:7} of {attempts:7} inside, {escaped} escaped");
    }
    eprintln!("race, {scheme}: {swaps} swaps");
    // A second name is another hole than a link.
    score(
        if scheme == "hard link" { "hard-links" } else { "S1" },
        &[
            ("attempts", total(&sums, |tally| tally.attempts)),
            ("served", total(&sums, |tally| tally.served)),
            ("escapes", total(&sums, |tally| tally.escaped)),
            ("hung", total(&sums, |tally| tally.hung)),
            ("5xx", total(&sums, |tally| tally.failed)),
        ],
    );
    for (sort, tally) in &sums {
        assert!(tally.wrong.is_none(), "{sort} {}", tally.wrong.as_deref().unwrap_or_default());
        assert_eq!(tally.hung, 0, "{sort} hung");
    }
    sums
}

fn total(sums: &Tallies, count: fn(&Tally) -> u64) -> u64 {
    sums.values().map(count).sum()
}

fn assert_enough_was_served(sums: &Tallies) {
    let attempts = total(sums, |tally| tally.attempts);
    let served = total(sums, |tally| tally.served);
    assert!(served * 5 >= attempts, "fewer than a fifth were served: the attack proves nothing");
}

/// One request through the swapped directory.
fn through_directory(
    connection: &mut Connection,
    dice: &mut Dice,
    door: &str,
) -> (&'static str, Outcome) {
    let number = dice.below(20);
    let get = |connection: &mut Connection, call: &str, name: &str| {
        connection.ask("GET", &format!("/v1/fs/{call}?path={door}{name}"), &[], b"")
    };
    match dice.below(14) {
        0 => ("read", judge_content(&get(connection, "file", "/file"))),
        1 => ("list", judge_listing(&get(connection, "entries", ""))),
        2 => ("stat", judge_size(&get(connection, "stat", "/file"))),
        3 => ("pack", pack(connection, door)),
        4 => ("peek", never(&get(connection, "stat", "/canary"))),
        5 => ("write", put(connection, &format!("{door}/w{number}"))),
        6 => {
            let target = format!("/v1/fs/file?path={door}/log");
            ("append", judge_status(&connection.ask("PATCH", &target, &APPEND, b"+")))
        }
        7 => {
            let target = format!("/v1/fs/mkdir?path={door}/d{number}/e");
            ("mkdir", judge_status(&connection.ask("POST", &target, &[], b"")))
        }
        8 => ("move", relocate(connection, "move", &format!("{door}/w{number}"), "moved/x")),
        9 => {
            put(connection, &format!("loose{number}"));
            let to = format!("{door}/w{number}");
            ("move in", relocate(connection, "move", &format!("loose{number}"), &to))
        }
        10 => {
            let to = format!("stolen{number}");
            ("steal", judge_theft(relocate(connection, "move", &format!("{door}/canary"), &to)))
        }
        11 => ("copy", relocate(connection, "copy", &format!("{door}/tree"), "copied")),
        12 => {
            let name = *dice.pick(&["victim", "tree", "w1"]);
            put(connection, &format!("{door}/{name}/leaf"));
            let target = format!("/v1/fs/entry?path={door}/{name}&recursive=true");
            ("delete", judge_status(&connection.ask("DELETE", &target, &[], b"")))
        }
        _ => {
            let target = format!("/v1/fs/upload-batch?path={door}");
            let body = archive(&[(&format!("tree/u{number}"), INSIDE)]);
            ("upload", judge_status(&connection.ask("POST", &target, &TAR, &body)))
        }
    }
}

/// One request through the swapped directory by the interface of many sandboxes, which can do more.
fn through_sandbox(
    connection: &mut Connection,
    dice: &mut Dice,
    door: &str,
) -> (&'static str, Outcome) {
    let number = dice.below(20);
    let mut post = |call: &str, name: &str, body: serde_json::Value| {
        let target = format!("/v1/sandboxes/main/fs-{call}/{door}{name}");
        connection.ask("POST", &target, &JSON, body.to_string().as_bytes())
    };
    // What answers by a stream breaks it off when the way ends under it, and is left to the engine's tests.
    match dice.below(4) {
        0 => {
            let edit = json!({"replacements": [{"old": "ins", "new": "ins", "all": true}]});
            ("edit", judge_content(&post("edit", "/file", edit)))
        }
        1 => ("chmod", judge_status(&post("chmod", "/log", json!({"mode": "604"})))),
        2 => ("truncate", judge_status(&post("truncate", "/log", json!({"size": number})))),
        _ => {
            let target = format!("/v1/sandboxes/main/fs-link/{door}/l{number}");
            let body = json!({"target": "file"}).to_string();
            let answer = connection.ask("PUT", &target, &JSON, body.as_bytes());
            ("link", judge_status(&answer))
        }
    }
}

/// One change of the file that is now and then another name of one outside.
fn through_second_name(connection: &mut Connection, dice: &mut Dice) -> (&'static str, Outcome) {
    let leaf = "/v1/fs/file?path=leaf";
    let mut post = |call: &str, body: serde_json::Value| {
        let target = format!("/v1/sandboxes/main/fs-{call}/leaf");
        judge_status(&connection.ask("POST", &target, &JSON, body.to_string().as_bytes()))
    };
    match dice.below(9) {
        0 => ("append", judge_status(&connection.ask("PATCH", leaf, &APPEND, b"+"))),
        1 => {
            let middle = [("Content-Range", "bytes 0-1/*")];
            ("patch", judge_status(&connection.ask("PATCH", leaf, &middle, b"in")))
        }
        2 => ("write", put(connection, "leaf")),
        3 => ("chmod", post("chmod", json!({"mode": "600"}))),
        4 => ("truncate", post("truncate", json!({"size": 2}))),
        5 => ("lengthen", post("truncate", json!({"size": 10_000}))),
        6 => ("date", post("chmod", json!({"modified": "2001-01-01T00:00:00Z"}))),
        7 => {
            let target = "/v1/sandboxes/main/snapshots/before/restore";
            ("restore", judge_status(&connection.ask("POST", target, &JSON, b"{}")))
        }
        _ => {
            let edit = json!({"replacements": [{"old": "in", "new": "IN", "all": true}]});
            ("edit", post("edit", edit))
        }
    }
}

/// One request at the swapped file.
fn through_leaf(connection: &mut Connection, dice: &mut Dice) -> (&'static str, Outcome) {
    match dice.below(6) {
        0 => ("read", judge_content(&connection.ask("GET", "/v1/fs/file?path=leaf", &[], b""))),
        1 => ("stat", judge_size(&connection.ask("GET", "/v1/fs/stat?path=leaf", &[], b""))),
        2 => ("write", put(connection, "leaf")),
        3 => (
            "append",
            judge_status(&connection.ask("PATCH", "/v1/fs/file?path=leaf", &APPEND, b"")),
        ),
        4 => ("copy", relocate(connection, "copy", "leaf", "copied")),
        _ => {
            let target = "/v1/fs/upload-batch?path=.";
            (
                "upload",
                judge_status(&connection.ask("POST", target, &TAR, &archive(&[("leaf", INSIDE)]))),
            )
        }
    }
}

fn escaped(how: &str) -> Outcome {
    Outcome::Escaped(how.to_owned())
}

fn put(connection: &mut Connection, path: &str) -> Outcome {
    judge_status(&connection.ask("PUT", &format!("/v1/fs/file?path={path}"), &[], INSIDE))
}

/// An archive breaks off when its directory turns into something else on the way.
fn pack(connection: &mut Connection, door: &str) -> Outcome {
    let target = format!("/v1/fs/download-batch?path={door}");
    if let Ok(answer) = connection.try_ask("GET", &target, &[], b"") {
        return judge_content(&answer);
    }
    connection.reopen();
    Outcome::Refused
}

fn relocate(connection: &mut Connection, call: &str, from: &str, to: &str) -> Outcome {
    let body = json!({"from": from, "to": to, "overwrite": true}).to_string();
    judge_status(&connection.ask("POST", &format!("/v1/fs/{call}"), &JSON, body.as_bytes()))
}

fn judge_status(answer: &Answer) -> Outcome {
    match answer.status {
        200..300 => Outcome::Served,
        400..500 | 503 => Outcome::Refused,
        _ => Outcome::Failed(format!("{} {}", answer.status, answer.text())),
    }
}

fn judge_content(answer: &Answer) -> Outcome {
    if holds_canary(&answer.body) {
        return escaped(&answer.text());
    }
    judge_status(answer)
}

fn judge_listing(answer: &Answer) -> Outcome {
    if answer.is_success() && answer.text().contains("canary") {
        return escaped(&answer.text());
    }
    judge_status(answer)
}

fn judge_size(answer: &Answer) -> Outcome {
    if answer.is_success() && answer.json()["size"] == CANARY.len() {
        return escaped(&answer.text());
    }
    judge_status(answer)
}

/// What exists outside only may never be found.
fn never(answer: &Answer) -> Outcome {
    judge_theft(judge_status(answer))
}

fn judge_theft(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Served => escaped("what is only outside was found"),
        Outcome::Refused => Outcome::Refused,
        Outcome::Escaped(how) => Outcome::Escaped(how),
        Outcome::Failed(how) => Outcome::Failed(how),
    }
}
