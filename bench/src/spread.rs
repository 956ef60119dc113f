//! How long operations took, each by its name.

use std::collections::BTreeMap;
use std::time::Duration;

/// The times of many operations.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    times: BTreeMap<&'static str, Vec<Duration>>,
    /// How many failed, and how the first one did.
    pub(crate) failures: u64,
    pub(crate) failure: Option<String>,
}

impl Spread {
    pub(crate) fn note(&mut self, operation: &'static str, time: Duration) {
        self.times.entry(operation).or_default().push(time);
    }

    pub(crate) fn failed(&mut self, operation: &'static str, err: &anyhow::Error) {
        self.failures += 1;
        self.failure.get_or_insert_with(|| format!("{operation}: {err:#}"));
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (operation, times) in other.times {
            self.times.entry(operation).or_default().extend(times);
        }
        self.failures += other.failures;
        self.failure = self.failure.take().or(other.failure);
    }

    /// Every operation, and what it took.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (&'static str, Times)> {
        self.times.iter().map(|(operation, times)| (*operation, Times::of(times.clone())))
    }

    /// What all of them took.
    pub(crate) fn all(&self) -> Times {
        Times::of(self.times.values().flatten().copied().collect())
    }

    /// What one of them took.
    pub(crate) fn of(&self, operation: &str) -> Times {
        Times::of(self.times.get(operation).cloned().unwrap_or_default())
    }
}

/// What an operation took that was done many times.
#[derive(Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// What so many of a thousand stayed below.
    pub(crate) fn permille(&self, part: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get(last * part / 1000).copied().unwrap_or_default()
    }

    pub(crate) fn most(&self) -> Duration {
        self.permille(1000)
    }
}
