//! A user's machine in a temporary directory: a sandbox, a home, and the program run among them.

use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// The token that test servers are given.
pub(crate) const TOKEN: &str = "secret-of-the-site";

/// A directory `sandbox` to serve, a home beside it, and an environment without surprises.
pub(crate) struct Site {
    place: TempDir,
}

impl Site {
    /// A new site with an empty sandbox.
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for dir in ["sandbox", "home", "work"] {
            fs::create_dir(place.path().join(dir)).unwrap();
        }
        Self { place }
    }

    /// A path of the site.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().canonicalize().unwrap().join(name)
    }

    /// The path of something in the sandbox.
    pub(crate) fn inner(&self, name: &str) -> PathBuf {
        self.path("sandbox").join(name)
    }

    /// The address of a store of the site.
    pub(crate) fn store(&self) -> String {
        format!("file:{}", self.path("store").display())
    }

    /// The program, started in `work` with nothing in its environment but a home.
    pub(crate) fn sandkeep(&self) -> Command {
        self.program(Path::new(env!("CARGO_BIN_EXE_sandkeep")))
    }

    /// Another program, likewise.
    pub(crate) fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.path("home")).env("PATH", env!("PATH"));
        command.current_dir(self.path("work")).stdin(Stdio::null());
        command
    }

    /// The same, ready for assertions.
    pub(crate) fn run(&self, words: &[&str]) -> assert_cmd::assert::Assert {
        let mut command = self.sandkeep();
        command.args(words);
        assert_cmd::Command::from_std(command).assert()
    }

    /// A server of the sandbox, seen as `/`, with these flags added.
    pub(crate) fn serve(&self, flags: &[&str]) -> Server {
        let mut command = self.sandkeep();
        command.arg("serve").arg(self.path("sandbox"));
        command.args(["--port", "0", "--token", TOKEN, "--root-prefix", "/", "--json"]).args(flags);
        Server::start(command)
    }

    /// A server of a virtual sandbox, with these flags added.
    pub(crate) fn serve_store(&self, url: &str, flags: &[&str]) -> Server {
        let mut command = self.sandkeep();
        command.args(["serve", "--store", url]);
        command.args(["--port", "0", "--token", TOKEN, "--json"]).args(flags);
        Server::start(command)
    }
}

/// A server process. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    /// What the start line says.
    pub(crate) started: Value,
}

impl Server {
    /// Starts a server that announces itself in JSON.
    pub(crate) fn start(command: Command) -> Self {
        let mut server = Self::start_in_words(command);
        let mut line = String::new();
        server.stdout.read_line(&mut line).unwrap();
        server.started = serde_json::from_str(&line)
            .unwrap_or_else(|err| panic!("{err}: {line:?}; it says {:?}", server.log()));
        server
    }

    /// Starts a server that announces itself in words.
    pub(crate) fn start_in_words(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stdout, stderr, started: Value::Null }
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        self.started["url"].as_str().unwrap()
    }

    /// What it says on stdout, until a line holds these words.
    pub(crate) fn words_until(&mut self, last: &str) -> String {
        lines_until(&mut self.stdout, last)
    }

    /// What it logs, until a line holds these words.
    pub(crate) fn log_until(&mut self, last: &str) -> String {
        lines_until(&mut self.stderr, last)
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end: how it ended, and its log.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let log = self.log();
        (self.child.wait().unwrap(), log)
    }

    /// Stops it with SIGTERM and gives its log.
    pub(crate) fn stop(self) -> String {
        self.signal(Signal::TERM);
        let (status, log) = self.end();
        assert_eq!((status.code(), status.signal()), (Some(0), None), "{log}");
        log
    }

    /// Everything on stderr, which ends when the process does.
    fn log(&mut self) -> String {
        let mut log = String::new();
        self.stderr.read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn lines_until(reader: &mut impl BufRead, last: &str) -> String {
    let mut said = String::new();
    while !said.lines().next_back().is_some_and(|line| line.contains(last)) {
        let before = said.len();
        reader.read_line(&mut said).unwrap();
        assert!(said.len() > before, "it never says {last:?}: {said}");
    }
    said
}
