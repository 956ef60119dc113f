//! How the file commands find their server or directory.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::Value;

use crate::reach::{Reach, errors};
use crate::site::{Server, Site, TOKEN};

#[test]
fn a_server_that_is_not_there_ends_with_6() {
    let site = Site::new();
    let assert = site.run(&["fs", "--endpoint", "http://127.0.0.1:9", "list"]).code(6);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("hint: check that a server listens at http://127.0.0.1:9"), "{said}");
}

#[test]
fn a_wrong_token_ends_with_4() {
    let site = Site::new();
    let server = site.serve(&[]);
    let assert = site.run(&["fs", "--endpoint", server.url(), "--token", "wrong", "list"]).code(4);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(
        said.contains("hint: give the server's token with --token or SANDKEEP_TOKEN"),
        "{said}"
    );
}

#[test]
fn endpoint_and_token_come_from_the_environment_too() {
    let site = Site::new();
    fs::write(site.inner("f"), "x").unwrap();
    let server = site.serve(&[]);
    let mut command = site.sandkeep();
    command.env("SANDKEEP_ENDPOINT", server.url()).env("SANDKEEP_TOKEN", TOKEN);
    let output = command.args(["fs", "read", "f"]).output().unwrap();
    assert_eq!(output.stdout, b"x", "{}", errors(&output));
}

#[test]
fn a_token_before_the_word_beats_the_environment() {
    let site = Site::new();
    let server = site.serve(&[]);
    let mut command = site.sandkeep();
    command.env("SANDKEEP_ENDPOINT", server.url()).env("SANDKEEP_TOKEN", "wrong");
    let output = command.args(["--token", TOKEN, "fs", "list"]).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
}

#[test]
fn a_session_gives_relative_paths_their_beginning() {
    let site = Site::new();
    fs::create_dir_all(site.inner("project")).unwrap();
    let mut command = site.sandkeep();
    command.current_dir(site.inner("project")).arg("serve").arg(site.path("sandbox"));
    command.args(["--port", "0", "--token", TOKEN, "--json", "--root-prefix", "/"]);
    let server = Server::start(command);
    let opened = std::process::Command::new("curl")
        .args(["-sS", "--fail", "--json", "{\"agent\":\"mock\"}", "-H"])
        .args([
            format!("Authorization: Bearer {TOKEN}"),
            format!("{}/v1/sessions/s1", server.url()),
        ])
        .output()
        .unwrap();
    assert!(opened.status.success(), "{}", errors(&opened));
    let flags = ["fs", "--endpoint", server.url(), "--token", TOKEN];
    site.run(&[&flags[..], &["--session-id", "s1", "write", "f", "--content", "x"]].concat())
        .success();
    assert_eq!(fs::read(site.inner("project/f")).unwrap(), b"x");
    site.run(&[&flags[..], &["--session-id", "nobody", "list"]].concat()).code(3);
}

#[test]
fn a_server_with_a_prefix_is_spoken_to_in_its_own_paths() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.arg("serve").arg(site.path("sandbox"));
    command.args(["--port", "0", "--token", TOKEN, "--json", "--root-prefix", "/workspace"]);
    let server = Server::start(command);
    let flags = ["fs", "--json", "--endpoint", server.url(), "--token", TOKEN];
    let assert = site.run(&[&flags[..], &["write", "a/f", "--content", "x"]].concat()).success();
    let written: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(written["path"], "/workspace/a/f");
    site.run(&[&flags[..], &["read", "/workspace/a/f"]].concat()).success();
    site.run(&[&flags[..], &["read", "/elsewhere/f"]].concat()).code(4);
    let assert = site.run(&[&flags[..], &["tree"]].concat()).success();
    let entries: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(entries[1]["path"], "/workspace/a/f");
}

#[test]
fn a_directory_that_is_not_there_is_not_made() {
    let site = Site::new();
    site.run(&["fs", "--dir", "nowhere", "list"]).code(3);
    assert!(!site.path("work/nowhere").exists());
}

#[test]
fn a_file_that_is_given_as_the_directory_is_named() {
    let site = Site::new();
    fs::write(site.path("work/plain"), "").unwrap();
    let assert = site.run(&["fs", "--dir", "plain", "list"]).code(1);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("work/plain cannot be used: path is not a directory"), "{said}");
    assert!(said.contains("hint: name a directory that exists"), "{said}");
}

#[test]
fn a_server_with_too_many_connections_ends_with_6_like_one_that_is_not_there() {
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", full.local_addr().unwrap());
    let refusing = thread::spawn(move || {
        let (mut client, _) = full.accept().unwrap();
        let mut head = [0; 4096];
        assert!(client.read(&mut head).unwrap() > 0);
        let body = r#"{"status":503,"detail":"too many connections","kind":"busy"}"#;
        let length = body.len();
        write!(client, "HTTP/1.1 503 Busy\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    });
    let assert = Site::new().run(&["fs", "-e", &url, "list"]).code(6);
    refusing.join().unwrap();
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("too many connections") && said.contains("hint: try again"), "{said}");
}

#[test]
fn working_in_a_directory_leaves_nothing_beside_it() {
    let reach = Reach::in_a_directory();
    reach.said(&["write", "a/b", "--content", "x"]);
    reach.said(&["copy", "a", "c"]);
    reach.said(&["delete", "-r", "a"]);
    let mut names: Vec<_> =
        fs::read_dir(reach.site.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["home", "sandbox", "work"]);
    assert_eq!(fs::read_dir(reach.site.path("sandbox")).unwrap().count(), 1);
}
