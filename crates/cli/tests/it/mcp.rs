//! `sandkeep mcp`: a server at the other end of a pipe.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::reach::errors;
use crate::site::{Site, TOKEN};

/// A server that a client started. Dropping it kills it.
struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Pipe {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), child, lines }
    }

    /// A client that has greeted the server of `mcp` with these words.
    fn open(site: &Site, words: &[&str]) -> Self {
        let mut command = site.sandkeep();
        command.arg("mcp").args(words);
        let mut pipe = Self::start(command);
        let info = json!({"name": "a test", "version": "1"});
        let greeting =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        let greeted = pipe.ask("initialize", &greeting);
        assert_eq!(greeted["result"]["serverInfo"]["name"], "sandkeep");
        pipe.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        pipe
    }

    /// A client of the directory `sandbox`.
    fn of_directory(site: &Site, words: &[&str]) -> Self {
        let dir = site.path("sandbox");
        Self::open(site, &[&[dir.to_str().unwrap()], words].concat())
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|err| panic!("{err}: {line:?}"))
    }

    /// The answer to a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        self.say(&request.to_string());
        loop {
            let heard = self.hear();
            if heard["id"] == 7 {
                return heard;
            }
        }
    }

    /// What a tool gives.
    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    }

    fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits for its end: the exit code, and what it said beside messages.
    fn end(mut self) -> (Option<i32>, String) {
        let (mut rest, mut log) = (String::new(), String::new());
        self.lines.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "something besides answers was written");
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), log)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_directory_is_offered_and_nothing_around_it() {
    let site = Site::new();
    fs::write(site.inner("a.txt"), "hello\n").unwrap();
    fs::write(site.path("secret"), "s").unwrap();
    std::os::unix::fs::symlink("../secret", site.inner("link")).unwrap();
    let mut pipe = Pipe::of_directory(&site, &[]);
    let read = pipe.call("read_file", &json!({"path": "a.txt"}));
    assert_eq!(read["data"]["content"], "hello\n");
    assert_eq!(read["data"]["path"], site.inner("a.txt").to_str().unwrap());
    for path in ["link", "../secret", site.path("secret").to_str().unwrap(), "/etc/hostname"] {
        let refused = pipe.call("read_file", &json!({"path": path}));
        assert_eq!(refused["success"], false, "{path}");
    }
    pipe.call("write_file", &json!({"path": "new/b.txt", "content": "b"}));
    assert_eq!(fs::read_to_string(site.inner("new/b.txt")).unwrap(), "b");
}

#[test]
fn what_cannot_be_done_in_a_tree_is_not_offered() {
    let site = Site::new();
    let mut plain = Pipe::of_directory(&site, &[]);
    let tools = plain.tools();
    assert!(!tools.contains(&"batch".to_owned()) && !tools.contains(&"snapshot".to_owned()));
    let mut kept = Pipe::of_directory(&site, &["--snapshots", &site.store()]);
    assert!(kept.tools().contains(&"snapshot".to_owned()));
    assert_eq!(kept.call("snapshot", &json!({"id": "one"}))["success"], true);
    let mut scratch = Pipe::open(&site, &["--store", "memory:"]);
    assert_eq!(scratch.tools().len(), 18);
}

#[test]
fn read_only_nothing_that_writes_is_offered_or_done() {
    let site = Site::new();
    let mut pipe = Pipe::of_directory(&site, &["--read-only"]);
    let tools = pipe.tools();
    for tool in ["write_file", "edit_file", "delete", "move", "append_file", "create_directory"] {
        assert!(!tools.contains(&tool.to_owned()), "{tool}");
    }
    let refused = pipe.call("write_file", &json!({"path": "a", "content": ""}));
    assert_eq!(refused["metadata"]["kind"], "forbidden");
    assert!(!site.inner("a").exists());
}

#[test]
fn what_calls_may_do_is_said_by_flags() {
    let site = Site::new();
    fs::create_dir_all(site.inner("in/.git")).unwrap();
    fs::write(site.inner("in/a"), "x".repeat(100)).unwrap();
    fs::write(site.inner("in/.git/config"), "c").unwrap();
    fs::write(site.inner("out"), "o").unwrap();
    let words = ["--allowed-path", "in", "--blocked-path", "in/.git", "--max-result-bytes", "10"];
    let words = [&words[..], &["--max-file-size", "200", "--default-encoding", "base64"]].concat();
    let mut pipe = Pipe::of_directory(&site, &words);
    let read = pipe.call("read_file", &json!({"path": "in/a", "encoding": "utf-8"}));
    assert_eq!(read["data"]["content"], "x".repeat(10));
    assert_eq!(read["metadata"]["truncated"]["reason"], "budget");
    for path in ["out", "in/.git/config", "in/../out"] {
        assert_eq!(pipe.call("read_file", &json!({"path": path}))["success"], false, "{path}");
    }
    let long = json!({"path": "in/b", "content": "eA==".repeat(100)});
    assert_eq!(pipe.call("write_file", &long)["success"], false);
    let short = json!({"path": "in/b", "content": "eA=="});
    assert_eq!(pipe.call("write_file", &short)["success"], true);
    assert_eq!(fs::read_to_string(site.inner("in/b")).unwrap(), "x");
}

#[test]
fn a_sandbox_of_a_store_or_a_server_is_offered() {
    let desk = Desk::new();
    desk.put("main", "a.txt", "of the server");
    let words = ["--endpoint", desk.server.url(), "--token", TOKEN, "--sandbox", "main"];
    let mut pipe = Pipe::open(&desk.site, &words);
    let read = pipe.call("read_file", &json!({"path": "/a.txt"}));
    assert_eq!(read["data"]["content"], "of the server");
    assert_eq!(pipe.call("snapshot", &json!({"id": "one"}))["success"], true);
    let uri = json!({"uri": "sandkeep://main/a.txt"});
    assert!(pipe.ask("resources/subscribe", &uri)["result"].is_object());
    desk.put("main", "a.txt", "changed");
    assert_eq!(pipe.hear()["params"], uri);
    let store = desk.site.store();
    desk.site.run(&["sandbox", "create", "alice", "--store", &store]).success();
    let mut pipe = Pipe::open(&desk.site, &["--store", &store, "--sandbox", "alice"]);
    assert_eq!(pipe.call("write_file", &json!({"path": "b", "content": "b"}))["success"], true);
    drop(pipe);
    let words = ["fs", "read", "b", "--store", &store, "--sandbox", "alice"];
    desk.site.run(&words).success().stdout("b");
}

#[test]
fn it_ends_when_the_client_does_and_with_a_signal() {
    let site = Site::new();
    let mut pipe = Pipe::of_directory(&site, &[]);
    drop(pipe.input.take());
    assert_eq!(pipe.end(), (Some(0), String::new()));
    for signal in [Signal::TERM, Signal::INT] {
        let pipe = Pipe::of_directory(&site, &[]);
        kill_process(Pid::from_child(&pipe.child), signal).unwrap();
        assert_eq!(pipe.end().0, Some(0));
    }
    // One that goes without a word has done nothing wrong, either.
    let mut command = site.sandkeep();
    command.arg("mcp").arg(site.path("sandbox"));
    let mut pipe = Pipe::start(command);
    drop(pipe.input.take());
    assert_eq!(pipe.end(), (Some(0), String::new()));
}

#[test]
fn what_is_no_message_is_answered_and_what_comes_behind_it_is_heard() {
    let site = Site::new();
    let mut pipe = Pipe::of_directory(&site, &["--max-file-size", "1K"]);
    pipe.say("nonsense");
    assert_eq!(pipe.hear()["error"]["code"], -32700);
    pipe.say(r#"{"id": 5, "neither": "nor"}"#);
    let refused = pipe.hear();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32600), &json!(5)));
    // The id stands behind what is too long, as some clients write it.
    let long = "x".repeat(3 << 20);
    pipe.say(&format!(
        r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"{long}"}},"id":9}}"#
    ));
    let refused = pipe.hear();
    assert_eq!(refused["id"], 9);
    assert!(refused["error"]["message"].as_str().unwrap().contains("1050624 bytes"), "{refused}");
    assert!(!pipe.tools().is_empty());
}

#[test]
fn a_client_writes_no_lines_into_the_log() {
    let site = Site::new();
    let mut pipe = Pipe::of_directory(&site, &[]);
    let params = json!({"uri": "sandkeep://main/nowhere"});
    let method = "resources/read";
    let request = json!({"jsonrpc": "2.0", "id": "1\nforged", "method": method, "params": params});
    pipe.say(&request.to_string());
    assert!(pipe.hear()["error"].is_object());
    drop(pipe.input.take());
    assert_eq!(pipe.end(), (Some(0), String::new()));
}

#[test]
fn names_that_look_like_options_are_names() {
    let site = Site::new();
    fs::write(site.inner("kept"), "k").unwrap();
    let mut pipe = Pipe::of_directory(&site, &[]);
    for name in ["-delete", "--help", "$(reboot)", "a\nb", "it's", "a;b", "-rf *"] {
        let refused = pipe.call("list_directory", &json!({"path": name, "recursive": true}));
        assert_eq!(refused["metadata"]["kind"], "not_found", "{name:?}");
        pipe.call("write_file", &json!({"path": name, "content": name}));
        assert_eq!(fs::read_to_string(site.inner(name)).unwrap(), name);
        assert_eq!(pipe.call("delete", &json!({"path": name}))["data"]["deleted"], true);
    }
    assert_eq!(fs::read_dir(site.path("sandbox")).unwrap().count(), 1);
}

#[test]
fn a_mistake_on_the_command_line_is_said_before_anything_begins() {
    let site = Site::new();
    let fails = |words: &[&str]| {
        let output = site.sandkeep().arg("mcp").args(words).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{words:?}");
        errors(&output)
    };
    assert!(fails(&[]).contains("say which tree"));
    assert!(fails(&["a", "--store", "memory:"]).contains("two trees"));
    assert!(fails(&["missing"]).contains("cannot be found"));
    assert!(fails(&["--store", "file:./none"]).contains("there is no store"));
    assert!(
        fails(&["--store", "memory:", "--snapshots", "memory:"]).contains("--snapshots is for DIR")
    );
    assert!(fails(&["../sandbox", "--default-encoding", "klingon"]).contains("klingon"));
    assert!(fails(&["../sandbox", "--allowed-path", "../out"]).contains("--allowed-path"));
    assert!(fails(&["../sandbox", "--timeout", "0s"]).contains("--timeout"));
    assert!(fails(&["--endpoint", "http://127.0.0.1:9"]).contains("127.0.0.1:9"));
}

#[test]
fn a_log_line_never_holds_what_is_in_files() {
    let site = Site::new();
    fs::write(site.inner("a"), "the-secret-content").unwrap();
    let mut pipe = Pipe::of_directory(&site, &["--log", "trace"]);
    pipe.call("read_file", &json!({"path": "a"}));
    pipe.call("write_file", &json!({"path": "b", "content": "the-secret-content"}));
    drop(pipe.input.take());
    let (_, log) = pipe.end();
    assert!(log.contains("operation") && !log.contains("the-secret-content"), "{log}");
}

#[test]
fn a_call_that_is_cancelled_is_dropped_and_so_is_one_whose_client_goes() {
    let desk = Desk::new();
    let words = ["--endpoint", desk.server.url(), "--token", TOKEN];
    let mut pipe = Pipe::open(&desk.site, &words);
    let mut other = Pipe::open(&desk.site, &words);
    // A server that answers nothing: whoever waits for it waits for half a minute.
    desk.server.signal(Signal::STOP);
    let call = json!({"name": "exists", "arguments": {"path": "a"}});
    let call =
        json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": call}).to_string();
    let cancelled = json!({"requestId": 8});
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled});
    pipe.say(&call);
    pipe.say(&cancelled.to_string());
    assert_eq!(pipe.ask("ping", &json!({}))["result"], json!({}));
    let begun = Instant::now();
    drop(pipe.input.take());
    assert_eq!(pipe.end().0, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    // What is under way when a client goes has a few seconds to end.
    other.say(&call);
    drop(other.input.take());
    let begun = Instant::now();
    other.child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn the_root_of_the_machine_is_offered_without_the_system() {
    let site = Site::new();
    fs::write(site.inner("a.txt"), "hello\n").unwrap();
    let mut pipe = Pipe::open(&site, &["/", "--root-prefix", "/machine"]);
    for path in ["/machine/etc/passwd", "etc/passwd", "/machine/proc/self/environ", "usr"] {
        let refused = pipe.call("file_info", &json!({"path": path}));
        assert_eq!(refused["metadata"]["kind"], "outside_sandbox", "{path}: {refused}");
    }
    let listed = pipe.call("list_directory", &json!({})).to_string();
    assert!(!listed.contains("/machine/etc"), "{listed}");
    let here = site.inner("a.txt");
    let there = pipe.call("exists", &json!({"path": here.strip_prefix("/").unwrap()}));
    assert_eq!(there["success"], true, "{there}");
}
