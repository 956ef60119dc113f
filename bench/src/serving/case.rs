//! What was found in one case, of everybody.

use std::time::Duration;

use super::ask::Cannot;
use super::held::Held;
use super::load::Pace;
use super::who::Who;
use crate::report::Rounds;

/// One thing that was measured, of everybody in turns.
pub(super) struct Case {
    pub(super) name: String,
    /// How much one job does, and of what, where that says more than its time.
    pub(super) amount: Option<(f64, &'static str)>,
    pub(super) entries: Vec<Entry>,
}

/// What was found of somebody.
pub(super) struct Entry {
    pub(super) who: Who,
    pub(super) rounds: Rounds,
    /// The most memory that the server had, in bytes.
    pub(super) memory: Option<u64>,
    /// Why there are no figures.
    pub(super) miss: Option<Miss>,
}

/// Why somebody has no figures.
#[derive(Debug)]
pub(super) enum Miss {
    /// It has no such thing.
    Cannot(&'static str),
    /// It gave a wrong answer, or none.
    Failed(anyhow::Error),
}

/// One job, done once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
}

/// The names of figures.
pub(super) const RATE: &str = "rate";
pub(super) const P50: &str = "p50";
pub(super) const P99: &str = "p99";
pub(super) const CPU: &str = "cpu";
pub(super) const TIME: &str = "time";

/// Figures of one round.
pub(super) trait Figures {
    fn note(&self, rounds: &mut Rounds);
}

impl Figures for Pace {
    fn note(&self, rounds: &mut Rounds) {
        for (name, figure) in [(RATE, self.rate), (P50, self.p50), (P99, self.p99), (CPU, self.cpu)]
        {
            rounds.add(name, figure);
        }
    }
}

impl Figures for Turn {
    fn note(&self, rounds: &mut Rounds) {
        rounds.add(TIME, self.wall.as_nanos() as f64);
        rounds.add(CPU, self.cpu.as_nanos() as f64);
    }
}

impl Case {
    pub(super) fn new(name: impl Into<String>, everybody: &[Who]) -> Self {
        let entry =
            |who: &Who| Entry { who: *who, rounds: Rounds::default(), memory: None, miss: None };
        let entries = everybody.iter().map(entry).collect();
        Self { name: name.into(), amount: None, entries }
    }

    /// The same, with what one job does.
    pub(super) fn of(mut self, amount: f64, unit: &'static str) -> Self {
        self.amount = Some((amount, unit));
        self
    }

    /// Measures everybody once in each round, each round beginning with another one. Whoever missed once
    /// is not asked again.
    pub(super) async fn in_turns<T: Figures>(
        &mut self,
        rounds: usize,
        mut measure: impl AsyncFnMut(Who) -> Result<T, Miss>,
    ) {
        let count = self.entries.len();
        for round in 0..rounds {
            for position in 0..count {
                let Some(entry) = self.entries.get_mut((position + round) % count) else {
                    continue;
                };
                if entry.miss.is_some() {
                    continue;
                }
                match measure(entry.who).await {
                    Ok(figures) => figures.note(&mut entry.rounds),
                    Err(miss) => {
                        miss.tell(&self.name, entry.who);
                        entry.miss = Some(miss);
                    }
                }
            }
        }
    }

    /// How much it does in a time: more is better.
    pub(super) fn speed(&self, who: Who) -> Option<f64> {
        let entry = self.entries.iter().find(|entry| entry.who == who)?;
        let time = || entry.rounds.median(TIME).map(|ns| 1e9 / ns);
        entry.rounds.median(RATE).or_else(time)
    }

    /// How many times as fast one is as another; nothing if either has no figures.
    pub(super) fn ratio(&self, one: Who, other: Who) -> Option<f64> {
        Some(self.speed(one)? / self.speed(other)?)
    }

    /// How much memory everybody had at most; the words say more of the load.
    pub(super) fn memory(&self, words: &str) -> impl Iterator<Item = Held> {
        self.entries.iter().filter_map(move |entry| {
            let load = format!("{}{words}", self.name);
            entry.memory.map(|bytes| Held { load, who: entry.who, bytes })
        })
    }

    /// Whoever failed, and how.
    pub(super) fn failures(&self) -> impl Iterator<Item = String> {
        self.entries.iter().filter_map(|entry| match &entry.miss {
            Some(Miss::Failed(err)) => {
                Some(format!("{}, {}: {err:#}", self.name, entry.who.name()))
            }
            Some(Miss::Cannot(_)) | None => None,
        })
    }
}

impl Miss {
    fn tell(&self, case: &str, who: Who) {
        if let Self::Failed(err) = self {
            println!("  FAILED: {case}, {}: {err:#}", who.name());
        }
    }
}

impl From<Cannot> for Miss {
    fn from(Cannot(why): Cannot) -> Self {
        Self::Cannot(why)
    }
}

impl From<anyhow::Error> for Miss {
    fn from(err: anyhow::Error) -> Self {
        Self::Failed(err)
    }
}
