//! `serve`, `fs` and `sandbox create` in real containers.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use servers::{Container, Engine, Namespace, containers_are_left_out};

use crate::raw_http::{Answer, JSON};
use crate::server_process::{ServerProcess, binary};
use crate::site::Site;

#[test]
fn the_tree_of_a_container_is_served() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let server = serving(&engine, &inside, &["--container-path", "/workspace"]);
    assert!(server.ask("PUT", "/v1/fs/file?path=/deep/a.txt", b"hello").status < 300);
    assert_eq!(inside.exec("cat /workspace/deep/a.txt"), "hello");
    inside.exec("echo -n back > /workspace/b.txt; ln -s /etc/passwd /workspace/out");
    assert_eq!(server.ask("GET", "/v1/fs/file?path=/b.txt", b"").body, b"back");
    let out = server.ask("GET", "/v1/sandboxes/main/fs/out", b"");
    assert_eq!((out.status, &out.json()["kind"]), (403, &json!("outside_sandbox")));
    let known = server.ask("GET", "/v1/sandboxes/main", b"").json();
    assert_eq!(known["attach"], json!({"container": inside.name()}));
    assert_eq!((&known["kind"], &known["path"]), (&json!("host"), &json!("/workspace")));
}

#[test]
fn a_container_that_stops_is_503_and_there_again_when_it_starts() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    let server = serving(&engine, &inside, &[]);
    assert!(server.ask("PUT", "/v1/fs/file?path=/workspace/a", b"kept").status < 300);
    inside.stop();
    let away = server.ask("GET", "/v1/fs/file?path=/workspace/a", b"");
    assert_eq!((away.status, &away.json()["kind"]), (503, &json!("sandbox_unavailable")));
    assert!(away.json()["hint"].as_str().unwrap().contains("start its container"));
    let away = server.ask("GET", "/v1/sandboxes/main/fs/workspace/a", b"");
    assert_eq!((away.status, &away.json()["kind"]), (503, &json!("sandbox_unavailable")));
    inside.start();
    let back = at_last(|| server.ask("GET", "/v1/fs/file?path=/workspace/a", b""));
    assert_eq!(back.body, b"kept");
}

#[test]
fn a_server_waits_for_a_container_that_does_not_run_yet() {
    if containers_are_left_out() {
        return;
    }
    let engine = Engine::start();
    let inside = engine.run(&[]);
    inside.stop();
    let server = serving(&engine, &inside, &[]);
    assert_eq!(server.ask("GET", "/v1/fs/entries?path=/", b"").status, 503);
    inside.start();
    assert_eq!(at_last(|| server.ask("GET", "/v1/fs/entries?path=/", b"")).status, 200);
}

#[test]
fn the_operator_attaches_sandboxes_that_survive_a_restart() {
    if containers_are_left_out() {
        return;
    }
    let (engine, site) = (Engine::start(), Site::new());
    let inside = engine.run(&[]);
    let mut namespace = Namespace::start(&[]);
    let server = allowing(&engine, &site);
    let by_name = json!({
        "id": "web", "kind": "host", "attach": {"container": inside.name()}, "path": "/workspace",
    });
    let made = create(&server, &by_name);
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.json()["attach"], json!({"container": inside.name()}));
    let by_pid = json!({"id": "job", "kind": "host", "attach": {"pid": namespace.pid()}});
    assert_eq!(create(&server, &by_pid).status, 201);
    assert!(server.ask("PUT", "/v1/sandboxes/web/fs/a", b"x").status < 300);
    assert_eq!(inside.exec("cat /workspace/a"), "x");
    assert!(server.ask("PUT", "/v1/sandboxes/job/fs/b", b"y").status < 300);
    server.kill();
    let server = allowing(&engine, &site);
    assert_eq!(server.ask("GET", "/v1/sandboxes/web/fs/a", b"").body, b"x");
    assert_eq!(server.ask("GET", "/v1/sandboxes/job/fs/b", b"").body, b"y");
    namespace.end();
    let gone = server.ask("GET", "/v1/sandboxes/job/fs/b", b"");
    assert_eq!((gone.status, &gone.json()["kind"]), (503, &json!("sandbox_unavailable")));
    // The sandbox goes, and the container stays as it is.
    assert_eq!(server.ask("DELETE", "/v1/sandboxes/web", b"").status, 204);
    assert_eq!(inside.exec("cat /workspace/a"), "x");
    assert_eq!(server.ask("DELETE", "/v1/sandboxes/job", b"").status, 204);
}

#[test]
fn only_the_operator_of_a_server_that_allows_it_attaches() {
    if containers_are_left_out() {
        return;
    }
    let (engine, site) = (Engine::start(), Site::new());
    let inside = engine.run(&[]);
    let server = allowing(&engine, &site);
    let wish = json!({"kind": "host", "attach": {"container": inside.name()}});
    let key = server.connect().ask("POST", "/v1/keys", &JSON, br#"{"role": "owner"}"#);
    let key = key.json()["key"].as_str().unwrap().to_owned();
    let refused = create_as(&server, &wish, &key);
    assert_eq!((refused.status, &refused.json()["kind"]), (403, &json!("forbidden")));
    server.kill();
    let silent = ServerProcess::of_store(&site.store(), &["--no-landlock"]);
    let refused = create(&silent, &wish);
    assert_eq!((refused.status, &refused.json()["kind"]), (403, &json!("forbidden")));
    assert!(refused.json()["error"].as_str().unwrap().contains("--containers"));
}

#[test]
fn a_wish_that_makes_no_sense_is_refused_with_the_reason() {
    if containers_are_left_out() {
        return;
    }
    let (engine, site) = (Engine::start(), Site::new());
    let inside = engine.run(&[]);
    let stopped = engine.run(&[]);
    stopped.stop();
    let server = allowing(&engine, &site);
    let name = inside.name();
    let missing = format!("{name}-missing");
    let cases = [
        (json!({"kind": "virtual", "attach": {"pid": 1}}), 400, "`host`"),
        (json!({"kind": "host", "attach": {}}), 400, "either"),
        (json!({"kind": "host", "attach": {"pid": 1, "container": name}}), 400, "either"),
        (json!({"kind": "host", "attach": {"container": "../x"}}), 400, "name or id"),
        (json!({"kind": "host", "attach": {"container": missing}}), 400, "there is no container"),
        (json!({"kind": "host", "attach": {"container": stopped.name()}}), 503, "does not run"),
        (json!({"kind": "host", "attach": {"pid": 4_194_303}}), 400, "there is no process"),
        (json!({"kind": "host", "attach": {"pid": std::process::id()}}), 400, "in no container"),
        (json!({"kind": "host", "attach": {"container": name}, "root": "x"}), 400, "two trees"),
        (json!({"kind": "host", "attach": {"container": name}, "path": "x"}), 400, "absolute"),
        (json!({"kind": "host", "attach": {"container": name}, "path": "/no"}), 400, "directory"),
        (
            json!({"kind": "host", "attach": {"container": name}, "path": "/proc"}),
            400,
            "not a file",
        ),
        (json!({"kind": "host", "path": "/workspace"}), 400, "`path` is about"),
    ];
    for (wish, status, reason) in cases {
        let refused = create(&server, &wish);
        let said = refused.json();
        assert_eq!(refused.status, status, "{wish}: {said}");
        assert!(said["error"].as_str().unwrap().contains(reason), "{wish}: {said}");
    }
    assert_eq!(
        server.ask("GET", "/v1/sandboxes", b"").json()["sandboxes"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn file_commands_work_in_a_container_without_a_server() {
    if containers_are_left_out() {
        return;
    }
    let (engine, site) = (Engine::start(), Site::new());
    let inside = engine.run(&[]);
    let socket = engine.socket();
    let fs = |words: &[&str]| {
        let place = ["fs", "--container", inside.name(), "--container-socket", text(&socket)];
        site.run(&[&place[..], words].concat())
    };
    inside.exec("echo -n hello > /workspace/a");
    let read = fs(&["read", "/workspace/a"]).success();
    assert_eq!(read.get_output().stdout, b"hello");
    fs(&["move", "/workspace/a", "/workspace/b"]).success();
    assert_eq!(inside.exec("ls /workspace"), "b\n");
    fs(&["--container-path", "/workspace", "delete", "/b"]).success();
    assert_eq!(inside.exec("ls /workspace"), "");
    fs(&["--dir", "/tmp", "list", "/"]).failure().code(2);
    let pid = inside.pid().to_string();
    site.run(&["fs", "--pid", &pid, "list", "/workspace"]).success();
    site.run(&["fs", "--pid", "4194303", "list", "/"]).failure().code(3);
}

#[test]
fn a_sandbox_is_attached_from_the_command_line() {
    if containers_are_left_out() {
        return;
    }
    let (engine, site) = (Engine::start(), Site::new());
    let inside = engine.run(&[]);
    let socket = engine.socket();
    let flags = ["--containers", "--no-landlock", "--container-socket", text(&socket)];
    let server = site.serve(&flags);
    let url = server.started["url"].as_str().unwrap().to_owned();
    let place = ["--endpoint", &url, "--token", crate::site::TOKEN];
    let sandbox = |words: &[&str]| site.run(&[&["sandbox"], words, &place[..]].concat());
    let path = ["--container-path", "/workspace"];
    sandbox(&[&["create", "web", "--container", inside.name()], &path[..]].concat()).success();
    inside.exec("echo -n x > /workspace/a");
    let read = site.run(&[&["fs", "read", "a", "--sandbox", "web"], &place[..]].concat()).success();
    assert_eq!(read.get_output().stdout, b"x");
    let shown = sandbox(&["show", "web", "--json"]).success();
    let shown: Value = serde_json::from_slice(&shown.get_output().stdout).unwrap();
    assert_eq!(shown["attach"], json!({"container": inside.name()}));
    assert_eq!((&shown["kind"], &shown["path"]), (&json!("host"), &json!("/workspace")));
}

#[test]
fn a_wall_and_a_container_contradict_each_other() {
    let site = Site::new();
    for flags in [&["--container", "web"][..], &["--pid", "7"], &["--containers"]] {
        let refused = site.run(&[&["serve"], flags].concat()).failure().code(1);
        let said = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(said.contains("Landlock") && said.contains("--no-landlock"), "{said}");
    }
}

#[test]
fn two_trees_at_once_are_refused() {
    let site = Site::new();
    for flags in [
        &["dir", "--container", "web"][..],
        &["--store", "memory:", "--pid", "7"],
        &["--container", "web", "--pid", "7"],
        &["--container", "web", "--staging", "/tmp/s"],
        &["--container", "web", "--cross-mounts"],
        &["--container", "a/b"],
        &["--container", "web", "--container-path", "relative"],
        &["dir", "--container-path", "/x"],
    ] {
        site.run(&[&["serve", "--no-landlock"], flags].concat()).failure().code(2);
    }
}

/// A server of a container.
fn serving(engine: &Engine, inside: &Container, flags: &[&str]) -> ServerProcess {
    let mut command = Command::new(binary());
    command.args(["serve", "--no-landlock", "--snapshots", "memory:"]);
    command.args(["--container", inside.name(), "--container-socket"]).arg(engine.socket());
    command.args(flags);
    ServerProcess::spawn(command)
}

/// A server with a store that lets its operator attach sandboxes.
fn allowing(engine: &Engine, site: &Site) -> ServerProcess {
    let socket = engine.socket();
    let flags = ["--containers", "--no-landlock", "--container-socket", text(&socket)];
    ServerProcess::of_store(&site.store(), &flags)
}

fn create(server: &ServerProcess, wish: &Value) -> Answer {
    server.connect().ask("POST", "/v1/sandboxes", &JSON, wish.to_string().as_bytes())
}

fn create_as(server: &ServerProcess, wish: &Value, key: &str) -> Answer {
    // A key of a test may live as long as the test.
    let key = Box::leak(key.to_owned().into_boxed_str());
    server.connect_as(key).ask("POST", "/v1/sandboxes", &JSON, wish.to_string().as_bytes())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The first answer that is no 503, within a while.
fn at_last(ask: impl Fn() -> Answer) -> Answer {
    let end = Instant::now() + Duration::from_secs(15);
    loop {
        let answer = ask();
        if answer.status != 503 || Instant::now() > end {
            return answer;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
