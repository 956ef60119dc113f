//! One server process of a fleet: this program again, which opens the store and lets its clients
//! work until it is time to stop, or until it is killed.

use std::env;
use std::io::{BufRead, BufReader, Write as _, stdin};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::Store;
use tokio::runtime::Builder;

use crate::client::Client;
use crate::history::Line;

/// How many clients one process has.
pub(crate) const CLIENTS: u32 = 8;

/// The first argument of such a process.
const MODE: &str = "--serve-clients";

/// How long a process may take to come to its end after it is time to stop.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a process says when it has the store open.
const OPEN: &str = "open";

/// Is a server process, if this program was started as one.
pub fn is_server_process() -> bool {
    let arguments: Vec<String> = env::args().collect();
    let [_, mode, url, first, before] = &arguments[..] else { return false };
    if mode != MODE {
        return false;
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(serve(url, first.parse().unwrap(), before.parse().ok()));
    true
}

async fn serve(url: &str, first: u32, before: Option<u32>) {
    let store = Store::open(url).await.unwrap();
    println!("{OPEN}");
    let mut until = String::new();
    stdin().read_line(&mut until).unwrap();
    let until = until.trim().parse().unwrap();
    let clients = (0..CLIENTS).map(|at| {
        let client = Client::new(first + at, store.clone());
        tokio::spawn(client.work(until, before.map(|before| before + at)))
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
}

/// A running server process.
pub(crate) struct Process {
    child: Child,
    open: mpsc::Receiver<()>,
    lines: JoinHandle<Vec<Line>>,
    /// The id of its first client.
    pub(crate) first: u32,
}

impl Process {
    /// Starts a process, which opens the store and waits.
    pub(crate) fn start(url: &str, first: u32, before: Option<u32>) -> Self {
        let before = before.map_or_else(|| "-".to_owned(), |before| before.to_string());
        let mut child = Command::new(env::current_exe().unwrap())
            .args([MODE, url, &first.to_string(), &before])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (opened, open) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        let lines = thread::spawn(move || gather(out, &opened));
        Self { child, open, lines, first }
    }

    /// Waits until it has the store open.
    pub(crate) fn wait_until_open(&self) {
        self.open.recv_timeout(PATIENCE).expect("a server process opens the store");
    }

    /// Lets its clients work until a time in microseconds.
    pub(crate) fn work(&mut self, until: u64) {
        let told = self.child.stdin.as_mut().unwrap().write_all(format!("{until}\n").as_bytes());
        told.unwrap();
    }

    /// Kills it, and says what it told until then.
    pub(crate) fn kill(mut self) -> Vec<Line> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.lines.join().unwrap()
    }

    /// Waits until it has come to its end, and says what it told.
    pub(crate) fn end(mut self) -> Vec<Line> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "a server process failed: {status}");
                return self.lines.join().unwrap();
            }
            thread::sleep(Duration::from_millis(20));
        }
        self.child.kill().unwrap();
        panic!("a server process does not come to its end");
    }
}

/// What a process tells. Every line is whole: it was one write, and a pipe does not part it.
fn gather(out: impl BufRead, opened: &mpsc::Sender<()>) -> Vec<Line> {
    let mut lines = Vec::new();
    for line in out.lines().map_while(Result::ok) {
        if line == OPEN {
            // Nobody waits for a process that takes another one's place.
            opened.send(()).ok();
        } else {
            lines.push(serde_json::from_str(&line).unwrap());
        }
    }
    lines
}
