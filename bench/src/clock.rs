//! The two clocks: how much of the processors a process used, and how long one waits.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// A clock that runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    cpu_ns: u64,
    begin: Instant,
}

/// What a stopwatch shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Processor time of all threads of this process, in user and kernel mode.
    pub(crate) cpu_ns: u64,
    /// Time on the wall.
    pub(crate) wall_ns: u64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { cpu_ns: processor_time(), begin: Instant::now() }
    }

    pub(crate) fn spent(&self) -> Spent {
        let wall_ns = u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Spent { cpu_ns: processor_time() - self.cpu_ns, wall_ns }
    }
}

fn processor_time() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
