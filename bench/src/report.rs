//! Figures as a person reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

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
pub(crate) struct Mark {
    pub(crate) what: String,
    pub(crate) wanted: String,
    pub(crate) found: String,
    pub(crate) reached: bool,
}

impl Mark {
    /// A figure that must be at least so much.
    pub(crate) fn at_least(what: impl Into<String>, wanted: f64, found: f64) -> Self {
        let (what, reached) = (what.into(), found >= wanted);
        Self { what, wanted: format!("≥ {wanted}"), found: format!("{found:.2}"), reached }
    }

    /// A figure that must be at most so much.
    pub(crate) fn at_most(what: impl Into<String>, wanted: f64, found: f64) -> Self {
        let (what, reached) = (what.into(), found <= wanted);
        Self { what, wanted: format!("≤ {wanted}"), found: format!("{found:.2}"), reached }
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

    /// The report in Markdown.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "# What `{}` found\n\nRatios hold between figures of one run, taken in turns. \
             Times differ from machine to machine; ratios hardly do. A spread is what lies between \
             the first and the last quarter of the rounds.\n",
            self.command
        );
        table(&mut text, &["mark", "wanted", "found", ""].map(str::to_owned), &self.marks());
        for failed in &self.failed {
            _ = writeln!(text, "\nNot measured: {failed}");
        }
        for section in &self.sections {
            _ = writeln!(text, "\n## {}\n\n{}", section.title, section.about);
            table(&mut text, &section.columns, &section.rows);
        }
        text
    }

    fn marks(&self) -> Vec<Vec<String>> {
        let marks = self.sections.iter().flat_map(|section| &section.marks);
        let row = |mark: &Mark| {
            let reached = if mark.reached { "reached" } else { "**missed**" };
            vec![mark.what.clone(), mark.wanted.clone(), mark.found.clone(), reached.to_owned()]
        };
        marks.map(row).collect()
    }
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

    fn quarter(&self, op: &str, quarter: usize) -> Option<f64> {
        let mut figures = self.0.get(op)?.clone();
        figures.sort_by(f64::total_cmp);
        figures.get((figures.len() - 1) * quarter / 4).copied()
    }
}

/// Nanoseconds in a unit that fits.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.2} µs", ns / 1e3),
        _ => format!("{:.2} ms", ns / 1e6),
    }
}
