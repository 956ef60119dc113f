//! Which processors do what: one for whoever asks, another for whoever answers.

use std::process::{Child, Command};

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors, divided. This thread, and all that it starts unless told otherwise, stays on the first
/// of them until this is dropped.
pub(super) struct Cores {
    asking: CpuSet,
    answering: CpuSet,
    all: CpuSet,
}

/// Where a process may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// On the one processor that answers.
    One,
    /// On all of them.
    All,
}

impl Cores {
    /// Divides what this process may use. On a machine with one processor all share it.
    pub(super) fn divide() -> Result<Self> {
        let all = sched_getaffinity(None)?;
        let mut usable = (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number));
        let first = usable.next().context("there is no processor")?;
        let (asking, answering) = (only(first), only(usable.next().unwrap_or(first)));
        sched_setaffinity(None, &asking)?;
        Ok(Self { asking, answering, all })
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.all.count()
    }

    /// Starts a process. It begins where the thread is that makes it, and stays there.
    pub(super) fn spawn(&self, command: &mut Command, room: Room) -> Result<Child> {
        let place = match room {
            Room::One => &self.answering,
            Room::All => &self.all,
        };
        sched_setaffinity(None, place)?;
        let child = command.spawn();
        sched_setaffinity(None, &self.asking)?;
        child.with_context(|| format!("{} did not start", command.get_program().display()))
    }
}

impl Drop for Cores {
    fn drop(&mut self) {
        // It was allowed before, so that it can only fail if a processor was taken away.
        let _restored = sched_setaffinity(None, &self.all);
    }
}

fn only(number: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(number);
    set
}
