//! When a disk has nothing to do.

use std::os::linux::fs::MetadataExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::fs::{major, minor};

/// How long a disk must have done nothing, and how long that is waited for at most.
const QUIET: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until the disk beneath a path does nothing: what was removed is discarded long after it was
/// synced, block by block, and whoever comes next would wait for that.
pub(super) fn rest(path: &Path) -> Result<()> {
    let device = std::fs::metadata(path)?.st_dev();
    let counts = format!("/sys/dev/block/{}:{}/stat", major(device), minor(device));
    let end = Instant::now() + PATIENCE;
    // Trees that lie on no disk have no counts.
    let Ok(mut before) = std::fs::read_to_string(&counts) else { return Ok(()) };
    while Instant::now() < end {
        sleep(QUIET);
        let now = std::fs::read_to_string(&counts)?;
        if now == before {
            break;
        }
        before = now;
    }
    Ok(())
}
