//! Four server processes on one store, and what becomes of them.

use std::time::{Duration, Instant};

use engine::{Result, Store, Verified};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use rand::RngExt as _;

use crate::checker;
use crate::client::micros;
use crate::figures::Figures;
use crate::furnish::furnish;
use crate::history::History;
use crate::outfit::{COLD, HOT, outfit, sandbox_id};
use crate::process::{CLIENTS, Process};
use crate::tree::Tree;

/// How many processes there are at a time.
pub const PROCESSES: usize = 4;

/// How many sandboxes are looked at at a time.
const AT_ONCE: usize = 8;

/// The processes of a fleet while they work.
pub struct Crew {
    /// How each process reaches the store.
    urls: [String; PROCESSES],
    processes: Vec<Process>,
    histories: [History; PROCESSES],
    clients: u32,
    began: Instant,
    lasts: Duration,
    until: u64,
    kills: u32,
}

impl Crew {
    /// Starts the processes, each of which reaches the store by a URL of its own. When all have it
    /// open, they work for a while.
    pub fn start(urls: [String; PROCESSES], lasts: Duration) -> Self {
        let mut crew = Self {
            urls,
            processes: Vec::new(),
            histories: Default::default(),
            clients: 0,
            began: Instant::now(),
            lasts,
            until: 0,
            kills: 0,
        };
        for slot in 0..PROCESSES {
            let process = crew.start_one(slot, None);
            crew.processes.push(process);
        }
        crew.processes.iter().for_each(Process::wait_until_open);
        (crew.began, crew.until) = (Instant::now(), micros() + lasts.as_micros() as u64);
        crew.processes.iter_mut().for_each(|process| process.work(crew.until));
        crew
    }

    fn start_one(&mut self, slot: usize, before: Option<u32>) -> Process {
        let first = self.clients;
        self.clients += CLIENTS;
        Process::start(&self.urls[slot], first, before)
    }

    /// Whether it is still time to work, and so to make trouble.
    pub fn works(&self) -> bool {
        self.began.elapsed() < self.lasts
    }

    /// Kills one of the processes, as a crash would, and starts another one in its place.
    pub fn kill_one(&mut self) {
        let slot = rand::rng().random_range(0..PROCESSES);
        let killed = self.processes.remove(slot);
        let before = killed.first;
        // It must be dead when another one sweeps its clients' files.
        self.histories[slot].add(killed.kill());
        let mut process = self.start_one(slot, Some(before));
        process.work(self.until);
        self.processes.insert(slot, process);
        self.kills += 1;
    }

    /// Waits until all have come to their end.
    pub fn end(mut self) -> Outcome {
        for (process, history) in self.processes.into_iter().zip(&mut self.histories) {
            history.add(process.end());
        }
        Outcome { histories: self.histories, lasted: self.lasts, kills: self.kills }
    }
}

/// What came of the work of a fleet.
pub struct Outcome {
    histories: [History; PROCESSES],
    /// For how long clients began to act.
    lasted: Duration,
    /// How many processes were killed.
    pub kills: u32,
}

impl Outcome {
    /// What the work was like, in numbers.
    pub fn figures(&self) -> Figures {
        Figures::of(&self.histories, self.lasted)
    }

    /// Everything that is not as the acknowledged history says, in words.
    pub async fn complaints(&self, url: &str) -> Result<Vec<String>> {
        let (store, mut history) = (Store::open(url).await?, History::default());
        self.histories.iter().for_each(|told| history.extend(told));
        let mut complaints = [history.broken.clone(), checker::refusals(&history)].concat();
        let of_sandboxes = (HOT..=COLD).map(|sandbox| in_sandbox(&store, sandbox, &history));
        let mut of_sandboxes = stream::iter(of_sandboxes).buffered(AT_ONCE);
        while let Some(found) = of_sandboxes.try_next().await? {
            complaints.extend(found);
        }
        let Verified { sandboxes, problems, .. } = store.verify_all(|_| ()).await?;
        complaints.extend(problems.iter().map(|problem| format!("{problem:?}")));
        if sandboxes <= u64::from(COLD) {
            complaints.push(format!("only {sandboxes} sandboxes are there"));
        }
        Ok(complaints)
    }
}

/// What is not as the history says in one sandbox.
async fn in_sandbox(store: &Store, sandbox: u32, history: &History) -> Result<Vec<String>> {
    let files = store.sandbox(&sandbox_id(sandbox)).await?;
    let mut complaints = checker::complaints(sandbox, history, &Tree::read(&files).await?);
    if files.limits() != outfit(sandbox).limits {
        complaints.push(format!("sandbox {sandbox} has other limits"));
    }
    Ok(complaints)
}

/// Makes the sandboxes that a fleet works in.
pub async fn prepare(url: &str) -> Result<()> {
    furnish(&Store::open(url).await?).await
}
