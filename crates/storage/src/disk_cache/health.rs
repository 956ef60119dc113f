//! What happens when the disk of a cache fails: nothing that a caller notices.

use std::io;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long a disk that failed is left alone.
const REST: Duration = Duration::from_secs(60);

/// Whether a disk can be used.
#[derive(Default)]
pub(super) struct Health {
    failed: Mutex<Option<Instant>>,
}

impl Health {
    /// What the disk gives, unless it fails or failed a short while ago. A failure is logged once.
    pub(super) fn attempt<T>(&self, work: impl FnOnce() -> io::Result<T>) -> Option<T> {
        if self.failed.lock().is_some_and(|failed| failed.elapsed() < REST) {
            return None;
        }
        match work() {
            Ok(done) => Some(done),
            Err(err) => {
                let before = self.failed.lock().replace(Instant::now());
                // Others may have failed at the same moment.
                if before.is_none_or(|before| before.elapsed() >= REST) {
                    let error = &err as &dyn std::error::Error;
                    tracing::warn!(error, "the cache on disk failed, and is not used for a minute");
                }
                None
            }
        }
    }
}
