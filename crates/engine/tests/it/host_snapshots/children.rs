//! Processes that other tests start: one that can be killed, and some that are measured alone.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sandkeep_engine::{FileSystem as _, HostFs, Limits, SandboxPath, Store};

use super::picture::{assert_same, picture};
use super::{open, sandbox, snapshot, take};

/// What such a process does, told by this variable.
const ROLE: &str = "SANDKEEP_TEST_ROLE";
/// Where everything of it lies, told by this one.
const PLACE: &str = "SANDKEEP_TEST_PLACE";

/// A process with a role. It works in `root` beneath a place, with a store beside it.
pub(crate) fn child(role: &str, place: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["host_snapshots::children::a_process_of_its_own", "--exact", "--ignored"]);
    command.args(["--nocapture", "--quiet"]).env(ROLE, role).env(PLACE, place);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Runs a process with a role to its end; gives the numbers that it tells.
pub(crate) fn told_by(role: &str, place: &Path) -> Vec<u64> {
    told(role, &mut child(role, place))
}

/// As [`told_by`], by somebody without privileges, to whom the place then belongs.
pub(crate) fn told_by_nobody(role: &str, place: &Path) -> Vec<u64> {
    const NOBODY: u32 = 65534;
    if !rustix::process::geteuid().is_root() {
        return told_by(role, place);
    }
    for path in [place.to_owned(), place.join("root")] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    told(role, child(role, place).uid(NOBODY).gid(NOBODY))
}

fn told(role: &str, command: &mut Command) -> Vec<u64> {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{role}: {text}");
    let told = text.lines().find_map(|line| line.strip_prefix("told")).unwrap();
    told.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

#[test]
#[ignore = "a process that other tests start"]
fn a_process_of_its_own() {
    let (Ok(role), Ok(place)) = (std::env::var(ROLE), std::env::var(PLACE)) else { return };
    let place = PathBuf::from(place);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(async {
        match &*role {
            "restore for ever" => restore_for_ever(&place).await,
            "read twice" => read_twice(&place).await,
            "scan and restore" => scan_and_restore(&place).await,
            "restore unprivileged" => restore_unprivileged(&place).await,
            "pack and unpack" => crate::archives::pack_and_unpack(&place).await,
            other => panic!("{other}"),
        }
    });
}

/// The tree beneath a place, with snapshots in a store of files.
pub(crate) async fn stored(place: &Path) -> HostFs {
    let store = Store::open(&format!("file:{}", place.join("store").display())).await.unwrap();
    open(&place.join("root"), Limits::default(), Some(&place.join("staging")))
        .with_snapshots(store, sandbox())
}

async fn restore(files: &HostFs, name: &str) {
    let root = SandboxPath::root();
    files.snapshots().unwrap().restore(&snapshot(name), &root).await.unwrap();
}

async fn restore_for_ever(place: &Path) {
    let files = stored(place).await;
    println!("ready");
    loop {
        restore(&files, "one").await;
        restore(&files, "two").await;
    }
}

/// Tells how many bytes the first and the second snapshot of an unchanged tree read.
async fn read_twice(place: &Path) {
    let files = stored(place).await;
    let mut last = bytes_read();
    let mut told = String::new();
    for name in ["one", "two"] {
        take(&files, name).await.unwrap();
        let now = bytes_read();
        told += &format!(" {}", now - last);
        last = now;
    }
    println!("told{told}");
}

/// Tells how many MiB of memory a snapshot took at most, then a second one, then a restore.
async fn scan_and_restore(place: &Path) {
    let files = stored(place).await;
    take(&files, "one").await.unwrap();
    let first = peak_memory_mib();
    take(&files, "two").await.unwrap();
    let second = peak_memory_mib();
    let root = place.join("root");
    for entry in fs::read_dir(&root).unwrap() {
        let path = entry.unwrap().path();
        fs::rename(&path, place.join("aside").join(path.file_name().unwrap())).unwrap();
    }
    restore(&files, "two").await;
    println!("told {first} {second} {}", peak_memory_mib());
}

/// Brings back directories that their own owner may not write in.
async fn restore_unprivileged(place: &Path) {
    let files = stored(place).await;
    let root = place.join("root");
    let set_mode = |name: &str, mode| {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    for name in ["kept", "removed", "surplus"] {
        fs::create_dir_all(root.join(name).join("inner")).unwrap();
        fs::write(root.join(name).join("inner/file"), "one").unwrap();
        set_mode(&format!("{name}/inner/file"), 0o400);
        set_mode(&format!("{name}/inner"), 0o500);
    }
    fs::rename(root.join("surplus"), place.join("surplus")).unwrap();
    let before = picture(&root);
    take(&files, "one").await.unwrap();
    for name in ["kept", "removed"] {
        set_mode(&format!("{name}/inner"), 0o700);
        fs::remove_file(root.join(name).join("inner/file")).unwrap();
    }
    fs::write(root.join("kept/inner/new"), "two").unwrap();
    set_mode("kept/inner", 0o500);
    fs::remove_dir_all(root.join("removed")).unwrap();
    fs::rename(place.join("surplus"), root.join("surplus")).unwrap();
    restore(&files, "one").await;
    assert_same(&picture(&root), &before);
    println!("told");
}

fn bytes_read() -> u64 {
    number_in("/proc/self/io", "rchar:")
}

pub(crate) fn peak_memory_mib() -> u64 {
    let [all, program] = ["VmHWM:", "RssFile:"].map(|key| number_in("/proc/self/status", key));
    (all - program).div_ceil(1024)
}

fn number_in(file: &str, key: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
