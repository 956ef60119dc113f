//! What ours has to reach beside the others: all targets, in one list.

use super::case::Case;
use super::searching::RG;
use super::who::Who;
use super::whole_trees::{RM, TAR_X};
use super::writing::BARE;
use crate::report::Mark;

/// From the start of the process to its first byte, and what it takes when nobody asks.
pub(super) const START_MS: f64 = 50.0;
pub(super) const IDLE_MIB: f64 = 20.0;

/// How ours has to stand in some cases of a scenario.
struct Target {
    scenario: &'static str,
    /// How the names of the cases begin that it is about.
    cases: &'static str,
    ours: Who,
    goal: Goal,
}

/// How fast ours has to be beside somebody.
#[derive(Clone, Copy, Debug)]
enum Goal {
    /// At least so many times as fast.
    Speed(f64, Who),
    /// In at most so many times the time.
    Time(f64, Who),
}

use Goal::{Speed, Time};

/// Those who write without a sync are compared with ours relaxed, and those who read with ours as it
/// comes.
const TARGETS: &[Target] = &[
    target("get", "GET 4 KiB", Who::Host, Speed(0.8, Who::Nginx)),
    target("get", "GET 4 KiB", Who::Host, Speed(3.0, Who::SandboxAgent)),
    target("get-2g", "GET", Who::Host, Speed(0.7, Who::Nginx)),
    target("put", "PUT 4 KiB", Who::Relaxed, Speed(1.0, Who::Nginx)),
    target("put-durable", "PUT 4 KiB", Who::Host, Time(1.3, BARE)),
    target("put-2g", "PUT", Who::Relaxed, Speed(0.9, Who::Nginx)),
    target("list", "list", Who::Host, Speed(5.0, Who::SandboxAgent)),
    target("tar", "upload", Who::Relaxed, Time(1.5, TAR_X)),
    target("delete", "delete", Who::Relaxed, Time(1.5, RM)),
    target("search", "search", Who::Host, Time(1.3, RG)),
];

const fn target(scenario: &'static str, cases: &'static str, ours: Who, goal: Goal) -> Target {
    Target { scenario, cases, ours, goal }
}

/// Where ours stands in a scenario, case by case.
pub(super) fn marks(scenario: &str, cases: &[Case]) -> Vec<Mark> {
    let own = TARGETS.iter().filter(|target| target.scenario == scenario);
    own.flat_map(|target| {
        let about = cases.iter().filter(|case| case.name.starts_with(target.cases));
        about.map(|case| target.mark(case))
    })
    .collect()
}

impl Target {
    fn mark(&self, case: &Case) -> Mark {
        match self.goal {
            Speed(wanted, other) => {
                let what = format!("{}: times as fast as {}", case.name, other.name());
                Mark::at_least(what, wanted, case.ratio(self.ours, other))
            }
            Time(wanted, other) => {
                let what = format!("{}: times the time of {}", case.name, other.name());
                Mark::at_most(what, wanted, case.ratio(other, self.ours))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_of_a_scenario() {
        let known: Vec<_> = super::super::names().collect();
        assert!(TARGETS.iter().all(|target| known.contains(&target.scenario)));
    }

    #[test]
    fn a_target_without_figures_is_not_silently_left_out() {
        let case = Case::new("GET 4 KiB, 1 connection", &[Who::Host, Who::Nginx]);
        let marks = marks("get", &[case]);
        assert_eq!(marks.len(), 2);
        assert!(marks.iter().all(|mark| mark.found == "–"));
    }
}
