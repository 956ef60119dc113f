//! A server as a process: when it answers, and what it takes of the machine.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use client::Server;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::timeout;

/// The token of every server.
pub(crate) const TOKEN: &str = "bench";
/// How often it is looked what a busy server takes.
const LOOK: Duration = Duration::from_millis(250);

/// A server that runs.
pub(crate) struct Process {
    child: Child,
    url: String,
    server: Server,
    store: PathBuf,
    took: Duration,
}

/// What a process takes of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// Resident memory, in bytes.
    pub(crate) memory: u64,
    /// Open descriptors, those of connections and of the store aside.
    pub(crate) files: usize,
}

impl Process {
    /// Starts the program over a store in `home`, and waits for its first answer.
    pub(crate) async fn start(program: &Path, home: &Path, more: &[String]) -> Result<Self> {
        std::fs::create_dir_all(home)?;
        let store = home.canonicalize()?.join("store");
        let began = Instant::now();
        let mut child = Command::new(program)
            .args(["serve", "--json", "--log", "warn", "--port", "0", "--token", TOKEN])
            .args(more)
            .arg("--store")
            .arg(format!("file:{}", store.display()))
            .arg("--host-roots")
            .arg(home.join("directories"))
            .stdout(Stdio::piped())
            .spawn()
            .context("the server did not start")?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let announced: serde_json::Value = serde_json::from_str(&line)?;
        let url = announced.get("url").and_then(serde_json::Value::as_str);
        let url = url.context("the server says no address")?.to_owned();
        let server = Server::connect(&url, Some(TOKEN))?;
        server.health().await?;
        let took = began.elapsed();
        Ok(Self { child, url, server, store, took })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// How long it took from the start to the first answer.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }

    pub(crate) fn stop(&mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended badly: {status}");
        Ok(())
    }

    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    pub(crate) fn used(&self) -> Result<Use> {
        Use::of(self.child.id(), &self.store)
    }

    /// Does some work, and looks all the while what the server takes at most.
    pub(crate) async fn during<T>(
        &self,
        work: impl Future<Output = Result<T>>,
    ) -> Result<(T, Use)> {
        let mut most = self.used()?;
        let mut work = pin!(work);
        loop {
            match timeout(LOOK, &mut work).await {
                Ok(done) => return Ok((done?, most)),
                Err(_) => most = most.max(self.used()?),
            }
        }
    }
}

impl Use {
    fn of(pid: u32, store: &Path) -> Result<Self> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmRSS")?;
        let open = std::fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
        // One that is closed meanwhile does not count either.
        let open = open.filter_map(|open| std::fs::read_link(open.path()).ok());
        let is_other = |open: &PathBuf| {
            !open.starts_with(store) && !open.to_string_lossy().starts_with("socket:")
        };
        let files = open.filter(is_other).count();
        Ok(Self { memory: kib.trim().parse::<u64>()? << 10, files })
    }

    /// The more of each.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { memory: self.memory.max(other.memory), files: self.files.max(other.files) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Whoever was stopped before is not there any more.
        let _gone = self.kill();
    }
}
