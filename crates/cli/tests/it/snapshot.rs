//! Every snapshot command, in words and in JSON.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::attack_form::program;
use crate::keep::Keep;
use crate::reach::errors;
use crate::site::Site;

#[test]
fn create_prints_a_name_that_sorts_by_time() {
    let keep = Keep::new();
    let first = keep.said(&["snapshot", "create"]);
    let second = keep.said(&["snapshot", "create"]);
    assert!(first < second, "{first} {second}");
    assert_eq!(keep.names(&[]), [first.trim_end(), second.trim_end()]);
}

#[test]
fn create_takes_a_name_a_message_and_labels() {
    let keep = Keep::new();
    keep.put("a/b", "12345");
    let words = ["snapshot", "create", "v1.0", "-m", "first", "-l", "by=ci", "--label", "run=7"];
    let made = keep.json(&words);
    assert_eq!((&made["id"], &made["message"]), (&"v1.0".into(), &"first".into()));
    assert_eq!(made["labels"], json!({"by": "ci", "run": "7"}));
    let figures = [&made["bytes"], &made["files"], &made["directories"], &made["nodes"]];
    assert_eq!(figures, [&json!(5), &json!(1), &json!(2), &json!(3)]);
    assert!(made["created"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn create_says_beside_the_name_what_it_kept() {
    let keep = Keep::new();
    keep.put("f", "12345");
    let output = keep.run(&["snapshot", "create", "v1"], b"");
    assert_eq!(
        (output.stdout.as_slice(), errors(&output).as_str()),
        (b"v1\n".as_slice(), "kept 1 file, 5 B\n")
    );
}

#[test]
fn a_name_is_taken_once() {
    let keep = Keep::new();
    keep.said(&["snapshot", "create", "v1"]);
    let (code, said) = keep.fails(&["snapshot", "create", "v1"]);
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("a snapshot `v1` exists"), "{said}");
    assert!(said.contains("hint: choose another name"), "{said}");
}

#[test]
fn a_name_that_cannot_be_is_refused() {
    let keep = Keep::new();
    for name in ["V1", "-x", "a/b", "@live", ""] {
        assert_eq!(keep.fails(&["snapshot", "create", "--", name]).0, 2, "{name}");
    }
    assert_eq!(keep.fails(&["snapshot", "create", "--label", "no-value"]).0, 2);
}

#[test]
fn list_is_a_table_in_the_order_of_names() {
    let keep = Keep::new();
    assert_eq!(keep.said(&["snapshot", "list"]), "");
    keep.put("f", "12345");
    keep.said(&["snapshot", "create", "b", "-m", "first line\nsecond line"]);
    keep.said(&["snapshot", "create", "a"]);
    let said = keep.said(&["snapshot", "list"]);
    let rows: Vec<Vec<&str>> = said.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["NAME", "CREATED", "FILES", "SIZE", "MESSAGE"]);
    assert_eq!((rows[1][0], &rows[1][2..]), ("a", ["1", "5", "B"].as_slice()));
    assert_eq!((rows[2][0], &rows[2][2..]), ("b", ["1", "5", "B", "first", "line"].as_slice()));
}

#[test]
fn list_as_json_is_an_array_that_can_be_read_in_parts() {
    let keep = Keep::new();
    assert_eq!(keep.json(&["snapshot", "list"]), json!([]));
    for name in ["a", "b", "c", "d"] {
        keep.said(&["snapshot", "create", name]);
    }
    assert_eq!(keep.names(&[]), ["a", "b", "c", "d"]);
    assert_eq!(keep.names(&["--after", "a", "--limit", "2"]), ["b", "c"]);
    assert_eq!(keep.names(&["--limit", "0"]), [""; 0]);
}

#[test]
fn list_goes_on_until_all_are_told() {
    const MANY: usize = 1203;
    let keep = Keep::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = engine::Store::open(&keep.url).await.unwrap();
        let main = engine::SandboxId::parse("main").unwrap();
        let files = store.sandbox(&main).await.unwrap();
        for number in 0..MANY {
            let id = engine::SnapshotId::parse(&format!("s{number:05}")).unwrap();
            let new = engine::NewSnapshot { id: Some(id), ..Default::default() };
            engine::Snapshots::create(&files, new).await.unwrap();
        }
    });
    drop(runtime);
    let names = keep.names(&[]);
    assert_eq!((names.len(), names[MANY - 1].as_str()), (MANY, "s01202"));
    assert_eq!(keep.said(&["snapshot", "list"]).lines().count(), MANY + 1);
}

#[test]
fn show_tells_what_is_known() {
    let keep = Keep::new();
    keep.put("f", "12345");
    keep.said(&["snapshot", "create", "v1", "-m", "why", "-l", "by=ci"]);
    let said = keep.said(&["snapshot", "show", "v1"]);
    for line in [
        "name        v1",
        "message     why",
        "files       1",
        "directories 1",
        "size        5 B (5 bytes)",
        "label       by=ci",
    ] {
        assert!(said.lines().any(|said| said == line), "{line} is missing in\n{said}");
    }
    assert_eq!(keep.json(&["snapshot", "show", "v1"])["labels"], json!({"by": "ci"}));
}

#[test]
fn a_missing_snapshot_ends_with_3_and_says_where_to_look() {
    let keep = Keep::new();
    keep.said(&["snapshot", "create", "there"]);
    for words in [
        ["show", "gone"].as_slice(),
        &["diff", "gone"],
        &["diff", "there", "gone"],
        &["restore", "gone"],
        &["fork", "gone", "new"],
        &["export", "gone", "-o", "file"],
        &["export", "there", "--since", "gone", "-o", "file"],
        &["delete", "gone"],
    ] {
        let (code, said) = keep.fails(&[&["snapshot"], words].concat());
        assert_eq!(code, 3, "{words:?}: {said}");
        assert!(said.contains("there is no snapshot `gone`"), "{words:?}: {said}");
        assert!(
            said.contains("hint: see which there are: sandkeep snapshot list --store"),
            "{said}"
        );
    }
    let (code, said) = keep.fails(&["snapshot", "show", "gone", "--json"]);
    let failure: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &failure["kind"]), (3, &"not_found".into()));
}

/// A sandbox with a snapshot `v1`, and changes of every kind since.
fn changed() -> Keep {
    let keep = Keep::new();
    for (path, content) in
        [("kept", "k"), ("gone", "g"), ("dir/changed", "old"), ("moved", &"m".repeat(9000))]
    {
        keep.put(path, content);
    }
    keep.said(&["snapshot", "create", "v1"]);
    keep.put("dir/changed", "new");
    keep.put("new/added", "a");
    keep.said(&["fs", "delete", "gone"]);
    keep.said(&["snapshot", "create", "v2"]);
    keep
}

#[test]
fn diff_shows_a_letter_and_a_path_a_line() {
    let keep = changed();
    let differences = "M\t/dir/changed\nD\t/gone\nA\t/new/\nA\t/new/added\n";
    assert_eq!(keep.said(&["snapshot", "diff", "v1"]), differences);
    assert_eq!(keep.said(&["snapshot", "diff", "v1", "v2"]), differences);
    let back = "M\t/dir/changed\nA\t/gone\nD\t/new/\nD\t/new/added\n";
    assert_eq!(keep.said(&["snapshot", "diff", "v2", "v1"]), back);
    assert_eq!(keep.said(&["snapshot", "diff", "@live", "v1"]), back);
    assert_eq!(keep.said(&["snapshot", "diff", "v2"]), "");
}

#[test]
fn diff_as_json_carries_what_was_and_what_is() {
    let keep = changed();
    let found = keep.json(&["snapshot", "diff", "v1", "v2"]);
    let changed = &found[0];
    assert_eq!(
        (&changed["change"], &changed["path"]),
        (&"modified".into(), &"/dir/changed".into())
    );
    assert_ne!(changed["before"]["version"], changed["after"]["version"]);
    let removed = &found[1];
    assert_eq!((&removed["change"], &removed["before"]["size"]), (&"removed".into(), &1.into()));
    assert!(removed.get("after").is_none());
    assert_eq!(found[2]["after"]["kind"], "directory");
    assert_eq!(keep.json(&["snapshot", "diff", "v2"]), json!([]));
}

#[test]
fn diff_has_colours_where_they_are_welcome() {
    let keep = changed();
    let seen = |variables: &[(&str, &str)]| {
        let mut command = keep.site.sandkeep();
        command.args(["snapshot", "diff", "v1", "--store", &keep.url]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(seen(&[("CLICOLOR_FORCE", "1")]).contains("\u{1b}[31mD\t/gone\u{1b}[0m\n"));
    assert!(!seen(&[("NO_COLOR", "1"), ("CLICOLOR", "1")]).contains('\u{1b}'));
    assert!(!seen(&[]).contains('\u{1b}'));
}

#[test]
fn restore_brings_back_everything() {
    let keep = changed();
    let output = keep.run(&["snapshot", "restore", "v1"], b"");
    assert_eq!(errors(&output), "everything is again as in v1\n");
    assert_eq!(keep.content("dir/changed"), "old");
    assert_eq!(keep.content("gone"), "g");
    assert_eq!(keep.fails(&["fs", "stat", "new"]).0, 3);
    assert_eq!(keep.said(&["snapshot", "diff", "v1"]), "");
}

#[test]
fn restore_brings_back_one_path_alone() {
    let keep = changed();
    let restored = keep.json(&["snapshot", "restore", "v1", "--path", "dir"]);
    assert_eq!(restored, json!({"id": "v1", "path": "/dir"}));
    assert_eq!(keep.content("dir/changed"), "old");
    assert_eq!(keep.fails(&["fs", "stat", "gone"]).0, 3);
    keep.said(&["snapshot", "restore", "v1", "--path", "/new"]);
    assert_eq!(keep.fails(&["fs", "stat", "new"]).0, 3, "what the snapshot does not hold goes");
}

/// What a user sees who types this line at a terminal, and then answers.
fn typed(keep: &Keep, words: &str, answer: &str) -> String {
    let sandkeep = env!("CARGO_BIN_EXE_sandkeep");
    let line = format!("{sandkeep} {words} --store {}", keep.url);
    let mut script = keep.site.program(Path::new("/usr/bin/script"));
    script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm");
    let output = assert_cmd::Command::from_std(script).write_stdin(answer).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn restore_asks_on_a_terminal_first() {
    if !program("script") {
        return;
    }
    let keep = changed();
    let seen = typed(&keep, "snapshot restore v1", "n\n");
    assert!(seen.contains("This changes 4 paths; what is there now is lost."), "{seen}");
    assert!(seen.contains("nothing was changed"), "{seen}");
    assert_eq!(keep.content("dir/changed"), "new");
    let seen = typed(&keep, "snapshot restore v1 --path dir", "y\n");
    assert!(seen.contains("This changes 1 path;"), "{seen}");
    assert_eq!(keep.content("dir/changed"), "old");
    let seen = typed(&keep, "snapshot restore v1 --yes", "");
    assert!(!seen.contains("[y/N]"), "{seen}");
    assert_eq!(keep.content("gone"), "g");
}

#[test]
fn a_fork_begins_as_a_copy_and_goes_its_own_way() {
    let keep = changed();
    keep.said(&["snapshot", "fork", "v1", "old"]);
    keep.said(&["snapshot", "fork", "@live", "now"]);
    let read = |sandbox: &str| keep.said(&["fs", "read", "dir/changed", "--sandbox", sandbox]);
    assert_eq!((read("old"), read("now")), ("old".into(), "new".into()));
    keep.said(&["fs", "write", "dir/changed", "--content", "other", "--sandbox", "old"]);
    assert_eq!(
        (read("old"), read("now"), read("main")),
        ("other".into(), "new".into(), "new".into())
    );
    let (code, said) = keep.fails(&["snapshot", "fork", "v1", "old"]);
    assert_eq!(code, 5, "{said}");
    assert_eq!(keep.fails(&["snapshot", "fork", "v1", "Not-A-Name"]).0, 2);
}

#[test]
fn a_fork_has_the_limits_of_the_original_unless_told_otherwise() {
    let keep = Keep::with(&["--max-nodes", "10", "--max-total-size", "1k"]);
    keep.put("f", "12345");
    keep.said(&["snapshot", "fork", "@live", "same"]);
    let more = ["snapshot", "fork", "@live", "more", "--max-nodes", "none", "--max-file-size", "5"];
    keep.said(&more);
    let limits = |sandbox: &str| keep.json(&["stats", "--sandbox", sandbox])["limits"].clone();
    assert_eq!(limits("same"), json!({"fileSize": null, "totalSize": 1024, "nodes": 10}));
    assert_eq!(limits("more"), json!({"fileSize": 5, "totalSize": 1024, "nodes": null}));
    let (_, said) = keep.fails(&["snapshot", "fork", "@live", "less", "--max-total-size", "4"]);
    assert!(said.contains("the total size limit of 4 bytes would be exceeded"), "{said}");
    assert_eq!(keep.fails(&["fs", "list", "--sandbox", "less"]).0, 3);
}

#[test]
fn an_export_is_taken_in_by_another_store() {
    let (here, there) = (changed(), Keep::new());
    let written = here.json(&["snapshot", "export", "v1", "-o", "v1.sandkeep"]);
    let file = here.site.path("work/v1.sandkeep");
    assert_eq!(written["bytes"], fs::metadata(&file).unwrap().len());
    let file = file.to_str().unwrap();
    assert_eq!(
        there.said(&["snapshot", "import", file, "from-here", "-m", "carried"]),
        "from-here\n"
    );
    assert_eq!(there.json(&["snapshot", "show", "from-here"])["message"], "carried");
    assert_eq!(there.said(&["fs", "list"]), "", "an import changes no file");
    there.said(&["snapshot", "restore", "from-here"]);
    assert_eq!(there.content("dir/changed"), "old");
    assert_eq!(there.content("moved"), "m".repeat(9000));
}

#[test]
fn an_export_goes_through_a_pipe() {
    let (here, there) = (changed(), Keep::new());
    let stream = here.run(&["snapshot", "export", "@live"], b"").stdout;
    let output = there.run(&["snapshot", "import", "-", "--json"], &stream);
    let taken: Value = serde_json::from_slice(&output.stdout).unwrap();
    there.said(&["snapshot", "restore", taken["id"].as_str().unwrap()]);
    assert_eq!(there.content("new/added"), "a");
}

#[test]
fn an_export_since_a_snapshot_is_short_and_needs_that_snapshot() {
    let (here, there) = (Keep::new(), Keep::new());
    let large: Vec<u8> =
        (0..400_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    assert!(here.run(&["fs", "write", "large"], &large).status.success());
    here.said(&["snapshot", "create", "v1"]);
    here.put("small", "s");
    here.said(&["snapshot", "create", "v2"]);
    let whole = here.run(&["snapshot", "export", "v1"], b"").stdout;
    let since = here.run(&["snapshot", "export", "v2", "--since", "v1"], b"").stdout;
    assert!(since.len() < whole.len() / 10, "{} of {}", since.len(), whole.len());
    let early = there.run(&["snapshot", "import", "-", "v2"], &since);
    assert!(!early.status.success(), "v1 is not there");
    assert!(there.run(&["snapshot", "import", "-", "v1"], &whole).status.success());
    let output = there.run(&["snapshot", "import", "-", "v2"], &since);
    assert!(output.status.success(), "{}", errors(&output));
    there.said(&["snapshot", "restore", "v2"]);
    assert_eq!(there.content("small"), "s");
    assert!(there.run(&["fs", "read", "large"], b"").stdout == large);
}

#[test]
fn a_damaged_stream_changes_nothing() {
    let (here, there) = (changed(), Keep::new());
    let mut stream = here.run(&["snapshot", "export", "v1"], b"").stdout;
    let cut = there.run(&["snapshot", "import", "-"], &stream[..stream.len() - 1]);
    assert!(!cut.status.success());
    let middle = stream.len() / 2;
    stream[middle] ^= 1;
    let flipped = there.run(&["snapshot", "import", "-"], &stream);
    assert!(!flipped.status.success());
    assert!(!there.run(&["snapshot", "import", "-"], b"no snapshot at all").status.success());
    assert_eq!(there.names(&[]), [""; 0]);
}

#[test]
fn an_export_that_fails_leaves_no_file() {
    let keep = Keep::new();
    assert_eq!(keep.fails(&["snapshot", "export", "gone", "-o", "out"]).0, 3);
    assert!(!keep.site.path("work/out").exists());
    assert_eq!(keep.fails(&["snapshot", "export", "@live", "-o", "no/such/dir"]).0, 3);
}

#[test]
fn an_export_is_not_for_the_eye() {
    if !program("script") {
        return;
    }
    let keep = Keep::new();
    let seen = typed(&keep, "snapshot export @live", "");
    assert!(seen.contains("write it to a file with -o FILE"), "{seen}");
}

#[test]
fn delete_forgets_snapshots() {
    let keep = changed();
    let output = keep.run(&["snapshot", "delete", "v1", "v2", "--json"], b"");
    assert_eq!(output.stdout, b"{\"id\":\"v1\"}\n{\"id\":\"v2\"}\n");
    assert_eq!(keep.names(&[]), [""; 0]);
    assert_eq!(keep.content("dir/changed"), "new");
}

/// A file command on the snapshot `v1`.
fn at_v1<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["fs", "--at", "v1"], words].concat()
}

#[test]
fn files_of_a_snapshot_are_looked_at_and_never_changed() {
    let keep = changed();
    assert_eq!(keep.said(&at_v1(&["read", "dir/changed"])), "old");
    assert!(keep.said(&at_v1(&["list"])).contains("gone"));
    assert!(keep.said(&at_v1(&["tree"])).ends_with("1 directory, 4 files\n"));
    keep.said(&at_v1(&["download", "dir", "from-v1"]));
    let fetched = keep.site.path("work/from-v1/changed");
    assert_eq!(fs::read_to_string(fetched).unwrap(), "old");
    for words in [["write", "x", "--content", "y"].as_slice(), &["delete", "kept"], &["mkdir", "d"]]
    {
        let (code, said) = keep.fails(&at_v1(words));
        assert_eq!(code, 4, "{said}");
        assert!(said.contains("hint: leave out --at"), "{said}");
    }
    let (code, said) = keep.fails(&["fs", "--at", "v9", "list"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("hint: see which there are: sandkeep snapshot list"), "{said}");
}

#[test]
fn which_tree_is_meant_must_be_said() {
    let site = Site::new();
    for words in [["snapshot", "list"].as_slice(), &["stats"], &["gc"]] {
        let said = errors(site.run(words).code(2).get_output());
        assert!(said.contains("--store URL"), "{said}");
    }
    let both = ["snapshot", "list", "--store", "file:s", "--dir", "."];
    assert!(errors(site.run(&both).code(2).get_output()).contains("mean two trees"));
    let said = errors(site.run(&["snapshot", "list", "--dir", "."]).code(2).get_output());
    assert!(said.contains("say where its snapshots are kept: --snapshots URL"), "{said}");
}

#[test]
fn store_and_sandbox_come_from_the_environment_too() {
    let keep = Keep::new();
    keep.said(&["snapshot", "fork", "@live", "other"]);
    keep.said(&["fs", "write", "f", "--content", "x", "--sandbox", "other"]);
    let mut command = keep.site.sandkeep();
    command.env("SANDKEEP_STORE", &keep.url).env("SANDKEEP_SANDBOX", "other");
    let output = command.args(["stats", "--json"]).output().unwrap();
    let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(stats["files"], 1);
}

#[test]
fn a_message_never_reaches_the_terminal_raw() {
    let keep = Keep::new();
    keep.said(&["snapshot", "create", "v1", "-m", "\u{1b}[2Jgone", "-l", "k=\u{202e}v"]);
    for words in [["snapshot", "list"].as_slice(), &["snapshot", "show", "v1"]] {
        let said = keep.said(words);
        assert!(
            said.contains("\\u{1b}[2Jgone") && !said.contains(['\u{1b}', '\u{202e}']),
            "{said}"
        );
    }
}
