//! Requests that no honest client sends. Each gets a 4xx with a reason; nothing changes.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::archive::archive;
use crate::outside::{Premises, files_beneath};
use crate::raw_http::{Answer, JSON, TAR};
use crate::server_process::ServerProcess;

/// A request: what is wrong with it, the method, the target, headers, the body.
type Row<'a> = (&'a str, &'a str, String, Vec<(&'a str, &'a str)>, Vec<u8>);

#[test]
fn bad_parameters_get_a_reason() {
    let long = "x".repeat(300);
    let deep = "d/".repeat(3000);
    let huge = "x".repeat(40_000);
    let bad: [(&str, &str); 16] = [
        ("no path", ""),
        ("a path twice", "?path=a&path=b"),
        ("two different sessions", "?path=a&sessionId=a&session_id=b"),
        ("a session that is not there", "?path=a&sessionId=nobody"),
        ("NUL", "?path=a%00b"),
        ("percent without digits", "?path=%"),
        ("percent with half its digits", "?path=a%4"),
        ("percent with other letters", "?path=%zz"),
        ("bytes that are not UTF-8", "?path=%ff%fe"),
        ("an overlong encoding of ..", "?path=%c0%ae%c0%ae/x"),
        ("climbing", "?path=../outside/canary"),
        ("climbing in the middle", "?path=a/../../outside/canary"),
        ("climbing, encoded", "?path=%2e%2e%2foutside%2fcanary"),
        ("a name of 300 bytes", &format!("?path={long}")),
        ("a path of 6,000 bytes", &format!("?path={deep}")),
        ("a path of 40,000 bytes", &format!("?path={huge}")),
    ];
    let calls = [
        ("GET", "file"),
        ("PUT", "file"),
        ("PATCH", "file"),
        ("GET", "stat"),
        ("GET", "entries"),
        ("DELETE", "entry"),
        ("POST", "mkdir"),
        ("POST", "upload-batch"),
        ("GET", "download-batch"),
    ];
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (wrong, query) in bad {
        for (method, call) in calls {
            // These mean the home when they are given no path.
            let optional = matches!(call, "entries" | "upload-batch" | "download-batch");
            if query.is_empty() && optional {
                continue;
            }
            let (headers, body) = match call {
                "upload-batch" => (TAR.to_vec(), archive(&[("member", b"x")])),
                _ => (vec![], vec![]),
            };
            rows.push((wrong, method, format!("/v1/fs/{call}{query}"), headers, body));
        }
    }
    all_are_refused(&rows);
}

#[test]
fn an_absolute_path_that_climbs_ends_at_the_root() {
    let premises = premises();
    let server = start(&premises);
    let path = "/../../outside/../kept";
    let read = server.ask("GET", &format!("/v1/fs/file?path={path}"), b"").succeeds();
    assert_eq!(read.body, b"kept");
    let canary = server.ask("GET", "/v1/fs/file?path=/../outside/canary", b"");
    assert!(canary.is_clear_refusal(), "{}", canary.text());
    unharmed(&premises, &server);
}

#[test]
fn bad_options_get_a_reason() {
    let get = |wrong, target: &str| (wrong, "GET", target.to_owned(), vec![], vec![]);
    let patch = |wrong, header, body: &[u8]| {
        (wrong, "PATCH", "/v1/fs/file?path=kept".to_owned(), vec![header], body.to_vec())
    };
    let remove = |wrong, query: &str| {
        (wrong, "DELETE", format!("/v1/fs/entry?path=kept&{query}"), vec![], vec![])
    };
    all_are_refused(&[
        remove("recursive as a number", "recursive=1"),
        remove("recursive in capitals", "recursive=TRUE"),
        remove("recursive without a value", "recursive="),
        remove("recursive twice", "recursive=true&recursive=false"),
        get("a limit that is no number", "/v1/fs/entries?path=.&limit=ten"),
        get("a negative limit", "/v1/fs/entries?path=.&limit=-1"),
        get("a limit beyond every number", "/v1/fs/entries?path=.&limit=99999999999999999999999"),
        patch("a patch without a place", ("X-Other", "1"), b"x"),
        patch("an append of something else", ("X-Append", "yes"), b"x"),
        patch("a range that is none", ("Content-Range", "bytes"), b"x"),
        patch("a range of other units", ("Content-Range", "lines 0-0/*"), b"x"),
        patch("a range backwards", ("Content-Range", "bytes 5-1/*"), b"x"),
        patch("a range longer than its body", ("Content-Range", "bytes 0-9/*"), b"x"),
        patch(
            "a range beyond every number",
            ("Content-Range", "bytes 0-99999999999999999999/*"),
            b"x",
        ),
        patch(
            "a range at the end of all numbers",
            ("Content-Range", "bytes 18446744073709551615-18446744073709551615/*"),
            b"x",
        ),
    ]);
}

#[test]
fn bad_bodies_get_a_reason() {
    let nested = format!("{{\"from\":{}", "[".repeat(100_000));
    let long = format!(r#"{{"from":"kept","to":"{}"}}"#, "x".repeat(2 << 20));
    let bodies: [(&str, &str); 16] = [
        ("nothing", ""),
        ("half a document", r#"{"from":"kept","#),
        ("two documents", r#"{"from":"kept","to":"x"}{}"#),
        ("a list", "[]"),
        ("a word", "null"),
        ("no destination", r#"{"from":"kept"}"#),
        ("no source", r#"{"to":"x"}"#),
        ("a number for a path", r#"{"from":1,"to":"x"}"#),
        ("nothing for a path", r#"{"from":null,"to":"x"}"#),
        ("a word for a choice", r#"{"from":"kept","to":"x","overwrite":"yes"}"#),
        ("the same field twice", r#"{"from":"kept","from":"b","to":"x"}"#),
        ("NUL in a path", "{\"from\":\"kept\",\"to\":\"a\\u0000b\"}"),
        ("half a letter", r#"{"from":"kept","to":"\ud800"}"#),
        ("a climbing destination", r#"{"from":"kept","to":"../outside/x"}"#),
        ("a nest of 100,000 levels", &nested),
        ("two MiB", &long),
    ];
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (wrong, body) in bodies {
        for call in ["move", "copy"] {
            let target = format!("/v1/fs/{call}");
            rows.push((wrong, "POST", target, JSON.to_vec(), body.as_bytes().to_vec()));
        }
    }
    let body = || br#"{"from":"kept","to":"x"}"#.to_vec();
    let target = || "/v1/fs/move".to_owned();
    rows.push(("no content type", "POST", target(), vec![], body()));
    rows.push(("a form", "POST", target(), vec![("Content-Type", "text/plain")], body()));
    rows.push(("not UTF-8", "POST", target(), JSON.to_vec(), b"{\"from\":\"\xff\"}".to_vec()));
    all_are_refused(&rows);
}

#[test]
fn bad_content_types_of_archives_get_a_reason() {
    let upload = |wrong, headers: Vec<(&'static str, &'static str)>| {
        let target = "/v1/fs/upload-batch?path=new".to_owned();
        (wrong, "POST", target, headers, archive(&[("member", b"x")]))
    };
    all_are_refused(&[
        upload("no content type", vec![]),
        upload("JSON", JSON.to_vec()),
        upload("gzip", vec![("Content-Type", "application/gzip")]),
        upload("capitals", vec![("Content-Type", "Application/X-Tar")]),
        upload("an encoded body", vec![TAR[0], ("Content-Encoding", "gzip")]),
    ]);
}

#[test]
fn bad_http_gets_no_more_than_a_refusal() {
    let premises = premises();
    let server = start(&premises);
    let put = |header: &str, body: &str| {
        format!("PUT /v1/fs/file?path=x HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n{body}")
    };
    let get = |path: &str| format!("GET /v1/fs/file?path={path} HTTP/1.1\r\nHost: x\r\n\r\n");
    let chunked = "Transfer-Encoding: chunked";
    let requests = [
        ("no HTTP", "hello\r\n\r\n".to_owned()),
        ("HTTP/2 unasked", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        ("a NUL in the target", get("\0")),
        ("a space in the target", get("a b")),
        ("two lengths", put("Content-Length: 1\r\nContent-Length: 2", "ab")),
        ("a length and chunks", put(&format!("Content-Length: 3\r\n{chunked}"), "0\r\n\r\n")),
        ("a negative length", put("Content-Length: -1", "")),
        ("an unknown transfer encoding", put("Transfer-Encoding: gzip", "")),
        ("a bad chunk", put(chunked, "zz\r\n")),
    ];
    for (wrong, request) in requests {
        let mut connection = server.connect();
        connection.send(request.as_bytes()).unwrap();
        connection.end_sending();
        // None of them carries the token either: 401 is as good a refusal as 400.
        if let Ok(answer) = connection.answer() {
            assert!((400..500).contains(&answer.status), "{wrong}: {}", answer.status);
        }
    }
    unharmed(&premises, &server);
}

#[test]
fn a_half_sent_write_leaves_nothing() {
    half_sent(|server| {
        let mut connection = server.connect();
        connection.send_head("PUT", "/v1/fs/file?path=kept", &[], 1_000_000).unwrap();
        connection.send(&[1; 500_000]).unwrap();
        connection
    });
}

#[test]
fn a_half_sent_chunk_leaves_nothing() {
    half_sent(|server| {
        let mut connection = server.connect();
        let chunked = [("Transfer-Encoding", "chunked")];
        connection.send_bare_head("PUT", "/v1/fs/file?path=new/file", &chunked).unwrap();
        connection.send(b"100000\r\n").unwrap();
        connection.send(&[1; 500_000]).unwrap();
        connection
    });
}

#[test]
fn a_half_sent_append_leaves_nothing() {
    half_sent(|server| {
        let mut connection = server.connect();
        let append = [("X-Append", "1")];
        connection.send_head("PATCH", "/v1/fs/file?path=kept", &append, 1_000_000).unwrap();
        connection.send(&[1; 500_000]).unwrap();
        connection
    });
}

#[test]
fn a_half_sent_archive_leaves_nothing() {
    half_sent(|server| {
        let archive = archive(&[("first", b"x"), ("second", &[1; 500_000])]);
        let mut connection = server.connect();
        let target = "/v1/fs/upload-batch?path=new";
        let length = u64::try_from(archive.len()).unwrap();
        connection.send_head("POST", target, &TAR, length).unwrap();
        connection.send(&archive[..300_000]).unwrap();
        connection
    });
}

/// Sends half of something, waits until the server has begun with it, and goes away.
fn half_sent(send: impl Fn(&ServerProcess) -> crate::raw_http::Connection) {
    let premises = premises();
    let server = start(&premises);
    let before = server.descriptors();
    let connection = send(&server);
    wait_until("the server has begun", || server.descriptors() > before + 1);
    drop(connection);
    wait_until("the server has let go", || {
        server.descriptors() <= before && premises.unfinished().is_empty()
    });
    // Saying that no more will come is the polite way to break off: it has an answer.
    let mut connection = send(&server);
    connection.end_sending();
    if let Ok(answer) = connection.answer() {
        assert!(answer.is_clear_refusal(), "{} {}", answer.status, answer.text());
    }
    unharmed(&premises, &server);
}

/// Sends every row, and reports every row that is not refused as promised.
fn all_are_refused(rows: &[Row<'_>]) {
    let premises = premises();
    let server = start(&premises);
    let mut failures = BTreeSet::new();
    for (wrong, method, target, headers, body) in rows {
        let answer = server.connect().try_ask(method, target, headers, body);
        let refused = answer.as_ref().is_ok_and(Answer::is_clear_refusal);
        if !refused {
            let got = answer.map(|answer| format!("{} {}", answer.status, answer.text()));
            failures.insert(format!("{wrong}: {method} {target:.60} got {got:.300?}"));
        }
    }
    let failures: Vec<_> = failures.into_iter().collect();
    assert!(failures.is_empty(), "of {} rows:\n{}", rows.len(), failures.join("\n"));
    unharmed(&premises, &server);
}

/// A root with one file, and a canary outside.
pub(crate) fn premises() -> Premises {
    let premises = Premises::new(&["canary"]);
    fs::write(premises.root().join("kept"), "kept").unwrap();
    premises
}

pub(crate) fn start(premises: &Premises) -> ServerProcess {
    let staging = premises.staging();
    let flags = ["--no-landlock", "--staging", staging.to_str().unwrap()];
    ServerProcess::start(&premises.root(), &flags)
}

/// Everything is as `premises` made it, and the server serves.
#[track_caller]
pub(crate) fn unharmed(premises: &Premises, server: &ServerProcess) {
    premises.becomes_clean();
    premises.assert_outside_is_untouched();
    let root = premises.root();
    assert_eq!(files_beneath(&root), Vec::<PathBuf>::from([root.join("kept")]));
    let kept = server.ask("GET", "/v1/fs/file?path=kept", b"").succeeds();
    assert_eq!(kept.body, b"kept");
}

#[track_caller]
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
