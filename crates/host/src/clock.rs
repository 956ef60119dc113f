//! The time, finer than the kernel's own stamps.

use rustix::fs::{Timespec, Timestamps, UTIME_OMIT};
use rustix::time::{ClockId, clock_gettime};

use crate::Time;

/// The current time to the nanosecond.
///
/// The kernel stamps files with the time of its last tick, so that two writes within a few
/// milliseconds look alike. Files written here carry this time instead.
pub fn precise_now() -> Time {
    let now = clock_gettime(ClockId::Realtime);
    Time { seconds: now.tv_sec, nanoseconds: now.tv_nsec as u32 }
}

/// Times for `utimensat` that set the modification time alone.
pub(crate) fn modified_at(time: Time) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: time.seconds, tv_nsec: time.nanoseconds.into() },
    }
}
