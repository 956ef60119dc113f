//! Clients that never come to the point: heads, chunks and requests without end. Each is cut off, costs
//! little memory, and holds up nobody.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::attack_form::{EndOnDrop, short_or_long};
use crate::input::{premises, start, unharmed};
use crate::raw_http::Connection;
use crate::score::score;
use crate::server_process::ServerProcess;

const LIMIT_MIB: u64 = 48;
const AT_ONCE: usize = 16;
/// Whoever waits longer for an answer is held up.
const PATIENCE: Duration = Duration::from_secs(3);

/// By then a flood that was answered is not heard any more.
const CLOSED: Duration = Duration::from_secs(20);

/// What a flood begins with, and what it repeats.
struct Flood {
    name: &'static str,
    begin: &'static str,
    again: &'static str,
}

/// Floods that no server has to take to their end. `TOKEN` is the header of one that is let in.
const FLOODS: [Flood; 9] = [
    Flood { name: "a target", begin: "GET /v1/fs/file?path=", again: "aaaaaaaa" },
    Flood { name: "a method", begin: "", again: "GETGETGE" },
    Flood { name: "empty lines", begin: "", again: "\r\n\r\n\r\n\r\n" },
    Flood { name: "a header", begin: "GET / HTTP/1.1\r\nX-Long: ", again: "aaaaaaaa" },
    Flood { name: "a name of a header", begin: "GET / HTTP/1.1\r\n", again: "aaaaaaaa" },
    Flood { name: "headers", begin: "GET / HTTP/1.1\r\n", again: "X-Other: a\r\n" },
    Flood { name: "cookies", begin: "GET / HTTP/1.1\r\n", again: "Cookie: a=b\r\n" },
    Flood {
        name: "an extension of a chunk",
        begin: "PUT /v1/fs/file?path=made HTTP/1.1\r\nHost: x\r\nTOKEN\r\n\
                Transfer-Encoding: chunked\r\n\r\n4;",
        again: "aaaaaaaa",
    },
    Flood {
        name: "trailers",
        begin: "PUT /v1/fs/file?path=made HTTP/1.1\r\nHost: x\r\nTOKEN\r\n\
                Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n",
        again: "X-Other: a\r\n",
    },
];

#[test]
fn a_flood_is_cut_off_and_holds_up_nobody() {
    let premises = premises();
    let server = start(&premises);
    let over = AtomicBool::new(false);
    let (slowest, floods) = thread::scope(|scope| {
        let others = scope.spawn(|| slowest_answer(&server, &over));
        let _end = EndOnDrop(&over);
        let mut floods = 0;
        for flood in &FLOODS {
            let floodings: Vec<_> =
                (0..AT_ONCE).map(|_| scope.spawn(|| pour(&server, flood))).collect();
            floods += floodings.len();
            for flooding in floodings {
                flooding.join().unwrap();
            }
        }
        over.store(true, Ordering::Relaxed);
        (others.join().unwrap(), floods)
    });
    let peak = server.peak_memory_mib();
    let millis = u64::try_from(slowest.as_millis()).unwrap();
    score(
        "header-floods",
        &[
            ("attempts", floods as u64),
            ("hung", u64::from(slowest > PATIENCE)),
            ("5xx", 0),
            ("slowest_ms", millis),
            ("peak_mib", peak),
        ],
    );
    assert!(slowest < PATIENCE, "others waited for {slowest:?}");
    assert!(peak < LIMIT_MIB, "{peak} MiB");
    unharmed(&premises, &server);
}

/// Sends a flood until the server has enough of it. It answers, and takes for a moment what still comes,
/// so that the answer is seen.
fn pour(server: &ServerProcess, flood: &Flood) {
    let most: usize = short_or_long(8 << 20, 256 << 20);
    let mut connection = server.connect();
    let begin = flood.begin.replace("TOKEN", &server.credentials());
    connection.send(begin.as_bytes()).unwrap();
    let piece = flood.again.repeat((64 << 10) / flood.again.len());
    let mut sent = 0;
    while sent < most && connection.send(piece.as_bytes()).is_ok() {
        sent += piece.len();
    }
    if let Ok(answer) = connection.answer() {
        assert!((400..500).contains(&answer.status), "{}: {}", flood.name, answer.status);
    }
    let begin = Instant::now();
    while !connection.is_closed() {
        assert!(begin.elapsed() < CLOSED, "{} is still heard after {sent} bytes", flood.name);
        thread::sleep(Duration::from_millis(10));
    }
}

/// The longest time that somebody else waits for an answer.
fn slowest_answer(server: &ServerProcess, over: &AtomicBool) -> Duration {
    let (mut connection, mut slowest) = (server.connect(), Duration::ZERO);
    while !over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        connection.ask("GET", "/v1/fs/file?path=kept", &[], b"").succeeds();
        slowest = slowest.max(begin.elapsed());
        thread::sleep(Duration::from_millis(5));
    }
    slowest
}

/// A client that asks and asks and takes no answer is not read from any more.
#[test]
fn requests_whose_answers_nobody_takes_are_not_piled_up() {
    let premises = premises();
    std::fs::write(premises.root().join("large"), vec![7; 1 << 20]).unwrap();
    let server = start(&premises);
    let asked = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| asked.fetch_add(ask_in_vain(&server), Ordering::Relaxed));
        }
    });
    let (asked, peak) = (asked.into_inner(), server.peak_memory_mib());
    score("header-floods", &[("attempts", asked), ("hung", 0), ("5xx", 0), ("peak_mib", peak)]);
    assert!(peak < LIMIT_MIB, "{peak} MiB");
    server.ask("GET", "/v1/fs/file?path=kept", b"").succeeds();
}

/// Asks until the server reads no more, or often enough; gives how often.
fn ask_in_vain(server: &ServerProcess) -> u64 {
    let mut connection = server.connect();
    connection.set_patience(Duration::from_millis(500));
    let most = short_or_long(20_000, 200_000);
    let asked = (0..most).take_while(|_| {
        let sent: io::Result<()> = connection.send_head("GET", "/v1/fs/file?path=large", &[], 0);
        sent.is_ok()
    });
    asked.count() as u64
}

/// Many small pieces are as good as one large one.
#[test]
fn a_body_in_chunks_of_one_byte_arrives() {
    let premises = premises();
    let server = start(&premises);
    let length = 200_000;
    let mut connection: Connection = server.connect();
    let chunked = [("Transfer-Encoding", "chunked")];
    connection.send_bare_head("PUT", "/v1/fs/file?path=made", &chunked).unwrap();
    connection.send("1\r\nx\r\n".repeat(length).as_bytes()).unwrap();
    connection.send(b"0\r\n\r\n").unwrap();
    assert_eq!(connection.answer().unwrap().succeeds().json()["bytesWritten"], length);
    let peak = server.peak_memory_mib();
    score("header-floods", &[("attempts", 1), ("hung", 0), ("5xx", 0), ("peak_mib", peak)]);
    assert!(peak < LIMIT_MIB, "{peak} MiB");
}
