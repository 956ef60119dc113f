//! `sandkeep sandbox` and `sandkeep fs --sandbox` on a server.

use std::path::Path;

use serde_json::json;

use crate::desk::Desk;
use crate::keep::Keep;
use crate::reach::errors;
use crate::site::{Site, TOKEN};

#[test]
fn sandboxes_of_a_server_are_made_listed_shown_and_deleted() {
    let desk = Desk::new();
    let made = desk.json(&["sandbox", "create", "alice", "--label", "team=blue", "--ttl", "1h"]);
    assert_eq!((&made["sandbox"], &made["kind"]), (&json!("alice"), &json!("virtual")));
    assert_eq!(made["labels"], json!({"team": "blue"}));
    assert!(made["expires"].as_str() > made["created"].as_str(), "{made}");
    desk.put("alice", "f", "12345");
    let listed = desk.said(&["sandbox", "list"]);
    let rows: Vec<Vec<&str>> = listed.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "KIND", "CREATED", "EXPIRES", "LABELS"]);
    assert_eq!((rows[1][0], rows[1][1], rows[1][4]), ("alice", "virtual", "team=blue"));
    assert_eq!((rows[2][0], rows[2][3]), ("main", "-"));
    let shown = desk.json(&["sandbox", "show", "alice"]);
    assert_eq!((&shown["bytes"], &shown["files"]), (&json!(5), &json!(1)));
    let words = desk.said(&["sandbox", "show", "alice"]);
    assert!(words.contains("label         team=blue\n"), "{words}");
    assert!(words.contains("size          5 B (5 bytes), no limit\n"), "{words}");
    desk.said(&["sandbox", "delete", "alice", "--yes"]);
    assert_eq!(desk.json(&["sandbox", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_name_that_the_server_makes_up_is_printed_for_scripts() {
    let desk = Desk::new();
    let name = desk.said(&["sandbox", "create"]);
    let name = name.trim_end();
    desk.put(name, "f", "x");
    assert_eq!(desk.said(&["fs", "read", "f", "--sandbox", name]), "x");
}

#[test]
fn sandboxes_are_found_by_their_labels() {
    let desk = Desk::new();
    for (name, label) in [("one", "team=blue"), ("two", "team=red"), ("three", "by=ci")] {
        desk.said(&["sandbox", "create", name, "--label", label]);
    }
    let names = |words: &[&str]| -> Vec<String> {
        let list = desk.json(&[&["sandbox", "list"], words].concat());
        let name = |one: &serde_json::Value| one["sandbox"].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(name).collect()
    };
    assert_eq!(names(&["--label", "team=red"]), ["two"]);
    assert_eq!(names(&["--label", "team"]), ["one", "two"]);
    assert_eq!(names(&["--label", "team", "--label", "by"]), [""; 0]);
}

#[test]
fn a_sandbox_begins_as_a_copy_of_another_or_of_its_snapshot() {
    let desk = Desk::new();
    desk.said(&["sandbox", "create", "alice", "--max-nodes", "9"]);
    desk.put("alice", "f", "new");
    let fork =
        desk.json(&["sandbox", "create", "bob", "--from", "alice", "--max-total-size", "1k"]);
    let limits = json!({"fileSize": null, "totalSize": 1024, "nodes": 9});
    assert_eq!(fork["limits"], limits, "what is not spoken of is as in the original");
    desk.put("bob", "f", "other");
    assert_eq!(desk.said(&["fs", "read", "f", "--sandbox", "alice"]), "new");
    let (code, said) = desk.fails(&["sandbox", "create", "eve", "--from", "alice@none"]);
    assert_eq!(code, 3, "{said}");
}

#[test]
fn a_sandbox_in_a_directory_is_made_where_the_operator_allows_it() {
    let site = Site::new();
    let root = site.path("sandbox");
    let desk = Desk {
        server: site.serve_store("memory:", &["--host-roots", root.to_str().unwrap()]),
        site,
    };
    let made = desk.json(&["sandbox", "create", "build", "--kind", "host", "--prefix", "/w"]);
    assert_eq!((&made["kind"], &made["prefix"]), (&json!("host"), &json!("/w")));
    desk.put("build", "f", "x");
    assert_eq!(std::fs::read(desk.site.inner("build/f")).unwrap(), b"x");
    let (code, said) = desk.fails(&["sandbox", "create", "--kind", "virtual", "--root", "build"]);
    assert_eq!(code, 2);
    assert!(said.contains("a virtual sandbox lies in none"), "{said}");
}

#[test]
fn failures_say_what_to_do_next() {
    let desk = Desk::new();
    desk.said(&["sandbox", "create", "alice"]);
    let (code, said) = desk.fails(&["sandbox", "create", "alice"]);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("a sandbox `alice` exists") && said.contains("hint: choose"), "{said}");
    let list = format!(
        "hint: see which there are: sandkeep sandbox list --endpoint {}",
        desk.server.url()
    );
    for words in [&["sandbox", "show", "none"][..], &["fs", "list", "--sandbox", "none"]] {
        let (code, said) = desk.fails(words);
        assert_eq!(code, 3, "{said}");
        assert!(said.contains(&list), "{said}");
    }
    let (code, said) = desk.fails_as("wrong", &["sandbox", "list"]);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("hint: give the server's token with --token"), "{said}");
    let (code, said) = desk.fails(&["fs", "read", "none", "--sandbox", "alice"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("--sandbox alice list /"), "{said}");
}

#[test]
fn what_only_a_server_knows_is_refused_for_a_store() {
    let keep = Keep::new();
    let (code, said) = keep.fails(&["sandbox", "create", "alice", "--ttl", "1h"]);
    assert_eq!(code, 2);
    assert!(said.contains("--ttl is for the sandboxes of a server"), "{said}");
    let (code, said) = keep.fails(&["sandbox", "list", "--endpoint", "http://127.0.0.1:9"]);
    assert_eq!(code, 2, "{said}");
    let (code, said) = keep.fails(&["fs", "list", "--session-id", "s"]);
    assert_eq!(code, 2, "{said}");
}

#[test]
fn a_sandbox_of_a_store_is_shown_without_a_server() {
    let keep = Keep::with(&["--max-nodes", "8"]);
    keep.put("f", "12345");
    let limits = json!({"fileSize": null, "totalSize": null, "nodes": 8});
    let expected = json!({
        "sandbox": "main", "bytes": 5, "files": 1, "directories": 1, "nodes": 2, "limits": limits,
    });
    assert_eq!(keep.json(&["sandbox", "show", "main"]), expected);
    let said = keep.said(&["sandbox", "show", "main"]);
    assert!(said.starts_with("name          main\nsize          5 B"), "{said}");
    keep.said(&["sandbox", "delete", "main"]);
    assert_eq!(keep.fails(&["sandbox", "show", "main"]).0, 3);
}

#[test]
fn a_flag_beats_the_environment_and_two_variables_are_a_question() {
    let desk = Desk::new();
    let run = |words: &[&str]| {
        let mut command = desk.site.sandkeep();
        command.env("SANDKEEP_STORE", desk.site.store()).env("SANDKEEP_TOKEN", TOKEN);
        command.args(words).output().unwrap()
    };
    let output = run(&["sandbox", "list", "--json", "--endpoint", desk.server.url()]);
    assert!(output.status.success(), "{}", errors(&output));
    let mut command = desk.site.sandkeep();
    command.env("SANDKEEP_STORE", desk.site.store()).env("SANDKEEP_ENDPOINT", desk.server.url());
    let output = command.args(["sandbox", "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("are both set"), "{}", errors(&output));
}

#[test]
fn a_server_that_is_not_there_ends_with_6() {
    let site = Site::new();
    let mut command = site.sandkeep();
    command.env("SANDKEEP_ENDPOINT", "http://127.0.0.1:9").args(["sandbox", "create"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", errors(&output));
    assert!(errors(&output).contains("hint: check that a server listens"), "{}", errors(&output));
}

#[test]
fn a_snapshot_of_a_servers_sandbox_is_looked_into() {
    let desk = Desk::new();
    desk.put("main", "f", "old");
    let url = format!("{}/v1/sandboxes/main/snapshots", desk.server.url());
    let taken = std::process::Command::new("curl")
        .args(["-sS", "--fail", "--json", "{\"id\":\"v1\"}", "-H"])
        .args([format!("Authorization: Bearer {TOKEN}"), url])
        .output()
        .unwrap();
    assert!(taken.status.success(), "{}", errors(&taken));
    desk.put("main", "f", "new");
    assert_eq!(desk.said(&["fs", "read", "f", "--sandbox", "main", "--at", "v1"]), "old");
    assert_eq!(desk.said(&["search", "o", "--sandbox", "main", "--at", "v1"]), "/f:1: old\n");
    let (code, said) = desk.fails(&["fs", "read", "f", "--sandbox", "main", "--at", "v2"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("/v1/sandboxes/main/snapshots"), "{said}");
    desk.said(&["sandbox", "create", "copy", "--from", "main@v1"]);
    assert_eq!(desk.said(&["fs", "read", "f", "--sandbox", "copy"]), "old");
}

#[test]
fn a_server_searches_its_sandbox_itself() {
    let desk = Desk::new();
    desk.put("main", "src/a.rs", "fn main() {}\n// Todo\n");
    desk.put("main", "b.md", "main things\n");
    desk.put("main", ".hidden", "main\n");
    assert_eq!(
        desk.said(&["search", "main", "--sandbox", "main"]),
        "/b.md:1: main things\n/src/a.rs:1: fn main() {}\n"
    );
    let found = desk.said(&["fs", "search", "-i", "todo", "src", "--sandbox", "main"]);
    assert_eq!(found, "/src/a.rs:2: // Todo\n");
    assert_eq!(desk.said(&["search", "--names", "*.md", "--sandbox", "main"]), "/b.md\n");
    let hidden = desk.said(&["search", "-F", "main", "--hidden", "-g", ".*", "--sandbox", "main"]);
    assert_eq!(hidden, "/.hidden:1: main\n");
    let said = desk.said(&["search", "main", "--max-results", "1", "--json", "--sandbox", "main"]);
    let end: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!((&end["type"], &end["reason"]), (&json!("end"), &json!("results")));
    let (code, said) = desk.fails(&["search", "(", "--sandbox", "main"]);
    assert_eq!(code, 2);
    assert!(said.contains("the pattern cannot be used"), "{said}");
}

/// What a server of the site's directory says that does not start.
fn refused(site: &Site, flags: &[&str]) -> String {
    let mut command = site.sandkeep();
    command.arg("serve").arg(site.path("sandbox"));
    command.args(["--port", "0", "--token", TOKEN]).args(flags);
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn sandboxes_lie_apart_from_what_belongs_to_the_server() {
    let site = Site::new();
    let (inner, audit) = (site.inner("boxes"), site.path("boxes/audit.jsonl"));
    let boxes = site.path("boxes");
    let roots = |root: &Path| ["--host-roots".to_owned(), root.display().to_string()];
    let staging = ["--staging".to_owned(), site.path("boxes/staging").display().to_string()];
    let audit = ["--audit".to_owned(), audit.display().to_string()];
    for (flags, with) in [
        (roots(&inner).to_vec(), "the served directory"),
        (roots(&site.path("")).to_vec(), "within one another"),
        ([roots(&boxes), staging].concat(), "--staging"),
        ([roots(&boxes), audit].concat(), "--audit"),
    ] {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let said = refused(&site, &flags);
        assert!(said.contains("lie within one another") && said.contains(with), "{said}");
    }
}

#[test]
fn a_directory_is_served_twice_only_with_two_stores() {
    let site = Site::new();
    let first = site.serve(&[]);
    let said = refused(&site, &[]);
    assert!(said.contains("cannot be opened"), "{said}");
    assert!(said.contains("hint: stop the server that serves the directory already"), "{said}");
    site.serve(&["--snapshots", "memory:"]);
    drop(first);
}

#[test]
fn a_server_waits_for_the_one_before_it_to_leave_their_store() {
    let site = Site::new();
    let first = site.serve(&[]);
    let leaving = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        drop(first);
    });
    site.serve(&[]);
    leaving.join().unwrap();
}

/// Writes something else over every file beneath a directory.
fn spoil(dir: &Path) {
    for found in std::fs::read_dir(dir).unwrap() {
        let path = found.unwrap().path();
        if path.is_dir() {
            spoil(&path);
        } else {
            std::fs::write(path, "spoiled").unwrap();
        }
    }
}

#[test]
fn a_server_does_not_begin_without_the_sandboxes_that_it_kept() {
    let site = Site::new();
    drop(site.serve(&[]));
    let data = site.path("home/.local/state/sandkeep/data");
    let store = std::fs::read_dir(data).unwrap().next().unwrap().unwrap().path();
    spoil(&store);
    let said = refused(&site, &[]);
    assert!(said.contains("cannot be opened"), "{said}");
    assert!(said.contains("it holds the sandboxes and keys of this directory"), "{said}");
}
