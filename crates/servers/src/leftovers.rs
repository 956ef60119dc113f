//! The directories of servers whose process was killed before it could remove them.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

/// How the directories of all servers begin.
pub(crate) const PREFIX: &str = "sandkeep-server-";

const LOCK: &str = "in-use";

/// Longer than the moment between the making of a lock and its taking.
const SETTLED: Duration = Duration::from_secs(60);

/// Marks a directory as in use as long as the file is open, which the kernel closes in any case.
pub(crate) fn claim(directory: &Path) -> io::Result<File> {
    let lock = File::create_new(directory.join(LOCK))?;
    lock.lock()?;
    Ok(lock)
}

/// Removes the directories that nobody uses any more.
pub(crate) fn sweep() {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for directory in ours.map(|entry| entry.path()).filter(|path| is_abandoned(path)) {
        // Another process may be sweeping it as well.
        drop(fs::remove_dir_all(directory));
    }
}

fn is_abandoned(directory: &Path) -> bool {
    let Ok(lock) = File::open(directory.join(LOCK)) else { return false };
    let made = lock.metadata().and_then(|metadata| metadata.modified());
    let age = made.ok().and_then(|made| made.elapsed().ok()).unwrap_or_default();
    age > SETTLED && lock.try_lock().is_ok()
}
