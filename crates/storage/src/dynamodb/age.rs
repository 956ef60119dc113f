//! How old what was written down is, by the clocks of those who wrote it.
//!
//! What is fresh is relied on by those who write, what is a day old may be removed if nothing needs
//! it. In between lies all that clocks may differ and that a process may be held up.

use std::time::{Duration, SystemTime};

use super::failure::unavailable;
use crate::Result;

/// For how long what was written down is fresh.
const FRESH: Duration = Duration::from_secs(3600);
/// After how long what nothing leads to has been left behind.
const LONG: Duration = Duration::from_secs(24 * 3600);

/// Whether what was written down then can still be relied on.
///
/// The clock that goes on while a machine sleeps is asked, since others go on too.
pub(super) fn is_fresh(since: SystemTime) -> bool {
    since.elapsed().is_ok_and(|age| age < FRESH)
}

pub(super) fn is_long_ago(since: SystemTime) -> bool {
    since.elapsed().is_ok_and(|age| age > LONG)
}

/// Stops a write that was held up, since what it wrote so far may be gone.
pub(super) fn check_fresh(began: SystemTime) -> Result<()> {
    if is_fresh(began) { Ok(()) } else { Err(unavailable("the write was held up for too long")) }
}

pub(super) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_fresh_and_a_day_old() {
        let ago = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 3600 + 1);
        assert!(is_fresh(SystemTime::now()) && !is_long_ago(SystemTime::now()));
        assert!(!is_fresh(ago(1)) && !is_long_ago(ago(23)));
        assert!(is_long_ago(ago(24)));
    }

    #[test]
    fn what_comes_from_the_future_is_neither() {
        let later = SystemTime::now() + Duration::from_secs(60);
        assert!(!is_fresh(later) && !is_long_ago(later));
        assert!(check_fresh(later).is_err());
    }
}
