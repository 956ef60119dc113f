//! What the work of a fleet was like, in numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::history::{Deed, History, Outcome};

/// Every act that clients know, by name.
const ACTS: [&str; 11] = [
    "count", "write", "append", "move", "remove", "pair", "carry", "snapshot", "forget", "fork",
    "discard",
];

/// The numbers of one run.
#[derive(Debug)]
pub struct Figures {
    lasted: Duration,
    /// How many acts of each kind were acknowledged.
    done: BTreeMap<&'static str, usize>,
    /// How many acts were refused, for each kind of refusal.
    refused: BTreeMap<String, usize>,
    /// How many acts nobody knows the outcome of, for each reason.
    in_doubt: BTreeMap<String, usize>,
    unread: BTreeMap<String, usize>,
    /// How long those took that were acknowledged, in order.
    times: Vec<u64>,
    by_process: Vec<usize>,
}

impl Figures {
    pub(crate) fn of(histories: &[History], lasted: Duration) -> Self {
        let deeds = || histories.iter().flat_map(|history| &history.deeds);
        let done = deeds().filter(|deed| deed.is_done());
        let mut times: Vec<u64> =
            done.clone().map(|deed| deed.ended().saturating_sub(deed.began)).collect();
        times.sort_unstable();
        let acknowledged =
            |history: &History| history.deeds.iter().filter(|deed| deed.is_done()).count();
        Self {
            lasted,
            done: tally(done.map(|deed| deed.act.word())),
            refused: tally(deeds().filter_map(refusal)),
            in_doubt: tally(deeds().filter_map(doubt)),
            unread: tally(histories.iter().flat_map(|history| history.unread.iter().cloned())),
            times,
            by_process: histories.iter().map(acknowledged).collect(),
        }
    }

    /// How many acts were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.times.len()
    }

    /// How many acts were acknowledged by the process, and those in its place, that did the least.
    pub fn least(&self) -> usize {
        self.by_process.iter().copied().min().unwrap_or_default()
    }

    /// The acts of which none was acknowledged.
    pub fn missing(&self) -> Vec<&'static str> {
        ACTS.into_iter().filter(|act| !self.done.contains_key(act)).collect()
    }

    /// How often a limit was met.
    pub fn met_limits(&self) -> usize {
        let met = |kind: &str| self.refused.get(kind).copied().unwrap_or_default();
        met("storage_full") + met("too_many_nodes")
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.lasted.as_secs_f64();
        let (count, rate) = (self.times.len(), self.times.len() as f64 / seconds);
        let within = |percent: usize| {
            let at = self.times.len().saturating_sub(1) * percent / 100;
            Duration::from_micros(self.times.get(at).copied().unwrap_or_default())
        };
        writeln!(
            f,
            "{count} acknowledged in {seconds:.1} s, {rate:.0}/s, by process {:?}",
            self.by_process
        )?;
        writeln!(f, "  half within {:.1?}, 99 of 100 within {:.1?}", within(50), within(99))?;
        writeln!(f, "  acknowledged {:?}", self.done)?;
        writeln!(f, "  refused {:?}", self.refused)?;
        writeln!(f, "  in doubt {:?}", self.in_doubt)?;
        write!(f, "  not read {:?}", self.unread)
    }
}

fn refusal(deed: &Deed) -> Option<String> {
    match &deed.end {
        Some((_, Outcome::Refused(kind, _))) => Some(kind.clone()),
        Some((_, Outcome::Done | Outcome::InDoubt(..))) | None => None,
    }
}

fn doubt(deed: &Deed) -> Option<String> {
    match &deed.end {
        Some((_, Outcome::InDoubt(kind, words))) => Some(format!("{kind}: {words}")),
        Some((_, Outcome::Done | Outcome::Refused(..))) => None,
        None => Some("killed".to_owned()),
    }
}

fn tally<T: Ord>(things: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut tally = BTreeMap::new();
    things.for_each(|thing| *tally.entry(thing).or_default() += 1);
    tally
}
