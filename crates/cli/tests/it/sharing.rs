//! Several servers on one store, as their clients meet them.

use std::thread;
use std::time::{Duration, Instant};

use crate::raw_http::Answer;
use crate::server_process::ServerProcess;
use crate::site::Site;

const LONG: [&str; 2] = ["--staleness", "1h"];

fn servers(site: &Site, flags: &[&str]) -> [ServerProcess; 2] {
    let url = format!("sqlite:{}", site.path("store.db").display());
    [(); 2].map(|()| ServerProcess::of_store(&url, flags))
}

fn put(server: &ServerProcess, path: &str, body: &str) -> Answer {
    server.ask("PUT", &format!("/v1/fs/file?path={path}"), body.as_bytes())
}

fn read(server: &ServerProcess, path: &str) -> String {
    let answer = server.ask("GET", &format!("/v1/fs/file?path={path}"), b"");
    String::from_utf8(answer.succeeds().body).unwrap()
}

fn read_anew(server: &ServerProcess, path: &str) -> String {
    let headers = [("cache-control", "no-cache")];
    let target = format!("/v1/fs/file?path={path}");
    let answer = server.connect().ask("GET", &target, &headers, b"");
    String::from_utf8(answer.succeeds().body).unwrap()
}

/// How many files were written by requests to a server, whoever sent them.
fn writes(server: &ServerProcess) -> u64 {
    let metrics = server.ask("GET", "/metrics", b"").succeeds().body;
    let metrics = String::from_utf8(metrics).unwrap();
    let lines = metrics.lines().filter(|line| {
        line.starts_with("sandkeep_http_requests_total{") && line.contains("method=\"PUT\"")
    });
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn a_change_is_seen_by_another_server_within_the_staleness() {
    let site = Site::new();
    let [one, two] = servers(&site, &["--staleness", "300ms"]);
    put(&one, "a", "1").succeeds();
    thread::sleep(Duration::from_millis(350));
    assert_eq!(read(&two, "a"), "1");
    put(&one, "a", "2").succeeds();
    thread::sleep(Duration::from_millis(350));
    assert_eq!(read(&two, "a"), "2");
}

#[test]
fn a_read_that_wants_no_old_answer_sees_it_at_once() {
    let site = Site::new();
    let [one, two] = servers(&site, &LONG);
    for number in 0..10 {
        let text = number.to_string();
        put(&one, "a", &text).succeeds();
        assert_eq!(read_anew(&two, "a"), text);
    }
    put(&one, "a", "later").succeeds();
    assert_eq!(read(&two, "a"), "9", "what was seen is shown until the staleness is over");
}

#[test]
fn changes_are_sent_to_the_server_that_leads() {
    let site = Site::new();
    let [one, two] = servers(&site, &["--advertise", "http://127.0.0.1:0", "--staleness", "0s"]);
    put(&one, "a", "1").succeeds();
    assert_eq!(read_anew(&two, "a"), "1");
    for number in 0..10 {
        put(&two, &format!("b{number}"), "2").succeeds();
    }
    assert_eq!(writes(&one), 11, "all of them were made by the first server");
    assert_eq!(read_anew(&two, "b9"), "2");
    let refused = two.ask("POST", "/v1/fs/mkdir?path=a/b", b"");
    assert_eq!(refused.status, 409, "a refusal comes back as it is");
}

#[test]
fn a_leader_is_found_by_its_name() {
    let site = Site::new();
    let [one, two] = servers(&site, &["--advertise", "http://localhost:0", "--staleness", "0s"]);
    put(&one, "a", "1").succeeds();
    assert_eq!(read_anew(&two, "a"), "1");
    put(&two, "b", "2").succeeds();
    assert_eq!(writes(&one), 2, "both were made by the first server");
}

#[test]
fn servers_that_start_together_on_a_new_store_all_come_up() {
    let site = Site::new();
    let url = format!("sqlite:{}", site.path("store.db").display());
    let start = || ServerProcess::of_store(&url, &["--max-nodes", "3", "--staleness", "0s"]);
    let servers: Vec<ServerProcess> = thread::scope(|scope| {
        let starting: Vec<_> = (0..6).map(|_| scope.spawn(start)).collect();
        starting.into_iter().map(|server| server.join().unwrap()).collect()
    });
    put(&servers[0], "a", "1").succeeds();
    put(&servers[1], "b", "2").succeeds();
    for server in &servers {
        assert_eq!((read_anew(server, "a"), read_anew(server, "b")), ("1".into(), "2".into()));
        assert_eq!(put(server, "c", "3").status, 507, "all have the limit of their flags");
    }
}

#[test]
fn a_large_body_goes_through_to_the_leader() {
    let site = Site::new();
    let [one, two] = servers(&site, &["--advertise", "http://127.0.0.1:0", "--staleness", "0s"]);
    put(&one, "a", "1").succeeds();
    assert_eq!(read_anew(&two, "a"), "1");
    let large = "0123456789abcdef".repeat(1 << 18);
    put(&two, "large", &large).succeeds();
    assert_eq!(writes(&one), 2);
    assert!(read_anew(&two, "large") == large);
}

#[test]
fn a_leader_that_died_is_replaced_at_once() {
    let site = Site::new();
    let [one, two] = servers(&site, &["--advertise", "http://127.0.0.1:0", "--staleness", "0s"]);
    put(&one, "a", "1").succeeds();
    assert_eq!(read_anew(&two, "a"), "1");
    one.kill();
    let began = Instant::now();
    put(&two, "b", "2").succeeds();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!((read(&two, "a"), read(&two, "b")), ("1".to_owned(), "2".to_owned()));
}

#[test]
fn both_servers_may_change_one_tree_at_once() {
    let site = Site::new();
    let pair = servers(&site, &["--staleness", "0s"]);
    thread::scope(|scope| {
        for (number, server) in pair.iter().enumerate() {
            for client in 0..4 {
                scope.spawn(move || {
                    let mut connection = server.connect();
                    for file in 0..10 {
                        let target = format!("/v1/fs/file?path=f/{number}-{client}-{file}");
                        connection.ask("PUT", &target, &[], b"x").succeeds();
                    }
                });
            }
        }
    });
    for server in &pair {
        let entries = server.ask("GET", "/v1/fs/entries?path=f", b"").succeeds().json();
        assert_eq!(entries.as_array().unwrap().len(), 80);
    }
}
