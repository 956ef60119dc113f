//! `sandkeep watch`: on a server, through its restart, and without one.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::reach::errors;
use crate::site::{Server, Site, TOKEN};

/// A watch that runs. Dropping it kills it.
struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Begins to watch; it has begun when it says so.
    fn begin(command: Command) -> Self {
        let mut watching = Self::start(command);
        assert_eq!(watching.line()["change"], "here");
        watching
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|err| panic!("{err}: {line:?}"))
    }

    /// Reads on until something is told of this path. Nothing may get lost on the way.
    fn until(&mut self, path: &str) -> Value {
        loop {
            let line = self.line();
            assert_ne!(line["change"], "resync", "{line}");
            if line["path"] == path {
                return line;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn command(desk: &Desk, words: &[&str]) -> Command {
    let mut command = desk.site.sandkeep();
    command.args(["watch", "--json", "--sandbox", "main", "--endpoint", desk.server.url()]);
    command.args(["--token", TOKEN]).args(words);
    command
}

fn watch(desk: &Desk, words: &[&str]) -> Watching {
    Watching::begin(command(desk, words))
}

#[test]
fn what_happens_in_a_sandbox_is_told_as_it_happens() {
    let desk = Desk::new();
    let mut watching = watch(&desk, &[]);
    desk.put("main", "a/f", "x");
    let told = watching.until("/a/f");
    assert_eq!((&told["change"], &told["kind"]), (&json!("created"), &json!("file")));
    desk.said(&["fs", "move", "a/f", "a/g", "--sandbox", "main"]);
    let told = watching.until("/a/g");
    assert_eq!((&told["change"], &told["from"]), (&json!("renamed"), &json!("/a/f")));
    desk.said(&["fs", "delete", "a/g", "--sandbox", "main"]);
    assert_eq!(watching.until("/a/g")["change"], "removed");
}

#[test]
fn a_watch_of_names_tells_nothing_from_beneath() {
    let desk = Desk::new();
    desk.put("main", "a/f", "x");
    let mut watching = watch(&desk, &["/", "--shallow"]);
    desk.put("main", "a/g", "x");
    desk.put("main", "b", "x");
    loop {
        let told = watching.line();
        assert_ne!(told["path"], "/a/g", "{told}");
        if told["path"] == "/b" {
            break;
        }
    }
}

#[test]
fn a_cursor_brings_back_what_was_missed() {
    let desk = Desk::new();
    let mut watching = watch(&desk, &[]);
    desk.put("main", "one", "x");
    let cursor = watching.until("/one")["cursor"].as_str().unwrap().to_owned();
    drop(watching);
    desk.put("main", "two", "x");
    let mut watching = Watching::start(command(&desk, &["--after", &cursor]));
    assert_eq!(watching.until("/two")["change"], "created");
}

/// A line to a server that can be cut. Whoever comes again gets a new one.
struct Line {
    url: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(server: &str) -> Self {
        let server = server.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let open = Arc::new(Mutex::new(Vec::new()));
        let held = Arc::clone(&open);
        thread::spawn(move || {
            for near in listener.incoming() {
                let (near, far) = (near.unwrap(), TcpStream::connect(&server).unwrap());
                let ends = [&near, &far].map(|end| end.try_clone().unwrap());
                held.lock().unwrap().extend(ends);
                for (mut from, mut to) in
                    [(near.try_clone().unwrap(), far.try_clone().unwrap()), (far, near)]
                {
                    thread::spawn(move || io::copy(&mut from, &mut to).ok());
                }
            }
        });
        Self { url, open }
    }

    fn cut(&self) {
        let ends: Vec<TcpStream> = self.open.lock().unwrap().drain(..).collect();
        assert!(!ends.is_empty(), "there was something to cut");
        ends.iter().for_each(|end| drop(end.shutdown(Shutdown::Both)));
    }
}

#[test]
fn a_watch_goes_on_after_a_cut_and_leaves_nothing_out() {
    let desk = Desk::new();
    let line = Line::to(desk.server.url());
    let mut command = desk.site.sandkeep();
    command.args(["watch", "--json", "--sandbox", "main", "--endpoint", &line.url]);
    command.args(["--token", TOKEN]);
    let mut watching = Watching::begin(command);
    for round in 0..3 {
        desk.put("main", &format!("before-{round}"), "x");
        watching.until(&format!("/before-{round}"));
        line.cut();
        desk.put("main", &format!("meanwhile-{round}"), "x");
        let told = watching.until(&format!("/meanwhile-{round}"));
        assert_eq!(told["change"], "created");
    }
}

#[test]
fn a_watch_outlives_the_restart_of_its_server_and_says_that_it_may_have_missed_something() {
    let site = Site::new();
    let url = site.store();
    let server = site.serve_store(&url, &[]);
    let port = server.url().rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    let mut desk = Desk { site, server };
    let mut watching = watch(&desk, &[]);
    desk.put("main", "before", "x");
    watching.until("/before");
    desk.server.signal(Signal::KILL);
    // The store is free as soon as the server is gone.
    let write = ["fs", "write", "meanwhile", "--content", "x", "--store", &url];
    while !desk.site.sandkeep().args(write).output().unwrap().status.success() {}
    let mut command = desk.site.sandkeep();
    command.args(["serve", "--store", &url, "--port", &port, "--token", TOKEN, "--json"]);
    desk.server = Server::start(command);
    let told = watching.line();
    assert_eq!((&told["change"], &told["reason"]), (&json!("resync"), &json!("unknown_cursor")));
    desk.put("main", "after", "x");
    assert_eq!(watching.until("/after")["change"], "created");
}

#[test]
fn people_read_that_the_server_went_and_came_back() {
    let site = Site::new();
    let url = site.store();
    let server = site.serve_store(&url, &[]);
    let port = server.url().rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    let mut desk = Desk { site, server };
    let mut command = desk.site.sandkeep();
    command.args(["watch", "--sandbox", "main", "--endpoint", desk.server.url()]);
    command.args(["--token", TOKEN]).stderr(Stdio::piped());
    let mut watching = Watching::start(command);
    let mut remarks = BufReader::new(watching.child.stderr.take().unwrap()).lines();
    let mut remark = || remarks.next().unwrap().unwrap();
    assert_eq!(remark(), "watching /");
    desk.server.signal(Signal::KILL);
    assert_eq!(remark(), "the server is away: waiting for it, for a minute at most");
    let mut command = desk.site.sandkeep();
    command.args(["serve", "--store", &url, "--port", &port, "--token", TOKEN, "--json"]);
    desk.server = Server::start(command);
    assert_eq!(remark(), "the server is back");
    // Nothing happened meanwhile, and nothing is said of it.
    desk.put("main", "after", "x");
    let mut line = String::new();
    watching.lines.read_line(&mut line).unwrap();
    assert_eq!(line, "created   /after\n");
}

#[test]
fn a_watch_ends_with_its_key() {
    let desk = Desk::new();
    let made = desk.json(&["keys", "create", "viewer"]);
    let mut command = desk.site.sandkeep();
    command.args(["watch", "--json", "--sandbox", "main", "--endpoint", desk.server.url()]);
    command.args(["--token", made["key"].as_str().unwrap()]).stderr(Stdio::piped());
    let mut watching = Watching::begin(command);
    desk.said(&["keys", "revoke", made["id"].as_str().unwrap()]);
    assert_eq!(watching.child.wait().unwrap().code(), Some(4));
}

#[test]
fn a_directory_is_watched_without_a_server() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.args(["watch", "--json", "--dir"]).arg(site.path("sandbox"));
    let mut watching = Watching::begin(command);
    fs::write(site.inner("f"), "x").unwrap();
    assert_eq!(watching.until("/f")["change"], "created");
}

#[test]
fn people_read_a_word_and_a_path() {
    let desk = Desk::new();
    let mut command = desk.site.sandkeep();
    command.args(["watch", "--sandbox", "main", "--endpoint", desk.server.url()]);
    command.args(["--token", TOKEN]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut begun = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut begun).unwrap();
    assert_eq!(begun, "watching /\n");
    desk.said(&["fs", "mkdir", "dir", "--sandbox", "main"]);
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    while !line.contains("dir") {
        line.clear();
        lines.read_line(&mut line).unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line, "created   /dir/\n");
}

#[test]
fn a_directory_that_is_not_there_cannot_be_watched() {
    let desk = Desk::new();
    let (code, said) = desk.fails(&["watch", "/none", "--sandbox", "main"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("hint: make the directory first"), "{said}");
    let output = desk.run_as(TOKEN, &["watch", "--sandbox", "none"]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
}
