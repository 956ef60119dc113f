//! A server of whatever kind, as a process.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::sleep;

use super::ask::{Ask, Cannot, Dialect, HOST, Request};
use super::connection::Connection;
use super::content::Pieces;
use super::cores::Room;
use super::script::Expected;
use super::who::Who;
use super::{Bench, burden, nginx};
use crate::process::TOKEN;

/// How long a server may take to answer at all, and to end.
const PATIENCE: Duration = Duration::from_secs(20);
const FAREWELL: Duration = Duration::from_secs(10);
/// How often it is asked whether it is there.
const KNOCK: Duration = Duration::from_micros(200);
/// Where npm puts it, beneath the peers.
pub(super) const SANDBOX_AGENT: &str =
    "scripts/node_modules/@sandbox-agent/cli-linux-x64/bin/sandbox-agent";
/// Between looking for a free port and taking it, somebody else may.
const TRIES: usize = 3;

/// A server that runs.
pub(super) struct Server {
    pub(super) who: Who,
    pub(super) address: SocketAddr,
    /// From the start of the process to the first answer.
    pub(super) took: Duration,
    dialect: Dialect,
    child: Child,
}

/// Where a server lies and what it serves.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// For what it keeps itself.
    pub(super) home: PathBuf,
    /// What it serves, unless that is virtual.
    pub(super) tree: PathBuf,
    pub(super) room: Room,
    /// More flags, for ours.
    pub(super) flags: Vec<String>,
    /// What is asked first, beneath the tree: a file, or the root if there is none.
    pub(super) first: Option<&'static str>,
}

impl Server {
    /// Starts it and waits for its first answer.
    pub(super) async fn start(bench: &Bench<'_>, who: Who, setting: &Setting) -> Result<Self> {
        std::fs::create_dir_all(&setting.home)?;
        std::fs::create_dir_all(&setting.tree)?;
        let mut tries = 0;
        loop {
            tries += 1;
            match Self::launch(bench, who, setting).await {
                Err(_) if tries < TRIES => {}
                outcome => return outcome.with_context(|| format!("{} did not start", who.name())),
            }
        }
    }

    async fn launch(bench: &Bench<'_>, who: Who, setting: &Setting) -> Result<Self> {
        let address = free_address()?;
        let mut command = command(bench, who, setting, address.port())?;
        let complaints = File::create(setting.home.join("stderr.txt"))?;
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin")
            .envs(["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"].map(|name| (name, &setting.home)))
            // Nobody logs requests.
            .env("SANDBOX_AGENT_LOG_HTTP", "0")
            .current_dir(&setting.home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(complaints);
        let began = Instant::now();
        let child = bench.cores.spawn(&mut command, setting.room)?;
        let dialect = dialect(who, &setting.tree)?;
        let took = Duration::ZERO;
        let mut server = Self { who, address, took, dialect, child };
        server.await_answer(setting.first).await?;
        server.took = began.elapsed();
        Ok(server)
    }

    async fn await_answer(&mut self, first: Option<&str>) -> Result<()> {
        let ask = first.map_or(Ask::List(""), Ask::Read);
        let request = self.say(ask)?;
        let end = Instant::now() + PATIENCE;
        loop {
            if let Ok(mut connection) = Connection::open(self.address).await {
                connection.send(&request.bytes).await?;
                let answer = connection.receive(request.answer, |_| {}).await?;
                ensure!(answer.status == 200, "the first answer is {}", answer.status);
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended: {status}");
            }
            ensure!(Instant::now() < end, "it does not answer");
            sleep(KNOCK).await;
        }
    }

    pub(super) fn say(&self, ask: Ask<'_>) -> Result<Request, Cannot> {
        self.dialect.say(ask)
    }

    /// Asks once, on a connection of its own; the answer must be fine.
    pub(super) async fn fetch(&self, request: &Request, body: &[u8]) -> Result<Vec<u8>> {
        let mut connection = Connection::open(self.address).await?;
        connection.send(&request.bytes).await?;
        connection.send(body).await?;
        let mut heard = Vec::new();
        let answer =
            connection.receive(request.answer, |piece| heard.extend_from_slice(piece)).await?;
        let shown = || String::from_utf8_lossy(heard.get(..200).unwrap_or(&heard)).into_owned();
        ensure!(Expected::FINE.fits(answer), "{}: {answer:?}: {}", self.who.name(), shown());
        Ok(heard)
    }

    /// Puts a large file in place, which is made while it goes out.
    pub(super) async fn upload(&self, path: &str, length: u64) -> Result<()> {
        let request = self.say(Ask::Write(path, length))?;
        let mut connection = Connection::open(self.address).await?;
        connection.send(&request.bytes).await?;
        let mut pieces = Pieces::new(length);
        while let Some(piece) = pieces.next() {
            connection.send(piece).await?;
        }
        let answer = connection.receive(request.answer, |_| {}).await?;
        ensure!(Expected::FINE.fits(answer), "{}: {answer:?}", self.who.name());
        Ok(())
    }

    pub(super) fn processor_time(&self) -> Result<Duration> {
        burden::processor_time(self.child.id())
    }

    pub(super) fn resident(&self) -> Result<u64> {
        burden::resident(self.child.id())
    }

    pub(super) fn peak(&self) -> Result<u64> {
        burden::peak(self.child.id())
    }

    pub(super) fn forget_peak(&self) -> Result<()> {
        burden::forget_peak(self.child.id())
    }

    /// Asks it to end, and makes it after a while.
    fn stop(&mut self) -> Result<()> {
        // Whoever is killed leaves its children behind.
        let family = burden::family(self.child.id());
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let end = Instant::now() + FAREWELL;
        while Instant::now() < end {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        for member in family.into_iter().filter_map(|id| Pid::from_raw(id.cast_signed())) {
            // Those that ended meanwhile are not there any more.
            let _gone = kill_process(member, Signal::KILL);
        }
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that ended by itself is not there any more.
        let _gone = self.stop();
    }
}

fn dialect(who: Who, tree: &Path) -> Result<Dialect> {
    let root = || tree.to_str().map(str::to_owned).context("a path that is not text");
    Ok(match who {
        Who::Host | Who::Relaxed => Dialect::Ours(root()?),
        Who::Memory | Who::Store => Dialect::Ours("/".to_owned()),
        Who::SandboxAgent => Dialect::SandboxAgent(root()?),
        Who::Nginx => Dialect::Dav(""),
        Who::Sockets => Dialect::Dav(""),
        Who::Dufs => Dialect::Dav("?json"),
        Who::Program(name) => bail!("{name} is not a server"),
    })
}

fn command(bench: &Bench<'_>, who: Who, setting: &Setting, port: u16) -> Result<Command> {
    let (home, tree, peers) = (&setting.home, &setting.tree, &bench.peers);
    let port_word = port.to_string();
    let own = |choice: &[&str]| {
        let mut command = Command::new(&bench.server);
        command.args(["serve", "--json", "--log", "warn", "--token", TOKEN, "--port", &port_word]);
        command.args(&setting.flags).args(choice);
        command
    };
    let tree_word = tree.to_str().context("a path that is not text")?;
    let mut command = match who {
        Who::Host => own(&[tree_word]),
        Who::Relaxed => own(&["--durability", "relaxed", tree_word]),
        Who::Memory => own(&["--store", "memory:"]),
        Who::Store => own(&["--store", &format!("file:{}", home.join("store").display())]),
        Who::Nginx => Command::new("nginx"),
        Who::Dufs => Command::new(peers.join("dufs/bin/dufs")),
        Who::SandboxAgent => Command::new(peers.join(SANDBOX_AGENT)),
        Who::Sockets => bench.plan.part(&["bare-answers", &port_word])?,
        Who::Program(name) => bail!("{name} is not a server"),
    };
    if who == Who::Nginx {
        let file = home.join("nginx.conf");
        std::fs::write(&file, nginx::configuration(home, tree, port))?;
        command.arg("-p").arg(home).arg("-e").arg(home.join("error.log")).arg("-c").arg(file);
    } else if who == Who::Dufs {
        command.args(["-A", "--log-format", "", "--bind", HOST, "--port", &port_word, tree_word]);
    } else if who == Who::SandboxAgent {
        command.args(["server", "--no-token", "--no-telemetry", "--host", HOST]);
        command.args(["--port", &port_word]);
    }
    Ok(command)
}

fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}
