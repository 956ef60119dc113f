//! Snapshots of directories, which a store keeps.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

use serde_json::{Value, json};

use crate::attack_form::machine_has;
use crate::reach::errors;
use crate::site::Site;

/// A directory with files, and a store for its snapshots.
struct Kept(Site);

impl Kept {
    fn new() -> Self {
        let kept = Self(Site::new());
        kept.put("a/b", "first");
        kept.put("gone", "g");
        symlink("b", kept.0.inner("a/link")).unwrap();
        kept
    }

    fn put(&self, name: &str, content: &str) {
        let path = self.0.inner(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn run(&self, words: &[&str]) -> Output {
        let (dir, store) = (self.0.path("sandbox"), self.0.store());
        let mut command = self.0.sandkeep();
        command.args(words).arg("--dir").arg(dir).args(["--snapshots", &store]);
        command.output().unwrap()
    }

    fn said(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn content(&self, name: &str) -> String {
        fs::read_to_string(self.0.inner(name)).unwrap()
    }
}

/// A directory with a snapshot `v1`, and changes since.
fn changed() -> Kept {
    let kept = Kept::new();
    assert_eq!(kept.said(&["snapshot", "create", "v1", "-m", "before"]), "v1\n");
    kept.put("a/b", "second and longer");
    kept.put("new", "n");
    fs::remove_file(kept.0.inner("gone")).unwrap();
    kept
}

#[test]
fn the_first_snapshot_makes_the_store() {
    let kept = Kept::new();
    let output = kept.run(&["snapshot", "list"]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
    kept.said(&["snapshot", "create", "v1"]);
    let listed: Value = serde_json::from_str(&kept.said(&["snapshot", "list", "--json"])).unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["files"]), (&"v1".into(), &3.into()));
}

#[test]
fn diff_and_restore_work_on_the_files_of_the_host() {
    let kept = changed();
    let differences = kept.said(&["snapshot", "diff", "v1"]);
    for line in ["M\t/a/b", "D\t/gone", "A\t/new"] {
        assert!(differences.lines().any(|said| said == line), "{line}: {differences}");
    }
    kept.said(&["snapshot", "restore", "v1", "--path", "a"]);
    assert_eq!((kept.content("a/b"), kept.content("new")), ("first".into(), "n".into()));
    kept.said(&["snapshot", "restore", "v1"]);
    assert_eq!(kept.content("gone"), "g");
    assert!(!kept.0.inner("new").exists());
    assert_eq!(fs::read_link(kept.0.inner("a/link")).unwrap().to_str(), Some("b"));
}

#[test]
fn files_of_a_snapshot_are_looked_at() {
    let kept = changed();
    assert_eq!(kept.said(&["fs", "--at", "v1", "read", "a/b"]), "first");
    assert_eq!(kept.said(&["fs", "read", "a/b"]), "second and longer");
}

#[test]
fn a_directory_becomes_a_virtual_sandbox_by_a_fork() {
    let kept = changed();
    kept.said(&["snapshot", "fork", "v1", "copy"]);
    let words = ["fs", "--store", &kept.0.store(), "--sandbox", "copy", "read", "a/b"];
    let assert = kept.0.run(&words).success();
    assert_eq!(assert.get_output().stdout, b"first");
}

#[test]
fn a_snapshot_of_a_directory_is_carried_into_a_store() {
    let kept = changed();
    kept.said(&["snapshot", "export", "v1", "-o", "v1.sandkeep"]);
    let other = format!("file:{}", kept.0.path("other").display());
    kept.0.run(&["sandbox", "create", "--store", &other]).success();
    kept.0.run(&["snapshot", "import", "v1.sandkeep", "v1", "--store", &other]).success();
    let assert = kept.0.run(&["snapshot", "show", "v1", "--json", "--store", &other]).success();
    let shown: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!((&shown["files"], &shown["bytes"]), (&3.into(), &json!(6)));
}

#[test]
fn a_store_within_the_directory_is_refused() {
    let site = Site::new();
    let (dir, inside) = (site.path("sandbox"), site.inner("s").display().to_string());
    for url in [
        format!("file:{inside}"),
        format!("sqlite:{inside}"),
        format!("split:refs=sqlite:{inside},chunks=s3://bucket"),
    ] {
        for words in [["snapshot", "create", "--dir"].as_slice(), &["serve", "--port", "0"]] {
            let words = [words, &[dir.to_str().unwrap(), "--snapshots", &url]].concat();
            let said = errors(site.run(&words).code(2).get_output());
            assert!(said.contains("lie within one another"), "{said}");
        }
    }
    assert!(!site.inner("s").exists());
}

#[test]
fn a_server_of_a_directory_holds_the_store_of_its_snapshots_behind_its_wall() {
    let kept = changed();
    let server = kept.0.serve(&["--snapshots", &kept.0.store()]);
    let output = kept.run(&["snapshot", "list"]);
    assert_eq!(output.status.code(), Some(5), "{}", errors(&output));
    let log = server.stop();
    machine_has("a kernel with Landlock", log.contains("second wall stands"));
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
    assert!(kept.said(&["snapshot", "list"]).contains("v1"));
}

#[test]
fn the_snapshots_of_another_directory_are_refused_until_they_are_adopted() {
    let kept = changed();
    let other = kept.0.path("other");
    fs::create_dir(&other).unwrap();
    let run = |words: &[&str]| {
        let mut command = kept.0.sandkeep();
        command.args(words).arg("--dir").arg(&other).args(["--snapshots", &kept.0.store()]);
        command.output().unwrap()
    };
    let refused = run(&["snapshot", "restore", "v1", "--yes"]);
    assert_eq!(refused.status.code(), Some(5), "{}", errors(&refused));
    assert!(errors(&refused).contains("the snapshots of another directory"));
    assert!(errors(&refused).contains("sandkeep snapshot adopt --dir "), "{}", errors(&refused));
    assert_eq!(run(&["snapshot", "create", "v2", "--sandbox", "other"]).status.code(), Some(0));
    let mut served = kept.0.sandkeep();
    served.arg("serve").arg(&other).args(["--port", "0", "--snapshots", &kept.0.store()]);
    let served = served.output().unwrap();
    assert_eq!(served.status.code(), Some(5), "{}", errors(&served));

    let adopted = run(&["snapshot", "adopt"]);
    assert_eq!(adopted.status.code(), Some(0), "{}", errors(&adopted));
    assert_eq!(run(&["snapshot", "restore", "v1", "--yes"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(other.join("a/b")).unwrap(), "first");
    assert_eq!(kept.run(&["snapshot", "list"]).status.code(), Some(5));
}
