//! Operations at every size of something that grows: a table, and curves.

use super::Found;
use super::case::Case;
use super::plots::{Curve, curves};
use super::who::Who;
use crate::report::{Section, time};

/// What grows, who is asked, and what is done.
pub(super) struct Growth {
    pub(super) title: &'static str,
    pub(super) about: String,
    /// What there is more and more of.
    pub(super) of: &'static str,
    pub(super) everybody: &'static [Who],
    /// The name of each operation, and that of its plot.
    pub(super) operations: Vec<(&'static str, &'static str)>,
}

/// What was found of one operation at one size.
pub(super) struct Grown {
    pub(super) operation: &'static str,
    pub(super) size: usize,
    pub(super) case: Case,
}

impl Grown {
    fn each(&self, who: Who) -> Option<f64> {
        self.case.speed(who).map(|speed| 1e9 / speed)
    }
}

impl Growth {
    pub(super) fn found(self, cases: &[Grown]) -> Found {
        let failed = cases.iter().flat_map(|grown| {
            let told = |failure| format!("{} {}: {failure}", grown.size, self.of);
            grown.case.failures().map(told)
        });
        let failures = failed.collect();
        // Of the smaller sizes it is less.
        let memory = cases.iter().filter(|grown| grown.size == largest(cases));
        let words = format!(", {} {}", largest(cases), self.of);
        let memory = memory.flat_map(|grown| grown.case.memory(&words)).collect();
        let plots = self.operations.iter().map(|(name, plot)| (*plot, self.plot(name, cases)));
        let plots = plots.collect();
        Found { section: self.section(cases), plots, failures, memory }
    }

    fn plot(&self, operation: &str, cases: &[Grown]) -> String {
        let own = || cases.iter().filter(|grown| grown.operation == operation);
        let curve = |who: &Who| {
            let points = own().filter_map(|grown| Some((grown.size as f64, grown.each(*who)?)));
            Curve { who: *who, points: points.collect() }
        };
        let all: Vec<_> = self.everybody.iter().map(curve).collect();
        curves(&format!("{operation}, with more and more {}", self.of), self.of, &all)
    }

    fn section(&self, cases: &[Grown]) -> Section {
        let names = self.everybody.iter().map(|who| who.name());
        let columns = ["operation", self.of].into_iter().chain(names).map(str::to_owned).collect();
        let mut rows = Vec::new();
        for (operation, _) in &self.operations {
            for grown in cases.iter().filter(|grown| grown.operation == *operation) {
                let figure = |who: &Who| grown.each(*who).map_or("–".to_owned(), time);
                let row = [(*operation).to_owned(), grown.size.to_string()];
                rows.push(row.into_iter().chain(self.everybody.iter().map(figure)).collect());
            }
        }
        let (title, about) = (self.title, self.about.clone());
        Section { title, about, columns, rows, marks: Vec::new() }
    }
}

fn largest(cases: &[Grown]) -> usize {
    cases.iter().map(|grown| grown.size).max().unwrap_or_default()
}
