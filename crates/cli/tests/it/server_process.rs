//! A real `sandkeep serve`, on a port of its own.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::raw_http::{Answer, Connection};

const TOKEN: &str = "the-token-of-this-test";

/// A running server. Dropping it kills it.
pub(crate) struct ServerProcess {
    child: Child,
    pid: Pid,
    address: SocketAddr,
}

impl ServerProcess {
    /// Serves `root` as `/`, with these flags added.
    pub(crate) fn start(root: &Path, flags: &[&str]) -> Self {
        Self::start_with(Command::new(binary()), root, flags)
    }

    /// The same, by a command that ends in the program, such as `setpriv --reuid 1 sandkeep`.
    pub(crate) fn start_with(mut command: Command, root: &Path, flags: &[&str]) -> Self {
        command.arg("serve").arg(root).args(flags);
        Self::spawn(command)
    }

    /// Serves a virtual sandbox of a store, with these flags added.
    pub(crate) fn of_store(url: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.args(["serve", "--store", url]).args(flags);
        Self::spawn(command)
    }

    /// Serves what the command says, as `/`.
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.args(["--host", "127.0.0.1", "--port", "0"]);
        command.args(["--token", TOKEN, "--root-prefix", "/", "--json"]);
        command.env("SANDKEEP_LOG", "off").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).expect("the server speaks");
        let said: Value = serde_json::from_str(&line)
            .unwrap_or_else(|err| panic!("the server says where it listens, not {line:?}: {err}"));
        let url = said["url"].as_str().expect("it names its url");
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
        let pid = said["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).unwrap();
        Self { child, pid: Pid::from_raw(pid).unwrap(), address }
    }

    /// A new connection.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address, TOKEN)
    }

    /// The same for whoever has another token, such as a key.
    pub(crate) fn connect_as(&self, token: &'static str) -> Connection {
        Connection::open(self.address, token)
    }

    /// The header of whoever is let in.
    pub(crate) fn credentials(&self) -> String {
        format!("Authorization: Bearer {TOKEN}")
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(&self, method: &str, target: &str, body: &[u8]) -> Answer {
        self.connect().ask(method, target, &[], body)
    }

    /// Kills the process at once, as the kernel does when memory runs out.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    /// The id of the server itself, also when another program started it.
    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// How many descriptors are open.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().count()
    }

    /// The most memory that was ever resident, in MiB, without the code of the program: unoptimised,
    /// with the drivers of every store, that alone is some 40 MiB.
    pub(crate) fn peak_memory_mib(&self) -> u64 {
        let status = self.status();
        (kib(&status, "VmHWM:") - kib(&status, "RssFile:")).div_ceil(1024)
    }

    /// The memory that is resident now, in KiB, without the code of the program.
    pub(crate) fn memory_kib(&self) -> u64 {
        kib(&self.status(), "RssAnon:")
    }

    fn status(&self) -> String {
        fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap()
    }

    /// Waits until the server uses no more processor time. Panics if it never does.
    pub(crate) fn comes_to_rest(&self) {
        const REST: Duration = Duration::from_millis(100);
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut used = self.processor_time();
        loop {
            thread::sleep(REST);
            let now = self.processor_time();
            if now == used {
                return;
            }
            used = now;
            assert!(Instant::now() < deadline, "the server works on although nobody asks");
        }
    }

    /// How much processor time it has used.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        // The program's name, in parentheses, may hold spaces; user and system time are the
        // twelfth and thirteenth field behind it.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let ticks: u64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        // The kernel tells it in hundredths of a second, whatever its own clock.
        Duration::from_millis(ticks * 10)
    }

    fn end(&mut self) {
        // The server's own id first: a tracer that dies would only let go of it.
        kill_process(self.pid, Signal::KILL).ok();
        self.child.wait().unwrap();
    }
}

fn kib(status: &str, name: &str) -> u64 {
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The program under test: the one just built, or `SANDKEEP_BIN`.
pub(crate) fn binary() -> OsString {
    env::var_os("SANDKEEP_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_sandkeep").into())
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end();
        }
    }
}
