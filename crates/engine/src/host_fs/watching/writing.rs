//! Files that somebody is writing to: told at most once in a while, until he closes them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use super::nodes::NodeId;

/// How often a file that is being written to is told.
const PAUSE: Duration = Duration::from_millis(100);
/// How many such files are remembered; of others every write is told.
const MOST: usize = 4096;

/// Files that were written to, and when that is told.
#[derive(Debug, Default)]
pub(super) struct Writing(HashMap<(NodeId, OsString), Instant>);

impl Writing {
    /// Notes a write; false if it must be told at once.
    pub(super) fn note(&mut self, dir: NodeId, name: &OsStr) -> bool {
        if self.0.len() >= MOST {
            return false;
        }
        self.0.entry((dir, name.to_owned())).or_insert_with(|| Instant::now() + PAUSE);
        true
    }

    /// Whether a write of a name was noted and not told; it is told now, or does not matter.
    pub(super) fn take(&mut self, dir: NodeId, name: &OsStr) -> bool {
        // Most often nobody is writing, and no name has to be copied.
        !self.0.is_empty() && self.0.remove(&(dir, name.to_owned())).is_some()
    }

    /// What must be told by now.
    pub(super) fn due(&mut self) -> Vec<(NodeId, OsString)> {
        let now = Instant::now();
        self.0.extract_if(|_, then| *then <= now).map(|(name, _)| name).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
