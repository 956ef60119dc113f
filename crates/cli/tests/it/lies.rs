//! Bodies that are not as long as they say, on the way in and on the way out.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::attack_form::{EndOnDrop, short_or_long};
use crate::dice::Dice;
use crate::input::{premises, start, unharmed};
use crate::outside::Premises;
use crate::raw_http::TAR;
use crate::score::score;
use crate::server_process::ServerProcess;

/// A head that lies: what about, its headers, and what follows it.
type Lie = (&'static str, &'static str, &'static [u8]);

/// None of these may make or change a file. A length beside chunks is none, as HTTP has it; what such a
/// request may lead to is in `server/framing`.
const LIES: [Lie; 18] = [
    ("more than is sent", "Content-Length: 1000", b"half"),
    ("nearly everything", "Content-Length: 18446744073709551615", b"x"),
    ("more than everything", "Content-Length: 18446744073709551616", b"x"),
    ("a sign", "Content-Length: +4", b"four"),
    ("less than nothing", "Content-Length: -4", b"four"),
    ("hexadecimal", "Content-Length: 0x4", b"four"),
    ("two at once", "Content-Length: 4, 5", b"four5"),
    ("two lines", "Content-Length: 4\r\nContent-Length: 5", b"four5"),
    ("chunks, then something else", "Transfer-Encoding: chunked, gzip", b"0\r\n\r\n"),
    ("chunks in capitals twice", "Transfer-Encoding: Chunked, Chunked", b"0\r\n\r\n"),
    ("a chunk without an end", "Transfer-Encoding: chunked", b"4\r\nfour"),
    ("chunks without a last one", "Transfer-Encoding: chunked", b"4\r\nfour\r\n"),
    ("a chunk that is longer", "Transfer-Encoding: chunked", b"2\r\nfour\r\n0\r\n\r\n"),
    ("a chunk that is shorter", "Transfer-Encoding: chunked", b"8\r\nfour\r\n0\r\n\r\n"),
    ("a chunk beyond every number", "Transfer-Encoding: chunked", b"fffffffffffffffff\r\nx"),
    ("a chunk of almost everything", "Transfer-Encoding: chunked", b"ffffffffffffffff\r\nx"),
    ("a chunk of a negative length", "Transfer-Encoding: chunked", b"-1\r\nx\r\n0\r\n\r\n"),
    ("a promise", "Content-Length: 1000\r\nExpect: 100-continue", b""),
];

#[test]
fn a_request_that_lies_about_its_length_changes_nothing() {
    let premises = premises();
    let server = start(&premises);
    let calls = [
        ("PUT", "/v1/fs/file?path=made"),
        ("PUT", "/v1/fs/file?path=kept"),
        ("PATCH", "/v1/fs/file?path=kept"),
        ("POST", "/v1/fs/upload-batch?path=made"),
        ("PUT", "/v1/sandboxes/main/fs/made"),
    ];
    let mut attempts = 0;
    for (method, target) in calls {
        for (lie, headers, body) in LIES {
            tell(&server, method, target, lie, headers, body);
            attempts += 1;
        }
    }
    unharmed(&premises, &server);
    score("lying-bodies", &[("attempts", attempts), ("torn", 0), ("escapes", 0), ("5xx", 0)]);
}

/// Sends a lie and closes; whatever is answered is a refusal.
fn tell(server: &ServerProcess, method: &str, target: &str, lie: &str, headers: &str, body: &[u8]) {
    let mut connection = server.connect();
    let kind = if target.contains("upload") { TAR[0].1 } else { "application/octet-stream" };
    let headers: Vec<_> =
        headers.split("\r\n").map(|header| header.split_once(": ").unwrap()).collect();
    let all = [&headers[..], &[("Content-Type", kind), ("X-Append", "1")]].concat();
    connection.send_bare_head(method, target, &all).unwrap();
    connection.send(body).ok();
    connection.end_sending();
    if let Ok(answer) = connection.answer() {
        // An encoding that nobody knows is a 501, as HTTP has it.
        let refused = (400..500).contains(&answer.status) || answer.status == 501;
        assert!(refused, "{lie}, {method} {target}: {} {}", answer.status, answer.text());
    }
}

/// What stands behind a body is the next request, with rights of its own; it is never a part of the
/// file.
#[test]
fn what_follows_a_body_is_not_in_the_file() {
    let premises = premises();
    let server = start(&premises);
    let mut connection = server.connect();
    let length = [("Content-Length", "4")];
    connection.send_bare_head("PUT", "/v1/fs/file?path=kept", &length).unwrap();
    let smuggled = "DELETE /v1/fs/entry?path=kept HTTP/1.1\r\nHost: test\r\n\r\n";
    connection.send(format!("kept{smuggled}").as_bytes()).unwrap();
    connection.answer().unwrap().succeeds();
    assert_eq!(connection.answer().unwrap().status, 401, "it showed no token");
    unharmed(&premises, &server);
    score("lying-bodies", &[("attempts", 1), ("torn", 0), ("escapes", 0), ("5xx", 0)]);
}

/// The file shrinks and grows while it is sent: who gets an answer to its end got as many bytes as
/// its head said, and the next answer begins where it should.
#[test]
fn an_answer_never_lies_about_its_length() {
    const MOST: u64 = 2 << 20;
    let premises = Premises::in_memory(&[]);
    let path = premises.root().join("restless");
    let file = File::create(&path).unwrap();
    file.write_all_at(&vec![b'x'; MOST as usize], 0).unwrap();
    let server = start(&premises);
    let (over, rounds) = (AtomicBool::new(false), short_or_long(200, 5000));
    let (whole, broken) = thread::scope(|scope| {
        let _end = EndOnDrop(&over);
        scope.spawn(|| {
            let mut dice = Dice::new(5);
            while !over.load(Ordering::Relaxed) {
                file.set_len(dice.below(MOST)).unwrap();
                thread::yield_now();
            }
        });
        take_again_and_again(&server, rounds)
    });
    score("lying-bodies", &[("attempts", rounds), ("torn", 0), ("5xx", 0)]);
    eprintln!("lies: of {rounds} answers {whole} came whole, {broken} were broken off");
    assert!(whole > 0, "no answer ever came whole");
}

fn take_again_and_again(server: &ServerProcess, rounds: u64) -> (u64, u64) {
    let (mut whole, mut broken) = (0, 0);
    let mut connection = server.connect();
    for _ in 0..rounds {
        connection.send_head("GET", "/v1/fs/file?path=restless", &[], 0).unwrap();
        // One that shrinks before anything of it is sent has not even a head.
        let Ok(head) = connection.answer_head() else {
            connection.reopen();
            broken += 1;
            continue;
        };
        assert_eq!(head.status, 200);
        let said: usize = head.header("content-length").unwrap().parse().unwrap();
        let mut got = 0;
        if connection.answer_body(&head, |piece| got += piece.len()).is_ok() {
            assert_eq!(got, said);
            // Were a byte too many on the wire, this answer would begin with it.
            assert_eq!(connection.ask("GET", "/v1/health", &[], b"").status, 200);
            whole += 1;
        } else {
            connection.reopen();
            broken += 1;
        }
    }
    (whole, broken)
}
