//! A server's process: it dies with ours, and nothing of it is left when it was killed.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::installed;

/// How long a server may take to answer, and to end.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// A command that ends when this process does, with an environment of its own.
pub(crate) fn command(options: &[&str], program: &Path, home: &Path) -> Command {
    let mut command = Command::new(installed::on_path("setpriv"));
    command.args(["--pdeathsig", "KILL"]).args(options).arg("--").arg(program);
    command.env_clear().env("HOME", home).env("TMPDIR", home).env("LC_ALL", "C.UTF-8");
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.current_dir(home);
    command
}

/// A running server.
pub(crate) struct Process {
    child: Child,
    log: PathBuf,
}

/// Why a server does not answer.
pub(crate) enum Silence {
    /// It ended, perhaps because somebody else took its port.
    Ended,
    /// It runs, but does not answer in time.
    TooLong,
}

impl Process {
    /// Starts a command as the leader of a process group; what it says goes to the end of a log.
    pub(crate) fn spawn(mut command: Command, log: PathBuf) -> Self {
        let file = File::options().create(true).append(true).open(&log).expect("the log is made");
        let same = file.try_clone().expect("the log has a second descriptor");
        command.stdin(Stdio::null()).stdout(file).stderr(same).process_group(0);
        let child = spawn_from_a_lasting_thread(command).expect("the server's program starts");
        Self { child, log }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the server answers.
    pub(crate) fn wait_until(&mut self, mut answers: impl FnMut() -> bool) -> Result<(), Silence> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if self.child.try_wait().expect("the server is our child").is_some() {
                return Err(Silence::Ended);
            }
            if answers() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(Silence::TooLong)
    }

    /// Kills the server and all its descendants, and waits until they are gone.
    ///
    /// Postgres gives each of its processes a group of its own, so the group alone is not enough.
    pub(crate) fn kill(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        let leader = Pid::from_child(&self.child);
        // Whoever is stopped starts nobody else while we look.
        let _ = kill_process(leader, Signal::STOP);
        let others = descendants(self.id());
        let _ = kill_process_group(leader, Signal::KILL);
        for other in others.iter().filter_map(|id| Pid::from_raw(i32::try_from(*id).ok()?)) {
            let _ = kill_process(other, Signal::KILL);
        }
        drop(self.child.wait());
        wait_for_the_end(&others);
    }

    /// Lets the server end in order; when it has not ended in time it is killed, as an init system
    /// would do.
    pub(crate) fn end(&mut self, signal: Signal, time: Duration) {
        let others = descendants(self.id());
        let _ = kill_process(Pid::from_child(&self.child), signal);
        let begin = Instant::now();
        while begin.elapsed() < time {
            if self.child.try_wait().expect("the server is our child").is_some() {
                return wait_for_the_end(&others);
            }
            thread::sleep(PAUSE);
        }
        self.kill();
    }

    /// The end of what the server said.
    pub(crate) fn last_words(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().rev().take(30).collect();
        lines.into_iter().rev().map(|line| format!("    {line}\n")).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// The kernel kills a process with the thread that started it, and the threads of tests end before
/// the servers that several tests share: so one thread that never ends starts them all.
pub(crate) fn spawn_from_a_lasting_thread(command: Command) -> io::Result<Child> {
    static ORDERS: LazyLock<mpsc::Sender<Order>> = LazyLock::new(|| {
        let (orders, receiver) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in receiver {
                // Whoever ordered waits for the answer.
                drop(answer.send(command.spawn()));
            }
        });
        orders
    });
    let (answer, spawned) = mpsc::channel();
    ORDERS.send((command, answer)).map_err(io::Error::other)?;
    spawned.recv().map_err(io::Error::other)?
}

/// All processes beneath one, as the kernel tells them now.
fn descendants(of: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parents: Vec<(u32, u32)> =
        numbers.filter_map(|id| Some((id, status(id)?.parent))).collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(id, _)| *id));
        next += 1;
    }
    found.split_off(1)
}

struct Status {
    parent: u32,
    ended: bool,
}

/// What `/proc` says of a process; its name, in brackets, may itself contain brackets.
fn status(id: u32) -> Option<Status> {
    let line = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut words = line.rsplit_once(')')?.1.split_whitespace();
    let ended = words.next()? == "Z";
    Some(Status { parent: words.next()?.parse().ok()?, ended })
}

fn wait_for_the_end(ids: &[u32]) {
    let runs = |id: &u32| status(*id).is_some_and(|status| !status.ended);
    let begin = Instant::now();
    while ids.iter().any(runs) {
        assert!(begin.elapsed() < PATIENCE, "a process of the server does not end");
        thread::sleep(PAUSE);
    }
}
