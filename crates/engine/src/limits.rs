//! How much a sandbox may hold.

use crate::{Error, ErrorKind, Result};

/// Limits of one tree; what is absent is unlimited. A value equal to its limit is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The longest file, in bytes.
    pub file_size: Option<u64>,
    /// The lengths of all files, added up.
    pub total_size: Option<u64>,
    /// Files and directories, the root included.
    pub nodes: Option<u64>,
}

impl Limits {
    /// Refuses a change that takes a tree of so many bytes and nodes over a limit. One that takes
    /// nothing more is always allowed, even where the limit was lowered since.
    pub(crate) fn check(&self, before: (u64, u64), after: (u64, u64)) -> Result<()> {
        let over = |before: u64, after: u64, limit: Option<u64>| {
            limit.filter(|most| after > before && after > *most)
        };
        if let Some(most) = over(before.0, after.0, self.total_size) {
            let message = exceeded("total size", "bytes", most, before.0, after.0 - before.0);
            return Err(Error::new(ErrorKind::StorageFull, message));
        }
        if let Some(most) = over(before.1, after.1, self.nodes) {
            let message = exceeded("node count", "nodes", most, before.1, after.1 - before.1);
            return Err(Error::new(ErrorKind::TooManyNodes, message));
        }
        Ok(())
    }

    /// Refuses a file that is longer than a file may be, here or at all.
    pub(crate) fn check_file_size(&self, size: u64, possible: u64) -> Result<()> {
        let most = self.file_size.unwrap_or(possible).min(possible);
        if size <= most {
            return Ok(());
        }
        let message = format!(
            "the file size limit of {most} bytes would be exceeded: the file would have {size} bytes"
        );
        Err(Error::new(ErrorKind::FileTooLarge, message))
    }
}

/// Which limit, how much it allows, how much is used, and how much more was asked for.
fn exceeded(limit: &str, unit: &str, most: u64, used: u64, more: u64) -> String {
    format!(
        "the {limit} limit of {most} {unit} would be exceeded: {used} {unit} are used, and {more} more were asked for"
    )
}
