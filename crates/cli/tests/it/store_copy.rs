//! `sandkeep store`: a whole store is checked, and copied.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use storage::{Listed, Storage};

use crate::dice::Dice;
use crate::keep::Keep;
use crate::reach::errors;

/// A keep with sandboxes and snapshots, and a place beside it.
fn filled() -> (Keep, String) {
    let keep = Keep::new();
    keep.put("notes/hello.txt", "hello");
    keep.put("large", &"0123456789".repeat(10_000));
    keep.said(&["snapshot", "create", "before"]);
    keep.put("notes/hello.txt", "changed");
    keep.said(&["snapshot", "fork", "before", "fork"]);
    keep.said(&["sandbox", "create", "alice", "--max-nodes", "7"]);
    keep.said(&["fs", "write", "mine", "--content", "x", "--sandbox", "alice"]);
    let other = format!("file:{}", keep.site.path("other").display());
    (keep, other)
}

/// The same commands on another store.
fn at(keep: &Keep, url: &str, words: &[&str]) -> String {
    let output = keep.site.sandkeep().args(words).args(["--store", url]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", errors(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn store(keep: &Keep, words: &[&str]) -> Output {
    keep.site.sandkeep().arg("store").args(words).output().unwrap()
}

/// What a store command that succeeds tells a program.
fn told(keep: &Keep, words: &[&str]) -> Value {
    let output = store(keep, &[words, &["--json"]].concat());
    assert!(output.status.success(), "{words:?}: {}", errors(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// Everything that can be seen of two stores is the same.
fn same(keep: &Keep, other: &str, sandboxes: &[&str]) {
    let both = |words: &[&str]| {
        let [ours, theirs] = [&keep.url, other].map(|url| at(keep, url, words));
        assert!(ours == theirs, "{words:?}: {ours}\n{theirs}");
    };
    both(&["sandbox", "list", "--json"]);
    for sandbox in sandboxes {
        both(&["fs", "tree", "--json", "--sandbox", sandbox]);
        both(&["snapshot", "list", "--json", "--sandbox", sandbox]);
        both(&["stats", "--json", "--sandbox", sandbox]);
        let exported = ["here", "there"].map(|name| keep.site.path("work").join(name));
        for (file, url) in exported.iter().zip([&keep.url, other]) {
            let file = file.to_str().unwrap();
            at(keep, url, &["fs", "download", "/", file, "--sandbox", sandbox]);
        }
        let difference = std::process::Command::new("diff").arg("-r").args(&exported).output();
        let difference = difference.unwrap();
        assert!(difference.status.success(), "{}", String::from_utf8_lossy(&difference.stdout));
        exported.iter().for_each(|dir| fs::remove_dir_all(dir).unwrap());
    }
}

#[test]
fn a_copy_holds_what_the_store_holds_and_goes_its_own_way() {
    let (keep, other) = filled();
    let copied = told(&keep, &["copy", &keep.url, &other]);
    assert!(number(&copied["objects"]) > 3 && number(&copied["bytes"]) > 500, "{copied}");
    assert_eq!((&copied["resumed"], number(&copied["present"])), (&Value::Bool(false), 0));
    same(&keep, &other, &["main", "fork", "alice"]);
    assert_eq!(at(&keep, &other, &["fs", "read", "notes/hello.txt", "--at", "before"]), "hello");
    let checked = told(&keep, &["check", &other]);
    assert_eq!((number(&checked["sandboxes"]), number(&checked["snapshots"])), (3, 1));
    at(&keep, &other, &["fs", "write", "notes/hello.txt", "--content", "elsewhere"]);
    assert_eq!(keep.content("notes/hello.txt"), "changed");
}

#[test]
fn a_copy_says_what_was_copied() {
    let (keep, other) = filled();
    let output = store(&keep, &["copy", &keep.url, &other]);
    let said = errors(&output);
    assert!(output.status.success() && said.starts_with("copied "), "{said}");
    assert!(said.contains(" objects, ") && said.contains(" refs"), "{said}");
}

#[test]
fn a_store_that_holds_something_is_not_copied_to() {
    let (keep, other) = filled();
    at(&keep, &other, &["sandbox", "create"]);
    let output = store(&keep, &["copy", &keep.url, &other]);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("holds something already"), "{said}");
    assert!(said.contains("hint: copy into a new store"), "{said}");
    assert_eq!(at(&keep, &other, &["fs", "list"]), "");
}

#[test]
fn a_store_is_not_copied_to_itself_or_to_memory_or_from_nowhere() {
    let (keep, other) = filled();
    std::os::unix::fs::symlink(keep.site.path("store"), keep.site.path("alias")).unwrap();
    let alias = format!("file:{}", keep.site.path("alias").display());
    for (from, to, code) in
        [(&keep.url, &alias, 2), (&keep.url, &"memory:".to_owned(), 2), (&other, &keep.url, 3)]
    {
        let output = store(&keep, &["copy", from, to]);
        assert_eq!(output.status.code(), Some(code), "{}", errors(&output));
    }
    assert!(!keep.site.path("other").exists(), "a mistyped address makes no store");
    assert_eq!(keep.content("notes/hello.txt"), "changed");
}

/// A store with many megabytes that do not compress.
fn large() -> (Keep, String) {
    let (keep, other) = filled();
    let (from, mut dice) = (keep.site.path("work/noise"), Dice::new(7));
    fs::create_dir(&from).unwrap();
    for number in 0..100 {
        let noise: Vec<u8> = (0..50_000).flat_map(|_| dice.roll().to_le_bytes()).collect();
        fs::write(from.join(number.to_string()), noise).unwrap();
    }
    keep.said(&["fs", "upload", "noise", "/"]);
    (keep, other)
}

/// Breaks off a copy in the middle, and gives what it said. One that had ended, or of which nothing
/// had arrived for good, is tried again.
fn broken_off(keep: &Keep, other: &str, signal: Signal) -> Output {
    let dir = keep.site.path("other");
    for _ in 0..20 {
        let mut command = keep.site.sandkeep();
        command.args(["store", "copy", &keep.url, other]);
        let copy = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        while taken(&dir) < 4 << 20 {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing arrives");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&copy), signal).unwrap();
        let output = copy.wait_with_output().unwrap();
        if !output.status.success() && (1..objects(&keep.url)).contains(&objects(other)) {
            return output;
        }
        fs::remove_dir_all(&dir).unwrap();
    }
    panic!("no copy was broken off in the middle");
}

/// How many objects a store holds.
fn objects(url: &str) -> usize {
    within(url, |storage| async move { storage.list(None, None, usize::MAX).await.unwrap().len() })
}

/// How much of the disk a directory takes.
fn taken(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => taken(&entry.path()),
        Ok(metadata) => metadata.blocks() * 512,
        Err(_) => 0,
    });
    sizes.sum()
}

#[test]
fn a_copy_that_was_killed_is_refused_until_the_same_command_has_ended_it() {
    let (keep, other) = large();
    broken_off(&keep, &other, Signal::KILL);
    let output = keep.site.sandkeep().args(["fs", "list", "--store", &other]).output().unwrap();
    assert!(!output.status.success());
    assert!(errors(&output).contains("did not finish"), "{}", errors(&output));
    let output = store(&keep, &["copy", &other, "file:third"]);
    assert!(errors(&output).contains("hint: finish that copy first"), "{}", errors(&output));
    let copied = told(&keep, &["copy", &keep.url, &other]);
    assert_eq!(copied["resumed"], true);
    assert!(number(&copied["present"]) > 0 && number(&copied["objects"]) > 0, "{copied}");
    same(&keep, &other, &["main", "alice"]);
    told(&keep, &["check", &other]);
}

#[test]
fn an_interrupted_copy_says_how_it_goes_on() {
    let (keep, other) = large();
    let output = broken_off(&keep, &other, Signal::INT);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let said = errors(&output);
    assert!(said.contains("the copy was interrupted"), "{said}");
    assert!(said.contains("hint: run the same command again"), "{said}");
    let output = store(&keep, &["copy", &keep.url, &other]);
    assert!(
        errors(&output).contains("this ends a copy that was broken off"),
        "{}",
        errors(&output)
    );
    same(&keep, &other, &["main"]);
}

#[test]
fn a_sound_store_is_said_to_be_sound() {
    let (keep, _) = filled();
    let output = store(&keep, &["check", &keep.url]);
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    for line in ["sandboxes  3", "snapshots  1", "problems   0"] {
        assert!(said.lines().any(|found| found == line), "{line}: {said}");
    }
    let alone = told(&keep, &["check", &keep.url, "--sandbox", "alice"]);
    assert_eq!((number(&alone["sandboxes"]), number(&alone["snapshots"])), (1, 0));
    let output = store(&keep, &["check", &keep.url, "--sandbox", "nobody"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(errors(&output).contains("sandkeep sandbox list"), "{}", errors(&output));
}

/// Does something to what a store is kept in.
fn within<F: Future>(url: &str, work: impl FnOnce(Arc<dyn Storage>) -> F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { work(storage::open(url).await.unwrap()).await })
}

#[test]
fn what_is_missing_is_told_with_its_sandbox_and_path() {
    let keep = Keep::new();
    keep.put("whole", "sound");
    let noise: Vec<u8> =
        (0..5000_u32).flat_map(|n| n.wrapping_mul(0x9e37_79b1).to_le_bytes()).collect();
    let written = keep.run(&["fs", "write", "dir/lost"], &noise);
    assert!(written.status.success());
    keep.said(&["snapshot", "create", "kept"]);
    keep.said(&["sandbox", "create", "alice"]);
    within(&keep.url, |storage| async move {
        let all = storage.list(None, None, usize::MAX).await.unwrap();
        let Listed { key, token, .. } = all.into_iter().max_by_key(|it| it.size).unwrap();
        assert_eq!(storage.delete_exact(&[(key, token)]).await.unwrap(), 1);
    });
    let output = store(&keep, &["check", &keep.url]);
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let line = "sandbox main: /dir/lost: a piece of a file is missing";
    assert_eq!(said.lines().next(), Some(line));
    assert!(errors(&output).contains("the store is damaged: 1 problem"), "{}", errors(&output));
    keep.said(&["fs", "delete", "dir/lost"]);
    let output = store(&keep, &["check", &keep.url, "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problem = &told["problems"][0];
    assert_eq!((&problem["sandbox"], &problem["snapshot"]), (&"main".into(), &"kept".into()));
    assert_eq!(problem["path"], "/dir/lost");
    keep.said(&["snapshot", "delete", "kept"]);
    assert!(store(&keep, &["check", &keep.url]).status.success());
}
