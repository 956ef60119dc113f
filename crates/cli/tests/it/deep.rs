//! Trees that are deeper or wider than a path, a stack or a descriptor table allows.

use std::fs;
use std::iter;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use crate::attack_form::{EndOnDrop, short_or_long};
use crate::memory::{listed_by_pages, make_entries};
use crate::mounted::Mounted;
use crate::outside::Premises;
use crate::raw_http::JSON;
use crate::score::score;
use crate::server_process::ServerProcess;

const LEVELS: usize = 15_000;
const LEVEL: OFlags = OFlags::DIRECTORY.union(OFlags::PATH).union(OFlags::CLOEXEC);
/// A request has its connection, and an operation a few directories, whatever the size of the tree.
const DESCRIPTORS_OF_A_REQUEST: usize = 32;

#[test]
fn a_tree_of_15000_levels_is_deleted_by_one_call() {
    let premises = Premises::new(&[]);
    let server = start(&premises);
    make_deep(&premises.root().join("deep"));
    let begin = Instant::now();
    with_constant_descriptors(&server, || {
        server.ask("DELETE", "/v1/fs/entry?path=deep&recursive=true", b"").succeeds();
    });
    eprintln!("deep: {LEVELS} levels deleted by one call in {:?}", begin.elapsed());
    assert!(!premises.root().join("deep").exists());
    premises.becomes_clean();
}

#[test]
fn a_tree_of_15000_levels_is_deleted_where_nothing_can_be_set_aside() {
    let premises = Premises::new(&[]);
    let Some(_alone) = Mounted::alone(&premises.root()) else { return };
    let server = ServerProcess::start(&premises.root(), &[]);
    make_deep(&premises.root().join("deep"));
    with_constant_descriptors(&server, || {
        server.ask("DELETE", "/v1/fs/entry?path=deep&recursive=true", b"").succeeds();
    });
    assert!(!premises.root().join("deep").exists());
    premises.becomes_clean();
}

#[test]
fn a_tree_of_15000_levels_is_listed_to_the_path_limit() {
    let premises = Premises::new(&[]);
    let server = start(&premises);
    make_deep(&premises.root().join("deep"));
    // "/deep" and then "/d" each: 4,096 bytes are the limit of a path.
    let path = |levels: usize| format!("/deep{}", "/d".repeat(levels));
    let list = |levels| server.ask("GET", &format!("/v1/fs/entries?path={}", path(levels)), b"");
    with_constant_descriptors(&server, || {
        assert_eq!(list(2045).succeeds().json()[0]["name"], "d");
        let refused = list(2046);
        assert!(refused.is_clear_refusal(), "{} {}", refused.status, refused.text());
    });
    server.ask("DELETE", "/v1/fs/entry?path=deep&recursive=true", b"").succeeds();
}

#[test]
fn a_tree_of_15000_levels_harms_no_archive() {
    let premises = Premises::new(&[]);
    let server = start(&premises);
    make_deep(&premises.root().join("deep"));
    with_constant_descriptors(&server, || {
        // A path limit is met in the middle of the archive, which then breaks off.
        server.connect().try_ask("GET", "/v1/fs/download-batch?path=deep", &[], b"").ok();
    });
    server.ask("GET", "/v1/health", b"").succeeds();
    server.ask("DELETE", "/v1/fs/entry?path=deep&recursive=true", b"").succeeds();
}

#[test]
fn a_tree_that_no_path_can_name_is_copied() {
    let premises = Premises::new(&[]);
    let server = start(&premises);
    let depth = short_or_long(2500, LEVELS);
    make_levels(&premises.root().join("deep"), depth);
    with_constant_descriptors(&server, || {
        let body = br#"{"from":"deep","to":"copy"}"#;
        server.connect().ask("POST", "/v1/fs/copy", &JSON, body).succeeds();
    });
    assert_eq!(levels(&premises.root().join("copy")), depth);
    for tree in ["deep", "copy"] {
        let target = format!("/v1/fs/entry?path={tree}&recursive=true");
        server.ask("DELETE", &target, b"").succeeds();
    }
}

#[test]
fn a_directory_of_a_million_files_is_listed_page_by_page_and_deleted() {
    let premises = Premises::new(&[]);
    let entries: u64 = short_or_long(100_000, 1_000_000);
    make_entries(&premises.root().join("crowd"), entries);
    let server = start(&premises);
    with_constant_descriptors(&server, || {
        let begin = Instant::now();
        assert_eq!(listed_by_pages(&server, entries / 50), entries);
        let listed = begin.elapsed();
        server.ask("DELETE", "/v1/fs/entry?path=crowd&recursive=true", b"").succeeds();
        let deleted = begin.elapsed() - listed;
        eprintln!("deep: {entries} files listed in 50 pages in {listed:?}, deleted in {deleted:?}");
    });
    assert!(!premises.root().join("crowd").exists());
    premises.becomes_clean();
    score("wide-trees", &[("attempts", entries), ("hung", 0), ("5xx", 0)]);
}

fn start(premises: &Premises) -> ServerProcess {
    let staging = premises.staging();
    ServerProcess::start(&premises.root(), &["--staging", staging.to_str().unwrap()])
}

fn make_deep(top: &Path) {
    make_levels(top, LEVELS);
}

/// Makes a tree level by level, since no path can name its end.
fn make_levels(top: &Path, levels: usize) {
    fs::create_dir(top).unwrap();
    let mut dir = openat(CWD, top, LEVEL, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&dir, "d", Mode::from(0o755)).unwrap();
        dir = openat(&dir, "d", LEVEL, Mode::empty()).unwrap();
    }
}

/// How deep a tree is.
fn levels(top: &Path) -> usize {
    let first = openat(CWD, top, LEVEL, Mode::empty()).ok();
    let below = |dir: &OwnedFd| openat(dir, "d", LEVEL, Mode::empty()).ok();
    iter::successors(first, below).count() - 1
}

/// Watches the descriptors of the server during some work.
fn with_constant_descriptors(server: &ServerProcess, work: impl FnOnce()) {
    server.ask("GET", "/v1/health", b"").succeeds();
    let before = server.descriptors();
    let over = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = before;
            while !over.load(Ordering::Relaxed) {
                most = most.max(server.descriptors());
                thread::sleep(Duration::from_micros(500));
            }
            most
        });
        let end = EndOnDrop(&over);
        work();
        drop(end);
        watch.join().unwrap()
    });
    eprintln!("deep: {before} descriptors before, {most} at most");
    score("deep-trees", &[("attempts", 1), ("hung", 0), ("5xx", 0), ("descriptors", most as u64)]);
    assert!(most <= before + DESCRIPTORS_OF_A_REQUEST, "{before} became {most}");
}
