//! What was found out about many agents, as tables and marks.

use std::time::Duration;

use super::Plan;
use super::stream::Account;
use crate::process::Use;
use crate::report::{Mark, Section};
use crate::spread::Spread;

/// What has to be reached: in memory, KiB for a connection with its stream.
const MOST_MEMORY: f64 = 64.0;

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) plan: &'a Plan,
    pub(super) connecting: Duration,
    pub(super) working: Duration,
    pub(super) spread: Spread,
    pub(super) heard: Vec<Account>,
    /// Of the server before anyone came, when all were connected, at most, and in the end.
    pub(super) used: [Use; 4],
}

impl Findings<'_> {
    /// The command that finds the same.
    pub(super) fn command(&self) -> String {
        let Plan { connections, prompts, cuts, .. } = self.plan;
        format!("bench/agents --connections {connections} --prompts {prompts} --cuts {cuts}")
    }

    /// Whether all was heard, and what it took of memory.
    pub(super) fn section(&self) -> Section {
        let sum = |of: fn(&Account) -> u64| self.heard.iter().map(of).sum::<u64>();
        let (events, cuts) = (sum(|heard| heard.last), sum(|heard| heard.cuts as u64));
        let (missed, repeated) = (sum(|heard| heard.missed), sum(|heard| heard.repeated));
        let [alone, connected, ..] = self.used;
        let grown = connected.memory.saturating_sub(alone.memory) as f64;
        let each = grown / 1024.0 / self.plan.connections as f64;
        let names = ["before", "all connected", "at most", "at the end"];
        let row = |(name, used): (&str, &Use)| vec![name.to_owned(), mib(used.memory)];
        Section {
            title: "Events and memory",
            about: format!(
                "{} agents at once, each with its stream of events and a session of its own. All were \
                 connected after {:.1} s and done {:.1} s later. {events} events arrived; streams were \
                 cut {cuts} times in the middle of an event, and taken up with `Last-Event-ID`.",
                self.plan.connections,
                self.connecting.as_secs_f64(),
                self.working.as_secs_f64(),
            ),
            columns: ["memory of the server", ""].map(str::to_owned).to_vec(),
            rows: names.into_iter().zip(&self.used).map(row).collect(),
            marks: vec![
                Mark::at_most("events that were lost", 0.0, missed as f64),
                Mark::at_most("events that came twice", 0.0, repeated as f64),
                Mark::at_least(
                    "cuts for each stream",
                    self.plan.cuts as f64,
                    cuts as f64 / self.plan.connections as f64,
                ),
                Mark::at_most("KiB of memory for a connection and its stream", MOST_MEMORY, each),
            ],
        }
    }

    /// How long the calls took.
    pub(super) fn traffic(&self) -> Section {
        let rows = self.spread.operations().map(|(name, times)| {
            let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
            let columns = [times.permille(500), times.permille(990), times.most()].map(ms);
            [vec![name.to_owned(), times.count().to_string()], columns.to_vec()].concat()
        });
        Section {
            title: "Calls",
            about:
                "All agents work at once, so that most of a call's time is spent waiting for the \
                    others. None failed: the first failure would have ended the run."
                    .to_owned(),
            columns: ["call", "count", "p50", "p99", "most"].map(str::to_owned).to_vec(),
            rows: rows.collect(),
            marks: Vec::new(),
        }
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
