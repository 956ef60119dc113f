//! How hard a test tries, and what it does on a machine that lacks what it needs.

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::statvfs;
use tempfile::TempDir;

/// The first figure in the short form, which CI runs, the second with `SANDKEEP_LONG=1`.
pub(crate) fn short_or_long<T>(short: T, long: T) -> T {
    if env::var_os("SANDKEEP_LONG").is_some_and(|value| value == "1") { long } else { short }
}

/// Whether the test may go on. On a machine without what it needs it is skipped with a loud word,
/// except in CI, where a test that does not run is a failure.
pub(crate) fn machine_has(what: &str, has: bool) -> bool {
    if !has {
        assert!(env::var_os("CI").is_none(), "this test needs {what}, and CI must have it");
        eprintln!("SKIPPED: this test needs {what}");
    }
    has
}

/// Whether the test runs as root, which mounts, device nodes and other users' rights need.
pub(crate) fn root() -> bool {
    machine_has("to run as root", rustix::process::geteuid().is_root())
}

/// Whether a program can be started.
pub(crate) fn program(name: &str) -> bool {
    let found = Command::new("sh").args(["-c", "command -v \"$0\"", name]).output();
    machine_has(name, found.is_ok_and(|output| output.status.success()))
}

/// A directory in memory, where no disk disturbs a measurement; on the disk where memory is scarce,
/// as in a container with a small `/dev/shm`.
pub(crate) fn memory_dir() -> TempDir {
    const ENOUGH: u64 = 2 << 30;
    let memory = "/dev/shm";
    let free = statvfs(memory).map_or(0, |space| space.f_bavail * space.f_frsize);
    let dir = if free >= ENOUGH { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    dir.unwrap()
}

/// Tells other threads that it is over when it is dropped, also by a panic: a scope waits for them.
pub(crate) struct EndOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
