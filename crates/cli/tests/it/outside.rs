//! What lies beside the served directory: it must stay as it is, and its content must never show.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::attack_form::memory_dir;

/// Content that exists outside only.
pub(crate) const CANARY: &[u8] = b"the canary sings outside, and nobody inside may hear it";

/// A directory to serve, a staging directory and an outside, side by side on one file system.
pub(crate) struct Premises {
    place: TempDir,
    before: BTreeMap<PathBuf, Trace>,
}

/// What would change if somebody touched a file.
#[derive(Debug, PartialEq, Eq)]
struct Trace {
    content: Option<Vec<u8>>,
    mode: u32,
    links: u64,
    changed: (i64, i64),
    modified: (i64, i64),
}

impl Premises {
    /// An empty root, and an outside with a canary under each of these names.
    pub(crate) fn new(names: &[&str]) -> Self {
        Self::within(tempfile::tempdir().unwrap(), names)
    }

    /// The same in memory.
    pub(crate) fn in_memory(names: &[&str]) -> Self {
        Self::within(memory_dir(), names)
    }

    /// The same in a directory that is there already.
    pub(crate) fn within(place: TempDir, names: &[&str]) -> Self {
        let mut premises = Self { place, before: BTreeMap::new() };
        for dir in [premises.root(), premises.staging(), premises.outside()] {
            fs::create_dir(dir).unwrap();
        }
        for name in names {
            let canary = premises.outside().join(name);
            fs::create_dir_all(canary.parent().unwrap()).unwrap();
            fs::write(canary, CANARY).unwrap();
        }
        premises.before = trace(&premises.outside());
        premises
    }

    /// What is served.
    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    /// Where unfinished files may lie.
    pub(crate) fn staging(&self) -> PathBuf {
        self.place.path().join("staging")
    }

    /// What nobody may reach.
    pub(crate) fn outside(&self) -> PathBuf {
        self.place.path().join("outside")
    }

    /// Panics if anything outside was made, changed, moved or removed.
    #[track_caller]
    pub(crate) fn assert_outside_is_untouched(&self) {
        assert_eq!(trace(&self.outside()), self.before, "the outside changed");
    }

    /// Panics if a file inside holds what is only outside.
    #[track_caller]
    pub(crate) fn assert_nothing_was_carried_in(&self) {
        for path in files_beneath(&self.root()) {
            let metadata = fs::symlink_metadata(&path).unwrap();
            if metadata.is_file() {
                assert!(!holds_canary(&fs::read(&path).unwrap()), "{} leaked", path.display());
            }
        }
    }

    /// Panics if an unfinished file is left in the root or in staging.
    #[track_caller]
    pub(crate) fn assert_nothing_is_left_behind(&self) {
        let left = self.unfinished();
        assert!(left.is_empty(), "unfinished files are left: {left:?}");
    }

    /// Waits until no unfinished file is left: a start sweeps beside its first requests, and what
    /// was removed disappears from staging after the answer.
    #[track_caller]
    pub(crate) fn becomes_clean(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !self.unfinished().is_empty() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        self.assert_nothing_is_left_behind();
    }

    /// Unfinished files in the root and in staging. A running server's own empty staging directory
    /// is none.
    pub(crate) fn unfinished(&self) -> Vec<PathBuf> {
        let hidden = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(b".sandkeep-tmp-")
        };
        let mut left: Vec<_> = files_beneath(&self.root()).into_iter().filter(hidden).collect();
        for own in fs::read_dir(self.staging()).unwrap().map(|entry| entry.unwrap().path()) {
            left.extend(files_beneath(&own));
        }
        left
    }
}

/// Whether the canary can be heard in these bytes.
pub(crate) fn holds_canary(bytes: &[u8]) -> bool {
    bytes.windows(CANARY.len()).any(|window| window == CANARY)
}

/// Everything beneath a directory, links not followed.
pub(crate) fn files_beneath(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
            found.push(entry.path());
        }
    }
    found
}

fn trace(dir: &Path) -> BTreeMap<PathBuf, Trace> {
    let mut paths = files_beneath(dir);
    paths.push(dir.to_path_buf());
    let trace = |path: PathBuf| {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let trace = Trace {
            content: metadata.is_file().then(|| fs::read(&path).unwrap()),
            mode: metadata.mode(),
            links: metadata.nlink(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        };
        (path, trace)
    };
    paths.into_iter().map(trace).collect()
}
