//! The log of a server whose reader is slow, or gone.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::raw_http::Connection;
use crate::site::{Site, TOKEN};

/// Requests that log far more than a pipe and the queue before it hold.
fn talk(url: &str) {
    let address = url.trim_start_matches("http://").parse().unwrap();
    let mut connection = Connection::open(address, TOKEN);
    let target = format!("/v1/fs/stat?path={}", "/nowhere".repeat(500));
    for _ in 0..400 {
        assert_eq!(connection.ask("GET", &target, &[], b"").status, 400);
    }
}

#[test]
fn a_stderr_that_nobody_drains_does_not_hang_the_server() {
    for format in ["text", "json"] {
        let site = Site::new();
        let mut server = site.serve(&["--log", "debug", "--log-format", format]);
        talk(server.url());
        // The next reader learns what it missed, and the log goes on.
        server.log_until("log lines were dropped: nobody read them in time");
        server.signal(Signal::TERM);
        server.log_until("stopped");
        assert_eq!(server.end().0.code(), Some(0));
    }
}

#[test]
fn a_stderr_that_nobody_drains_does_not_keep_the_server_from_stopping() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.arg("serve").arg(site.path("sandbox"));
    command.args(["--port", "0", "--token", TOKEN, "--json", "--log", "debug"]);
    let (reader, writer) = io::pipe().unwrap();
    let mut child = command.stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    talk(&url(child.stdout.take().unwrap()));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(reader);
}

#[test]
fn a_closed_stderr_does_not_make_every_log_line_a_panic() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.arg("serve").arg(site.path("sandbox"));
    command.args(["--port", "0", "--token", TOKEN, "--json", "--log", "debug"]);
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut child = command.stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    talk(&url(child.stdout.take().unwrap()));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_was_logged_before_a_refused_start_is_not_lost() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["server", "--no-token", "--host", "0.0.0.0"]);
    let taken = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = command.args(["--port", &port]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let warning = said.find("anybody who reaches this port").unwrap();
    assert!(warning < said.find("error: cannot listen").unwrap(), "{said}");
}

#[test]
fn the_thread_of_the_log_stands_behind_the_wall() {
    let site = Site::new();
    let server = site.serve(&[]);
    let walled = |status: &str| status.contains("NoNewPrivs:\t1");
    let status = |thread: &Path| std::fs::read_to_string(thread.join("status")).unwrap();
    let is_log = |(is_log, _): &(bool, bool)| *is_log;
    // A thread names itself when it first runs, which may be after the server said that it serves.
    let (begin, mut threads) = (Instant::now(), Vec::new());
    while !threads.iter().any(is_log) && begin.elapsed() < Duration::from_secs(10) {
        threads.clear();
        for thread in std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap() {
            let status = status(&thread.unwrap().path());
            threads.push((status.contains("Name:\tlog\n"), walled(&status)));
        }
    }
    assert!(threads.iter().any(is_log), "{threads:?}");
    let log = server.stop();
    if crate::attack_form::machine_has("Landlock", !log.contains("no usable Landlock")) {
        assert!(threads.iter().all(|(_, walled)| *walled), "{threads:?}");
    }
}

fn url(stdout: std::process::ChildStdout) -> String {
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let started: Value = serde_json::from_str(&line).unwrap();
    started["url"].as_str().unwrap().to_owned()
}

#[test]
fn the_embedded_database_speaks_only_to_those_who_ask_for_it() {
    let logged = |filter: &str| {
        let site = Site::new();
        site.serve_store(&site.store(), &["--log", filter]).stop()
    };
    assert!(logged("info,fjall=debug,lsm_tree=debug").contains(" fjall::"));
    for filter in ["info", "debug"] {
        let said = logged(filter);
        assert!(!said.contains("fjall") && !said.contains("lsm_tree"), "{said}");
    }
}
