//! What is on the disk before what: the calls of one change, in their order, as strace saw them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::{Dir, Durability, Existing, Mounts, Options};

use crate::{Staged, World, put};

/// The directory that the traced process works in.
const PLACE: &str = "SANDKEEP_TRACED";
const CALLS: &str = "fsync,fdatasync,syncfs,rename,renameat,renameat2,linkat,unlinkat,mkdirat";

/// One call: its name, and what it was told.
struct Call {
    name: String,
    rest: String,
}

#[test]
fn a_file_is_synced_before_its_rename_and_its_directory_after_it() {
    let Some(calls) = calls_of("writes_a_file") else { return };
    let renamed = place_of(&calls, |call| call.renames_to("f"));
    let [before, after] = [&calls[..renamed], &calls[renamed..]];
    assert!(before.iter().any(|call| call.syncs("staging/")), "the file is synced first");
    assert!(after.iter().any(|call| call.syncs("root>")), "its directory is synced last");
}

#[test]
fn a_new_directory_is_synced_into_its_parent() {
    let Some(calls) = calls_of("makes_a_directory") else { return };
    let made = place_of(&calls, |call| call.name == "mkdirat");
    assert!(calls[made..].iter().any(|call| call.syncs("root>")));
}

#[test]
fn a_removal_is_synced() {
    let Some(calls) = calls_of("removes_a_file") else { return };
    let removed = place_of(&calls, |call| call.name == "unlinkat" && call.rest.contains("\"f\""));
    assert!(calls[removed..].iter().any(|call| call.syncs("root>")));
}

#[test]
fn a_move_is_synced_on_both_sides() {
    let Some(calls) = calls_of("moves_a_file") else { return };
    let renamed = place_of(&calls, |call| call.renames_to("moved"));
    for side in ["root>", "root/dir>"] {
        assert!(calls[renamed..].iter().any(|call| call.syncs(side)), "{side} is not synced");
    }
}

impl Call {
    /// Whether it waits for the disk, for something whose path holds this.
    fn syncs(&self, path: &str) -> bool {
        self.name.contains("sync") && self.rest.contains(path)
    }

    fn renames_to(&self, name: &str) -> bool {
        self.name.starts_with("rename") && self.rest.contains(&format!(", \"{name}\""))
    }
}

fn place_of(calls: &[Call], is_meant: impl Fn(&Call) -> bool) -> usize {
    let place = calls.iter().position(is_meant);
    assert!(place.is_some(), "the call is not made");
    place.unwrap_or_default()
}

/// The calls that one of the works below makes; none on a machine without strace.
fn calls_of(work: &str) -> Option<Vec<Call>> {
    let world = World::new(Staged::Outside);
    let place = world.root.parent().unwrap();
    let log = place.join("log");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-qq", "-e", &format!("trace={CALLS}"), "-o"]).arg(&log);
    strace.arg(env::current_exe().unwrap()).args(["--ignored", "--exact"]);
    strace.arg(format!("syncs::{work}")).env(PLACE, place);
    let Ok(output) = strace.output() else {
        assert!(env::var_os("CI").is_none(), "this test needs strace, and CI must have it");
        println!("SKIPPED: this test needs strace");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = std::fs::read_to_string(log).unwrap();
    Some(told.lines().filter_map(call).collect())
}

fn call(line: &str) -> Option<Call> {
    let told = line.split_whitespace().nth(1)?;
    let (name, _) = told.split_once('(')?;
    let (_, rest) = line.split_once('(')?;
    Some(Call { name: name.to_owned(), rest: rest.to_owned() })
}

/// The directory as a traced process opens it.
fn traced() -> Dir {
    let place = PathBuf::from(env::var_os(PLACE).unwrap());
    let staging = vec![place.join("staging")];
    let options = Options { mounts: Mounts::Stay, durability: Durability::Full, staging };
    Dir::open_root(&place.join("root"), options).unwrap()
}

#[test]
#[ignore = "traced by the tests above"]
fn writes_a_file() {
    put(&traced(), Path::new("f"), b"x").unwrap();
}

#[test]
#[ignore = "traced by the tests above"]
fn makes_a_directory() {
    let dir = traced();
    let spot = dir.spot(Path::new("d"), host::Links::Keep, host::Parents::Require).unwrap();
    dir.make_dir(&spot).unwrap();
}

#[test]
#[ignore = "traced by the tests above"]
fn removes_a_file() {
    let dir = traced();
    put(&dir, Path::new("f"), b"x").unwrap();
    let spot = dir.spot(Path::new("f"), host::Links::Keep, host::Parents::Require).unwrap();
    dir.remove_one(&spot).unwrap();
}

#[test]
#[ignore = "traced by the tests above"]
fn moves_a_file() {
    let dir = traced();
    put(&dir, Path::new("f"), b"x").unwrap();
    put(&dir, Path::new("dir/other"), b"x").unwrap();
    let spot = |path: &str| dir.spot(Path::new(path), host::Links::Keep, host::Parents::Require);
    let (from, to) = (spot("f").unwrap(), spot("dir/moved").unwrap());
    dir.rename(&from, &to, Existing::Refuse).unwrap();
}
