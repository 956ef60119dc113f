//! `sandkeep keys`, and what a key lets its holder do.

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::reach::errors;
use crate::site::TOKEN;

fn key(desk: &Desk, words: &[&str]) -> Value {
    desk.json(&[&["keys", "create"], words].concat())
}

#[test]
fn a_key_is_printed_once_and_says_so() {
    let desk = Desk::new();
    let output = desk.run_as(TOKEN, &["keys", "create", "developer", "--label", "ci"]);
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(printed.starts_with("ask_") && printed.lines().count() == 1, "{printed}");
    assert!(errors(&output).contains("it is shown this once"), "{}", errors(&output));
    let secret = printed.trim_end().rsplit('_').next().unwrap();
    assert!(!errors(&output).contains(secret));
    let list = desk.said(&["keys", "list", "--json"]);
    assert!(list.contains("\"label\":\"ci\"") && !list.contains(secret), "{list}");
}

#[test]
fn keys_are_listed_and_shown_with_what_they_allow() {
    let desk = Desk::new();
    let made = key(
        &desk,
        &["viewer", "--sandbox", "b", "--sandbox", "a", "--prefix", "/src", "--ttl", "1h"],
    );
    let id = made["id"].as_str().unwrap();
    assert!(made["key"].as_str().unwrap().starts_with(&format!("ask_{id}_")));
    let shown = desk.json(&["keys", "show", id]);
    assert_eq!((&shown["role"], &shown["sandboxes"]), (&json!("viewer"), &json!(["a", "b"])));
    assert_eq!((&shown["prefix"], &shown["createdBy"]), (&json!("/src"), &json!("token")));
    assert!(shown["expires"].as_str() > shown["created"].as_str(), "{shown}");
    assert_eq!(shown.get("key"), None);
    let listed = desk.said(&["keys", "list"]);
    let rows: Vec<Vec<&str>> = listed.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["ID", "ROLE", "SANDBOXES", "PREFIX", "EXPIRES", "LABEL"]);
    assert_eq!(rows[1][..5], [id, "viewer", "a", "b", "/src"]);
    let words = desk.said(&["keys", "show", id]);
    assert!(words.contains("sandboxes     a b\n"), "{words}");
}

#[test]
fn a_key_lets_its_holder_do_no_more_than_it_says() {
    let desk = Desk::new();
    desk.said(&["sandbox", "create", "alice"]);
    desk.put("alice", "src/f", "x");
    let made = key(&desk, &["viewer", "--sandbox", "alice", "--prefix", "src"]);
    let key = made["key"].as_str().unwrap();
    let output = desk.run_as(key, &["fs", "read", "src/f", "--sandbox", "alice"]);
    assert_eq!(output.stdout, b"x", "{}", errors(&output));
    let write = ["fs", "write", "src/g", "--content", "y", "--sandbox", "alice"];
    let (code, said) = desk.fails_as(key, &write);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("role") && said.contains("--token KEY"), "{said}");
    assert_eq!(desk.fails_as(key, &["fs", "list", "--sandbox", "main"]).0, 3);
    assert_eq!(desk.fails_as(key, &["keys", "list"]).0, 4);
    assert_eq!(desk.fails_as(key, &["sandbox", "create", "eve"]).0, 4);
}

#[test]
fn a_revoked_key_opens_nothing() {
    let desk = Desk::new();
    let made = key(&desk, &["owner"]);
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    assert!(desk.run_as(key, &["sandbox", "list"]).status.success());
    assert_eq!(desk.json(&["keys", "revoke", id]), json!({"id": id}));
    let (code, said) = desk.fails_as(key, &["sandbox", "list"]);
    assert_eq!(code, 4, "{said}");
    let (code, said) = desk.fails(&["keys", "revoke", id]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("hint: see which there are: sandkeep keys list --endpoint"), "{said}");
}

#[test]
fn a_key_comes_before_the_command_or_from_the_environment_too() {
    let desk = Desk::new();
    let made = key(&desk, &["owner"]);
    let key = made["key"].as_str().unwrap();
    let mut command = desk.site.sandkeep();
    command.env("SANDKEEP_ENDPOINT", desk.server.url()).env("SANDKEEP_TOKEN", key);
    assert!(command.args(["keys", "list"]).output().unwrap().status.success());
    let mut command = desk.site.sandkeep();
    command.env("SANDKEEP_ENDPOINT", desk.server.url()).args(["--token", key, "keys", "list"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
}

#[test]
fn a_server_that_is_not_there_ends_with_6_and_says_where_it_was_sought() {
    let site = crate::site::Site::new();
    let assert = site.run(&["keys", "list", "--endpoint", "http://127.0.0.1:9"]).code(6);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(said.contains("hint: check that a server listens at http://127.0.0.1:9"), "{said}");
}
