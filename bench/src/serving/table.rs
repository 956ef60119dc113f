//! Cases as a table: a line for everybody, with what ours is beside it.

use super::case::{CPU, Case, Entry, Miss, P50, P99, RATE, TIME};
use super::targets;
use super::who::Who;
use crate::report::{Section, time};

/// Cases that belong together.
pub(super) struct Family {
    /// The name of the scenario, and of its plot.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: String,
    pub(super) measure: Measure,
    pub(super) cases: Vec<Case>,
}

/// What the figures of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Many requests: how many a second, and how long each took.
    Pace,
    /// One job: how long it took.
    Time,
}

const PACE_COLUMNS: [&str; 8] = [
    "what",
    "who",
    "answers/s",
    "p50",
    "p99",
    "processor time each",
    "memory at most",
    "first line ÷ this",
];
const TIME_COLUMNS: [&str; 7] =
    ["what", "who", "time", "a second", "processor time", "memory at most", "first line ÷ this"];

impl Family {
    pub(super) fn section(&self) -> Section {
        let mut notes = Notes::default();
        let mut rows = Vec::new();
        for case in &self.cases {
            rows.extend(case.entries.iter().map(|entry| self.row(case, entry, &mut notes)));
        }
        let columns = match self.measure {
            Measure::Pace => PACE_COLUMNS.to_vec(),
            Measure::Time => TIME_COLUMNS.to_vec(),
        };
        Section {
            title: self.title,
            about: format!("{}{}", self.about, notes.text()),
            columns: columns.into_iter().map(str::to_owned).collect(),
            rows,
            marks: targets::marks(self.name, &self.cases),
        }
    }

    fn row(&self, case: &Case, entry: &Entry, notes: &mut Notes) -> Vec<String> {
        let shown = |name: &str, show: fn(f64) -> String| entry.rounds.shown(name, show);
        let mut row = vec![case.name.clone(), entry.who.name().to_owned()];
        match self.measure {
            Measure::Pace => {
                row.push(shown(RATE, |rate| format!("{rate:.0}")));
                row.extend([P50, P99, CPU].map(|name| middle(entry, name)));
            }
            Measure::Time => {
                row.push(shown(TIME, time));
                row.push(amount(case, entry.who));
                row.push(middle(entry, CPU));
            }
        }
        row.push(entry.memory.map_or_else(nothing, mib));
        let first = case.entries.first().map(|first| first.who);
        let ratio = first.and_then(|first| case.ratio(first, entry.who));
        row.push(ratio.map_or_else(nothing, |ratio| format!("{ratio:.2}")));
        if let (Some(miss), Some(figure)) = (&entry.miss, row.get_mut(2)) {
            *figure = notes.refer(miss);
        }
        row
    }
}

fn middle(entry: &Entry, name: &str) -> String {
    entry.rounds.median(name).map_or_else(nothing, time)
}

fn amount(case: &Case, who: Who) -> String {
    match (case.amount, case.speed(who)) {
        (Some((amount, unit)), Some(speed)) => format!("{:.0} {unit}", amount * speed),
        _ => nothing(),
    }
}

fn nothing() -> String {
    "–".to_owned()
}

pub(super) fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Why figures are missing, each reason once.
#[derive(Default)]
struct Notes(Vec<String>);

const DIGITS: [char; 9] = ['¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

impl Notes {
    /// The sign that stands for a figure.
    fn refer(&mut self, miss: &Miss) -> String {
        let why = match miss {
            Miss::Cannot(why) => (*why).to_owned(),
            Miss::Failed(err) => format!("it failed: {err:#}"),
        };
        let place = self.0.iter().position(|known| *known == why).unwrap_or_else(|| {
            self.0.push(why);
            self.0.len() - 1
        });
        format!("–{}", DIGITS.get(place).unwrap_or(&'⁺'))
    }

    fn text(&self) -> String {
        let lines = self.0.iter().zip(DIGITS).map(|(why, digit)| format!(" –{digit}: {why}."));
        lines.collect()
    }
}
