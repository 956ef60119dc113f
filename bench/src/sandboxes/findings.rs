//! What was found out about many sandboxes, as tables and marks.

use std::time::Duration;

use super::crowd::{Heard, Pages};
use super::{IDLE, Plan, SPARE};
use crate::process::Use;
use crate::report::{Mark, Section};
use crate::spread::{Spread, Times};

/// What has to be reached.
const SLOWEST_START: f64 = 2.0;
const MOST_MEMORY: f64 = 200.0;
const WORST_RATIO: f64 = 2.0;
const WORST_PAGE: f64 = 2.0;

/// Everything that was measured.
pub(super) struct Findings<'a> {
    pub(super) plan: &'a Plan,
    pub(super) registering: Duration,
    /// How many sandboxes there were at each start.
    pub(super) starts: [(usize, Start); 2],
    pub(super) pages: Pages,
    pub(super) load: Load,
    pub(super) removal: Times,
}

/// How a server started.
pub(super) struct Start {
    /// After it was stopped, and after it was killed.
    pub(super) stopped: Duration,
    pub(super) killed: Duration,
    pub(super) used: Use,
}

/// What traffic did to both servers.
pub(super) struct Load {
    pub(super) few: Spread,
    pub(super) many: Spread,
    pub(super) before: Use,
    pub(super) most: Use,
    pub(super) after: Use,
    pub(super) closing: Duration,
    pub(super) notices: [Heard; 2],
}

impl Findings<'_> {
    /// The command that finds the same.
    pub(super) fn command(&self) -> String {
        let Plan { registered, active, seconds, clients, .. } = self.plan;
        format!(
            "bench/sandboxes --registered {registered} --active {active} --seconds {seconds} \
             --clients {clients}"
        )
    }

    pub(super) fn sections(&self) -> [Section; 4] {
        [self.start(), self.traffic(), self.idleness(), self.lists()]
    }

    fn start(&self) -> Section {
        let [(few, small), (many, large)] = &self.starts;
        let row = |(count, start): &(usize, Start)| {
            let Start { stopped, killed, used } = start;
            vec![
                count.to_string(),
                ms(*stopped),
                ms(*killed),
                mib(used.memory),
                used.files.to_string(),
            ]
        };
        let grown = large.used.memory.saturating_sub(small.used.memory) as f64;
        let each = grown / (many - few) as f64;
        let what = |how| format!("seconds to start with {many} sandboxes, {how}");
        Section {
            title: "Start",
            about: format!(
                "From the start of the process to its first answer, after it was stopped and after it \
                 was killed, and what it takes then. Every tenth sandbox lies in a directory. Making \
                 {many} over HTTP took {:.1} s ({:.0} a second).",
                self.registering.as_secs_f64(),
                *many as f64 / self.registering.as_secs_f64(),
            ),
            columns: columns(&["registered", "stopped", "killed", "memory", "open files"]),
            rows: self.starts.iter().map(row).collect(),
            marks: vec![
                Mark::at_most(what("stopped before"), SLOWEST_START, large.stopped.as_secs_f64()),
                Mark::at_most(what("killed before"), SLOWEST_START, large.killed.as_secs_f64()),
                Mark::at_most("bytes of memory a registered sandbox", MOST_MEMORY, each),
            ],
        }
    }

    fn traffic(&self) -> Section {
        let Load { few, many, notices, .. } = &self.load;
        let Plan { active, seconds, clients, registered, .. } = self.plan;
        let mut rows: Vec<_> =
            many.operations().map(|(name, times)| row(name, &few.of(name), &times)).collect();
        rows.push(row("all", &few.all(), &many.all()));
        let failure = many.failure.as_ref().or(few.failure.as_ref());
        let [quiet, busy] = notices;
        Section {
            title: "Traffic",
            about: format!(
                "{clients} clients, {seconds} s on each server, in turns: one with {active} active \
                 sandboxes of {registered}, and one with all 10 of 10 active. {} and {} watches went \
                 on meanwhile and told {} and {} notices; {} broke off.{}",
                busy.watches,
                quiet.watches,
                busy.notices,
                quiet.notices,
                busy.broken + quiet.broken,
                failure.map(|first| format!(" The first failure: {first}.")).unwrap_or_default(),
            ),
            columns: columns(&[
                "operation",
                "of few",
                "p50",
                "p99",
                "most",
                "of many",
                "p50",
                "p99",
                "most",
                "p99, many against few",
            ]),
            rows,
            marks: vec![
                Mark::at_most("requests that failed", 0.0, (few.failures + many.failures) as f64),
                Mark::at_most("watches that broke off", 0.0, (busy.broken + quiet.broken) as f64),
                Mark::at_most(
                    format!("p99 of all operations: {active} of {registered} against 10 of 10"),
                    WORST_RATIO,
                    ratio(&few.all(), &many.all()),
                ),
            ],
        }
    }

    fn idleness(&self) -> Section {
        let Load { before, most, after, closing, .. } = &self.load;
        let row = |when: &str, used: &Use| {
            vec![when.to_owned(), mib(used.memory), used.files.to_string()]
        };
        let left = after.files.saturating_sub(before.files);
        let grown = most.memory.saturating_sub(before.memory) as f64 / self.plan.active as f64;
        Section {
            title: "What traffic takes",
            about: format!(
                "The server with many sandboxes before, during and after the traffic. Sandboxes are \
                 closed that nobody worked in for {} s; {:.0} s after the last request all were. At \
                 most {:.0} KiB more for each active sandbox. What was read of the store stays in \
                 memory, up to 32 MiB.",
                IDLE.as_secs(),
                closing.as_secs_f64(),
                grown / 1024.0,
            ),
            columns: columns(&["when", "memory", "open files"]),
            rows: vec![row("before", before), row("at most", most), row("after", after)],
            marks: vec![Mark::at_most("open files left after a while", SPARE as f64, left as f64)],
        }
    }

    fn lists(&self) -> Section {
        let Pages { first, middle, rare, found, whole } = &self.pages;
        let row = |what: &str, times: &Times| {
            let [half, most] = [times.permille(500), times.most()].map(ms);
            vec![what.to_owned(), times.count().to_string(), half, most]
        };
        Section {
            title: "Lists and removal",
            about: format!(
                "Pages of 100 of {} sandboxes. All {found} with a label that few have were found in \
                 {}.",
                self.plan.registered,
                ms(*whole),
            ),
            columns: columns(&["what", "count", "p50", "most"]),
            rows: vec![
                row("the first page", first),
                row("a page in the middle", middle),
                row("a page of those with a rare label", rare),
                row("a removal, many at once", &self.removal),
            ],
            marks: vec![Mark::at_most(
                "p50 of a page in the middle against the first",
                WORST_PAGE,
                middle.permille(500).as_secs_f64() / first.permille(500).as_secs_f64(),
            )],
        }
    }
}

/// One operation on both servers.
fn row(name: &str, few: &Times, many: &Times) -> Vec<String> {
    let mut row = vec![name.to_owned()];
    for times in [few, many] {
        row.push(times.count().to_string());
        row.extend([times.permille(500), times.permille(990), times.most()].map(ms));
    }
    row.push(format!("{:.2}", ratio(few, many)));
    row
}

fn ratio(few: &Times, many: &Times) -> f64 {
    many.permille(990).as_secs_f64() / few.permille(990).as_secs_f64()
}

fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
