//! Clients in great number, most of whom want nothing: those who want something are served as if they
//! were alone.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::attack_form::{EndOnDrop, machine_has, short_or_long};
use crate::outside::Premises;
use crate::raw_http::Connection;
use crate::score::score;
use crate::server_process::ServerProcess;

const HALF_A_HEAD: &[u8] = b"GET /v1/fs/file?path=small HTTP/1.1\r\nHost: te";
/// How long half a head, or no word at all, may hold a connection.
const CUT_OFF: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(3);
/// What a connection that waits may cost.
const KIB_EACH: u64 = 48;

#[test]
fn idle_clients_cost_little_and_slow_nobody() {
    let idle = short_or_long(2_000, 10_000);
    if !can_open(idle + 200) {
        return;
    }
    let (_premises, server) = serve(idle + 200);
    let length = Duration::from_millis(short_or_long(700, 3000));
    percentile(&server, 4, length);
    let alone = percentile(&server, 4, length);
    let before = server.memory_kib();
    let mut waiting: Vec<_> = (0..idle).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        connection.ask("GET", "/v1/health", &[], b"").succeeds();
    }
    server.comes_to_rest();
    let each = server.memory_kib().saturating_sub(before) / idle as u64;
    let beside = (0..3).map(|_| percentile(&server, 4, length)).min().unwrap();
    let left = waiting.iter_mut().filter_map(|connection| connection.is_closed().then_some(()));
    let left = left.count();
    score(
        "idle-connections",
        &[
            ("attempts", idle as u64),
            ("lost", left as u64),
            ("kib_each", each),
            ("p99_alone_us", micros(alone)),
            ("p99_beside_us", micros(beside)),
        ],
    );
    assert_eq!(left, 0, "idle clients were cut off");
    assert!(each < KIB_EACH, "an idle connection takes {each} KiB");
    assert!(is_no_slower(alone, beside), "{alone:?} became {beside:?}");
}

#[test]
fn clients_that_never_finish_their_head_are_cut_off_in_time() {
    let each = short_or_long(500, 3000);
    if !can_open(2 * each + 200) {
        return;
    }
    let (_premises, server) = serve(2 * each + 200);
    let over = AtomicBool::new(false);
    let (held, lasted, slowest) = thread::scope(|scope| {
        let others = scope.spawn(|| slowest_answer(&server, &over));
        let _end = EndOnDrop(&over);
        let mut slow: Vec<_> = (0..2 * each).map(|_| server.connect()).collect();
        for connection in slow.iter_mut().skip(each) {
            connection.send(HALF_A_HEAD).unwrap();
        }
        let begin = Instant::now();
        while !slow.is_empty() && begin.elapsed() < CUT_OFF {
            thread::sleep(Duration::from_millis(100));
            slow.retain_mut(|connection| !connection.is_closed());
        }
        over.store(true, Ordering::Relaxed);
        (slow.len(), begin.elapsed(), others.join().unwrap())
    });
    score(
        "S10",
        &[
            ("attempts", 2 * each as u64),
            ("hung", held as u64 + u64::from(slowest > PATIENCE)),
            ("gone_ms", u64::try_from(lasted.as_millis()).unwrap()),
            ("slowest_ms", u64::try_from(slowest.as_millis()).unwrap()),
        ],
    );
    assert_eq!(held, 0, "still held after {CUT_OFF:?}");
    assert!(slowest < PATIENCE, "others waited for {slowest:?}");
}

#[test]
fn five_hundred_busy_clients_are_served_evenly_beside_slow_ones() {
    const BUSY: usize = 500;
    const SLOW: usize = 300;
    if !can_open(BUSY + SLOW + 100) {
        return;
    }
    let (_premises, server) = serve(BUSY + SLOW + 100);
    let length = Duration::from_millis(short_or_long(1500, 10_000));
    percentile(&server, BUSY, length / 3);
    let alone = (0..3).map(|_| percentile(&server, BUSY, length)).min().unwrap();
    let beside = (0..3).map(|_| {
        let mut slow: Vec<_> = (0..SLOW).map(|_| server.connect()).collect();
        for connection in &mut slow {
            connection.send(HALF_A_HEAD).unwrap();
        }
        percentile(&server, BUSY, length)
    });
    let beside = beside.min().unwrap();
    score(
        "S9",
        &[
            ("attempts", BUSY as u64),
            ("5xx", 0),
            ("p99_alone_us", micros(alone)),
            ("p99_beside_us", micros(beside)),
        ],
    );
    assert!(alone < Duration::from_millis(100), "{alone:?}");
    assert!(is_no_slower(alone, beside), "{alone:?} became {beside:?}");
}

/// A server that lets so many in, over a directory with one small file.
fn serve(connections: usize) -> (Premises, ServerProcess) {
    let premises = Premises::in_memory(&[]);
    fs::write(premises.root().join("small"), vec![7; 4096]).unwrap();
    let (most, staging) = (connections.to_string(), premises.staging());
    let flags = ["--max-connections", &most, "--staging", staging.to_str().unwrap()];
    let server = ServerProcess::start(&premises.root(), &flags);
    (premises, server)
}

/// Lets this process, and the server that inherits it, have so many sockets and some more.
fn can_open(sockets: usize) -> bool {
    let wanted = sockets as u64 + 500;
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(wanted, |most| most.max(wanted));
    let raised = Rlimit { current: Some(wanted), maximum: Some(most) };
    let enough = limit.current.is_none_or(|current| current >= wanted);
    machine_has("many descriptors", enough || setrlimit(Resource::Nofile, raised).is_ok())
}

/// The 99th percentile of small reads by clients that ask in turn, from eight threads.
fn percentile(server: &ServerProcess, clients: usize, length: Duration) -> Duration {
    let threads = clients.min(8);
    let client = || {
        let mut own: Vec<_> = (0..clients / threads).map(|_| server.connect()).collect();
        let (end, mut times) = (Instant::now() + length, Vec::new());
        while Instant::now() < end {
            for connection in &mut own {
                let begin = Instant::now();
                connection.ask("GET", "/v1/fs/file?path=small", &[], b"").succeeds();
                times.push(begin.elapsed());
            }
        }
        times
    };
    let mut times: Vec<_> = thread::scope(|scope| {
        let clients: Vec<_> = (0..threads).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    times.sort();
    times[times.len() * 99 / 100]
}

/// Half as much again, or two milliseconds, are the machine's.
fn is_no_slower(alone: Duration, beside: Duration) -> bool {
    beside <= (alone * 3 / 2).max(alone + Duration::from_millis(2))
}

fn slowest_answer(server: &ServerProcess, over: &AtomicBool) -> Duration {
    let mut slowest = Duration::ZERO;
    while !over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        let mut connection: Connection = server.connect();
        connection.ask("GET", "/v1/fs/file?path=small", &[], b"").succeeds();
        slowest = slowest.max(begin.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
    slowest
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap()
}
