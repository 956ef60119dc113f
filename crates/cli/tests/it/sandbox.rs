//! The commands about stores and what they hold: `stats`, `sandbox` and `gc`.

use std::fs;

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::keep::Keep;
use crate::reach::errors;
use crate::site::Site;

#[test]
fn stats_tell_how_much_is_used_of_each_limit() {
    let keep = Keep::with(&["--max-total-size", "1k", "--max-nodes", "8"]);
    keep.put("dir/f", &"x".repeat(512));
    let said = keep.said(&["stats"]);
    for line in [
        "size          512 B (512 bytes), 50% of 1.0 KiB",
        "files         1",
        "directories   2",
        "nodes         3, 37% of 8",
        "longest file  no limit",
    ] {
        assert!(said.lines().any(|said| said == line), "{line} is missing in\n{said}");
    }
    let limits = json!({"fileSize": null, "totalSize": 1024, "nodes": 8});
    let stats = json!({"bytes": 512, "files": 1, "directories": 2, "nodes": 3, "limits": limits});
    assert_eq!(keep.json(&["stats"]), stats);
}

#[test]
fn stats_of_a_directory_count_its_files() {
    let site = Site::new();
    fs::create_dir(site.inner("d")).unwrap();
    fs::write(site.inner("d/f"), "12345").unwrap();
    let dir = site.path("sandbox");
    let stats = |words: &[&str]| {
        let words = [&["stats", "--dir", dir.to_str().unwrap()], words].concat();
        String::from_utf8(site.run(&words).success().get_output().stdout.clone()).unwrap()
    };
    let told: Value = serde_json::from_str(&stats(&["--json"])).unwrap();
    let expected = json!({"bytes": 5, "files": 1, "directories": 2, "nodes": 3, "limits": null});
    assert_eq!(told, expected);
    assert!(!stats(&[]).contains("limit"), "the limits of a directory are its server's affair");
}

#[test]
fn sandboxes_are_made_listed_and_removed() {
    let keep = Keep::new();
    keep.put("f", "12345");
    assert_eq!(keep.json(&["sandbox", "create", "alice"]), json!({"sandbox": "alice"}));
    let said = keep.said(&["sandbox", "list"]);
    let rows: Vec<Vec<&str>> = said.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "FILES", "DIRECTORIES", "SIZE"]);
    assert_eq!(rows[1], ["alice", "0", "1", "0", "B"]);
    assert_eq!(rows[2], ["main", "1", "1", "5", "B"]);
    assert_eq!(keep.json(&["sandbox", "list"])[1]["bytes"], 5);
    keep.said(&["sandbox", "remove", "alice", "--yes"]);
    assert_eq!(keep.json(&["sandbox", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(keep.fails(&["fs", "list", "--sandbox", "alice"]).0, 3);
}

#[test]
fn a_sandbox_is_made_once_and_removed_once() {
    let keep = Keep::new();
    let (code, said) = keep.fails(&["sandbox", "create"]);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("a sandbox `main` exists"), "{said}");
    let (code, said) = keep.fails(&["sandbox", "remove", "gone"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("hint: see which there are: sandkeep sandbox list"), "{said}");
    assert_eq!(keep.fails(&["sandbox", "create", "Not-A-Name"]).0, 2);
}

#[test]
fn a_removed_sandbox_takes_its_snapshots_and_leaves_its_forks() {
    let keep = Keep::new();
    keep.put("f", &"x".repeat(100_000));
    keep.said(&["snapshot", "create", "v1"]);
    keep.said(&["snapshot", "fork", "v1", "fork"]);
    keep.said(&["sandbox", "remove", "main"]);
    keep.said(&["gc", "--grace", "0s"]);
    assert_eq!(keep.said(&["fs", "read", "f", "--sandbox", "fork"]), "x".repeat(100_000));
    keep.said(&["sandbox", "create"]);
    assert_eq!(keep.names(&[]), [""; 0]);
}

#[test]
fn garbage_is_freed_at_once_where_nothing_is_to_be_waited_for() {
    let keep = Keep::new();
    let mut dice = Dice::new(1);
    let noise: Vec<u8> = (0..250_000).flat_map(|_| dice.roll().to_le_bytes()).collect();
    assert!(keep.run(&["fs", "write", "large"], &noise).status.success());
    keep.said(&["snapshot", "create", "v1"]);
    keep.said(&["fs", "delete", "large"]);
    assert_eq!(keep.json(&["gc", "--grace", "0s"])["freed"], 0, "the snapshot holds it");
    keep.said(&["snapshot", "delete", "v1"]);
    let patient = keep.json(&["gc"]);
    assert_eq!(patient["freed"], 0, "an hour has not passed: {patient}");
    let output = keep.run(&["gc", "--grace", "0s", "--json"], b"");
    let collected: Value = serde_json::from_slice(&output.stdout).unwrap();
    let freed = collected["freed"].as_u64().unwrap();
    assert!(freed > 1_000_000, "{collected}");
    assert_eq!(keep.json(&["gc", "--grace", "0s"])["deleted"], 0);
}

#[test]
fn gc_says_what_it_did() {
    let keep = Keep::new();
    let output = keep.run(&["gc"], b"");
    assert!(errors(&output).starts_with("deleted 0 objects, 0 B freed"), "{}", errors(&output));
    let (code, said) = keep.fails(&["gc", "--grace", "soon"]);
    assert_eq!(code, 2);
    assert!(said.contains("such as 0s, 30m or 1h"), "{said}");
}

#[test]
fn a_dry_run_of_gc_says_what_would_go_and_nothing_goes() {
    let keep = Keep::new();
    keep.put("f", &"x".repeat(100_000));
    keep.said(&["fs", "delete", "f"]);
    let first = keep.json(&["gc", "--grace", "0s", "--dry-run"]);
    assert_eq!(first["dryRun"], true);
    assert!(first["deleted"].as_u64().unwrap() > 0, "{first}");
    let output = keep.run(&["gc", "--grace", "0s", "-n"], b"");
    assert!(errors(&output).starts_with("would delete "), "{}", errors(&output));
    let patient = keep.json(&["gc", "--dry-run"]);
    assert_eq!(patient["deleted"], 0, "an hour has not passed: {patient}");
    let earnest = keep.json(&["gc", "--grace", "0s"]);
    for count in ["deleted", "freed", "live"] {
        assert_eq!(earnest[count], first[count], "{count}");
    }
    assert_eq!(keep.json(&["gc", "--grace", "0s", "--dry-run"])["deleted"], 0);
}
