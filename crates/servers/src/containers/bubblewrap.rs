//! A process with mounts of its own, by bubblewrap from Debian's package.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::installed;
use crate::process::spawn_from_a_lasting_thread;

/// A process whose root is not ours. It is killed when this is dropped.
pub struct Namespace {
    bubblewrap: Child,
    pid: u32,
}

impl Namespace {
    /// Starts a process that does nothing, in a tree made by options of bubblewrap. Busybox is at
    /// `/busybox` in it.
    pub fn start(tree: &[&str]) -> Self {
        Self::running(tree, "exec /busybox sleep 100000")
    }

    /// The same with a directory of this machine as `/tree`.
    pub fn of(directory: &Path) -> Self {
        let directory = directory.to_str().expect("test directories have plain names");
        Self::start(&["--bind", directory, "/tree"])
    }

    /// Starts a process that runs a script of busybox's shell.
    pub fn running(tree: &[&str], script: &str) -> Self {
        let mut command = Command::new(installed::on_path("bwrap"));
        let busybox = installed::on_path("busybox");
        command.args(["--die-with-parent", "--info-fd", "1", "--tmpfs", "/"]).args(tree);
        command.arg("--ro-bind").arg(busybox).args(["/busybox", "--", "/busybox", "sh", "-c"]);
        command.arg(format!("/busybox echo ready >&2; {script}"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut bubblewrap = spawn_from_a_lasting_thread(command).expect("bwrap starts");
        let mut told = bubblewrap.stderr.take().map(BufReader::new).expect("stderr is piped");
        let mut text = String::new();
        while !text.ends_with("ready\n") {
            let read = told.read_line(&mut text).expect("bwrap speaks");
            assert!(read > 0, "bwrap made no namespace: {text:?}");
        }
        let stdout = bubblewrap.stdout.take().expect("stdout is piped");
        let mut said = Vec::new();
        BufReader::new(stdout).read_until(b'}', &mut said).expect("bwrap tells of its child");
        let info = String::from_utf8_lossy(&said);
        let pid = info.split("\"child-pid\":").nth(1).expect("bwrap names its child");
        let digits = pid.trim_start().chars().take_while(char::is_ascii_digit);
        let pid = digits.collect::<String>().parse().expect("a process has a number");
        // Whatever the script says from now on is let go of.
        std::thread::spawn(move || told.read_to_end(&mut Vec::new()));
        Self { bubblewrap, pid }
    }

    /// The process inside.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends it, and waits until it is gone and its number is free.
    pub fn end(&mut self) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        // Bubblewrap is its parent, takes note of its end, and ends itself.
        kill_process(pid.expect("a process has a number"), Signal::KILL).ok();
        self.bubblewrap.wait().expect("bwrap is our child");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.bubblewrap.kill().ok();
        self.bubblewrap.wait().ok();
    }
}
