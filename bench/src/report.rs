//! Figures as a person reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZero;

use anyhow::{Result, ensure};

use crate::sample::Sample;

/// Everything that was found.
pub(crate) struct Report {
    command: String,
    sections: Vec<Section>,
    failed: Vec<String>,
}

/// What one scenario found.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// What was done, in sentences.
    pub(crate) about: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) marks: Vec<Mark>,
}

/// A figure that has to be reached.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) what: String,
    pub(crate) wanted: String,
    pub(crate) found: String,
    pub(crate) verdict: Verdict,
}

/// How a figure stands to what was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// One of those that are compared has no figures.
    Unknown,
}

impl Mark {
    /// A figure that must be at least so much.
    pub(crate) fn at_least(
        what: impl Into<String>,
        wanted: f64,
        found: impl Into<Option<f64>>,
    ) -> Self {
        let found = found.into();
        Self::new(what, format!("≥ {wanted}"), found, found.map(|found| found >= wanted))
    }

    /// A figure that must be at most so much.
    pub(crate) fn at_most(
        what: impl Into<String>,
        wanted: f64,
        found: impl Into<Option<f64>>,
    ) -> Self {
        let found = found.into();
        Self::new(what, format!("≤ {wanted}"), found, found.map(|found| found <= wanted))
    }

    fn new(
        what: impl Into<String>,
        wanted: String,
        found: Option<f64>,
        reached: Option<bool>,
    ) -> Self {
        let verdict = match reached {
            Some(true) => Verdict::Met,
            Some(false) => Verdict::Missed,
            None => Verdict::Unknown,
        };
        let found = found.map_or_else(|| "–".to_owned(), |found| format!("{found:.2}"));
        Self { what: what.into(), wanted, found, verdict }
    }
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "**missed**",
            Self::Unknown => "**not measured**",
        }
    }
}

impl Report {
    /// A report of what this command finds.
    pub(crate) fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), sections: Vec::new(), failed: Vec::new() }
    }

    pub(crate) fn add(&mut self, section: Section) {
        self.sections.push(section);
    }

    pub(crate) fn failed(&mut self, scenario: &str, err: &anyhow::Error) {
        self.failed.push(format!("{scenario}: {err:#}"));
    }

    /// Whether nothing failed.
    pub(crate) fn is_whole(&self) -> bool {
        self.failed.is_empty()
    }

    /// Fails with a sentence if a figure was not reached, so that whoever runs this notices.
    pub(crate) fn demand_marks(&self) -> Result<()> {
        let marks = self.sections.iter().flat_map(|section| &section.marks);
        let missed = marks.filter(|mark| mark.verdict != Verdict::Met);
        let missed: Vec<_> = missed
            .map(|mark| format!("{} (wanted {}, found {})", mark.what, mark.wanted, mark.found))
            .collect();
        ensure!(missed.is_empty(), "not every mark was reached: {}", missed.join("; "));
        Ok(())
    }

    /// The report in Markdown, with the targets before everything else.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "# What `{}` found\n\n{}\n\nRatios hold between figures of one run, taken in turns. \
             Times differ from machine to machine; ratios hardly do. A spread is what lies between \
             the first and the last quarter of the rounds.\n",
            self.command,
            circumstances()
        );
        self.targets(&mut text);
        for failed in &self.failed {
            _ = writeln!(text, "\nNot measured: {failed}");
        }
        for section in &self.sections {
            _ = writeln!(text, "\n## {}\n\n{}", section.title, section.about);
            table(&mut text, &section.columns, &section.rows);
        }
        text
    }

    fn targets(&self, text: &mut String) {
        let marks: Vec<_> = self.sections.iter().flat_map(|section| &section.marks).collect();
        if marks.is_empty() {
            return;
        }
        let met = marks.iter().filter(|mark| mark.verdict == Verdict::Met).count();
        _ = writeln!(text, "\n## Targets\n\n{met} of {} are met.", marks.len());
        let row = |mark: &&Mark| {
            let verdict = mark.verdict.word().to_owned();
            vec![mark.what.clone(), mark.wanted.clone(), mark.found.clone(), verdict]
        };
        let rows: Vec<_> = marks.iter().map(row).collect();
        table(text, &["target", "wanted", "found", ""].map(str::to_owned), &rows);
    }
}

/// What was measured, and on which machine.
fn circumstances() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let (release, machine) = (release.trim(), std::env::consts::ARCH);
    format!("Sandkeep {version} on Linux {release} ({machine}), {cores} cores.")
}

fn table(text: &mut String, columns: &[String], rows: &[Vec<String>]) {
    let rule: Vec<_> = columns.iter().map(|_| "---".to_owned()).collect();
    text.push('\n');
    for row in [columns, &rule].into_iter().chain(rows.iter().map(|row| &row[..])) {
        _ = writeln!(text, "| {} |", row.join(" | "));
    }
}

/// What was measured again and again, by the name of the operation.
#[derive(Default)]
pub(crate) struct Rounds(BTreeMap<String, Vec<f64>>);

impl Rounds {
    pub(crate) fn add(&mut self, op: impl Into<String>, figure: f64) {
        self.0.entry(op.into()).or_default().push(figure);
    }

    pub(crate) fn add_all(&mut self, samples: &[Sample], figure: impl Fn(&Sample) -> f64) {
        for sample in samples {
            self.add(sample.op.clone(), figure(sample));
        }
    }

    /// The median of an operation; none if it was never measured.
    pub(crate) fn median(&self, op: &str) -> Option<f64> {
        self.quarter(op, 2)
    }

    /// The median and the spread.
    pub(crate) fn shown(&self, op: &str, show: impl Fn(f64) -> String) -> String {
        match (self.quarter(op, 1), self.quarter(op, 2), self.quarter(op, 3)) {
            (Some(low), Some(median), Some(high)) => {
                format!("{} ({}–{})", show(median), show(low), show(high))
            }
            _ => "–".to_owned(),
        }
    }

    /// Symmetric, so that of three rounds the least and the most are shown.
    fn quarter(&self, op: &str, quarter: usize) -> Option<f64> {
        let mut figures = self.0.get(op)?.clone();
        figures.sort_by(f64::total_cmp);
        let last = figures.len() - 1;
        let at = |place: usize| figures.get(place).copied();
        match quarter {
            0 | 1 => at(last * quarter / 4),
            2 => Some((at(last / 2)? + at(last.div_ceil(2))?) / 2.0),
            _ => at(last - last * (4 - quarter) / 4),
        }
    }
}

/// Nanoseconds in a unit that fits.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.2} µs", ns / 1e3),
        ..1e9 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(marks: Vec<Mark>) -> Report {
        let mut report = Report::new("bench/nothing");
        let (about, columns, rows) = (String::new(), Vec::new(), Vec::new());
        report.add(Section { title: "Nothing", about, columns, rows, marks });
        report
    }

    #[test]
    fn a_mark_that_is_missed_is_a_failure_in_words() {
        report(vec![Mark::at_least("reads", 50.0, 50.0)]).demand_marks().unwrap();
        let both = vec![Mark::at_least("reads", 50.0, 60.0), Mark::at_least("lists", 50.0, 49.0)];
        let said = report(both).demand_marks().unwrap_err().to_string();
        assert_eq!(said, "not every mark was reached: lists (wanted ≥ 50, found 49.00)");
    }

    #[test]
    fn a_spread_lies_evenly_around_its_median() {
        let mut rounds = Rounds::default();
        [3.0, 1.0, 2.0].into_iter().for_each(|figure| rounds.add("three", figure));
        [5.0, 1.0, 2.0, 4.0, 3.0].into_iter().for_each(|figure| rounds.add("five", figure));
        [1.0, 2.0].into_iter().for_each(|figure| rounds.add("two", figure));
        let shown = |op: &str| rounds.shown(op, |figure| figure.to_string());
        assert_eq!(shown("three"), "2 (1–3)");
        assert_eq!(shown("five"), "3 (2–4)");
        assert_eq!(shown("two"), "1.5 (1–2)");
    }

    #[test]
    fn the_targets_are_the_first_section() {
        let text = report(vec![Mark::at_most("reads", 1.5, None)]).text();
        let heading = text.lines().find(|line| line.starts_with("## "));
        assert_eq!(heading, Some("## Targets"));
        assert!(text.contains("| reads | ≤ 1.5 | – | **not measured** |"), "{text}");
    }

    #[test]
    fn a_report_names_the_machine() {
        let text = report(Vec::new()).text();
        assert!(text.contains("Sandkeep 0.") && text.contains(" cores."), "{text}");
    }
}
