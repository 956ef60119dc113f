//! A client: one act after the other, each told before it begins and when it is over.

mod counters;
mod own;
mod shared;
mod snapshots;

use std::collections::HashMap;
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{FileSystem as _, Result, Store, VirtualFs};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::history::{Act, Line, Outcome, is_doubtful};
use crate::outfit::{COLD, HOT, outfit, sandbox_id};
use crate::tree::over;
use own::Own;

/// How long a client rests when the store does not answer.
const REST: Duration = Duration::from_millis(20);

/// A client of one server process.
pub(crate) struct Client {
    id: u32,
    store: Store,
    dice: StdRng,
    /// How many acts it began.
    acts: u64,
    /// What it keeps in each sandbox.
    own: HashMap<u32, Own>,
}

impl Client {
    pub(crate) fn new(id: u32, store: Store) -> Self {
        let dice = StdRng::seed_from_u64(u64::from(id));
        Self { id, store, dice, acts: 0, own: HashMap::new() }
    }

    /// Works until a time in microseconds, after it has removed what the client before it left.
    pub(crate) async fn work(mut self, until: u64, before: Option<u32>) {
        if let Some(client) = before {
            let swept = self.sweep(client).await;
            self.hear(HOT, swept).await;
        }
        while micros() < until {
            let sandbox = if self.dice.random_bool(0.5) { HOT } else { self.cold() };
            let heard = self.one_act(sandbox).await;
            self.hear(sandbox, heard).await;
        }
    }

    /// One of a few, so that the client comes back to what it keeps there.
    fn cold(&mut self) -> u32 {
        1 + (self.id * 3 + self.dice.random_range(0..5)) % COLD
    }

    async fn one_act(&mut self, sandbox: u32) -> Result<()> {
        let files = self.store.sandbox(&sandbox_id(sandbox)).await?;
        let usage = files.usage().await?;
        if let Some(words) = over(&outfit(sandbox).limits, &usage) {
            self.complain(sandbox, words);
        }
        match self.dice.random_range(0..100) {
            0..30 => self.count(sandbox, &files).await,
            30..65 => self.keep_own(sandbox, &files).await,
            65..78 => self.write_pair(sandbox, &files).await,
            78..92 => self.carry(sandbox, &files).await,
            _ => self.look_back(sandbox, &files).await,
        }
    }

    /// What an error means that no act had, but a look before or after it.
    async fn hear(&self, sandbox: u32, heard: Result<()>) {
        let Err(err) = heard else { return };
        if is_doubtful(&err) {
            tell(&Line::Unread { client: self.id, words: err.to_string() });
            tokio::time::sleep(REST).await;
        } else {
            self.complain(sandbox, format!("a look failed: {:?}, {err}", err.kind()));
        }
    }

    /// The number of the next act.
    fn next(&self) -> u64 {
        self.acts + 1
    }

    /// Tells of an act, lets it happen, and tells what came of it.
    async fn act<T>(
        &mut self,
        sandbox: u32,
        act: Act,
        work: impl Future<Output = Result<T>>,
    ) -> Outcome {
        self.acts += 1;
        let (client, number) = (self.id, self.acts);
        tell(&Line::Begun { client, number, at: micros(), sandbox, act });
        let outcome = Outcome::of(&work.await);
        tell(&Line::Ended { client, number, at: micros(), outcome: outcome.clone() });
        outcome
    }

    fn complain(&self, sandbox: u32, words: String) {
        tell(&Line::Broken { client: self.id, sandbox, words });
    }

    async fn files(&self, sandbox: u32) -> Result<VirtualFs> {
        self.store.sandbox(&sandbox_id(sandbox)).await
    }
}

/// One line in one write, so that what is read of it is whole.
fn tell(line: &Line) {
    let text = serde_json::to_string(line).unwrap() + "\n";
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// Microseconds since 1970: the one clock that all processes share.
pub(crate) fn micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_micros() as u64
}
