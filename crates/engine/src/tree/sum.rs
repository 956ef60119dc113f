//! What a part of a tree adds up to.

use std::iter;
use std::ops::AddAssign;

/// What lies in a part of a directory, and beneath it. Every link to a page and to a directory
/// carries one, so that nobody ever counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    /// Names in the directory itself.
    pub(crate) names: u64,
    /// The lengths of all files.
    pub(crate) bytes: u64,
    /// Regular files.
    pub(crate) files: u64,
    /// Directories.
    pub(crate) directories: u64,
    /// Symbolic links.
    pub(crate) links: u64,
    /// How many names the longest way down has.
    pub(crate) depth: u64,
    /// The length of the longest file.
    pub(crate) largest: u64,
}

impl Sum {
    /// Everything that has a name.
    pub(crate) fn nodes(&self) -> u64 {
        self.files.saturating_add(self.directories).saturating_add(self.links)
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.names = self.names.saturating_add(other.names);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.files = self.files.saturating_add(other.files);
        self.directories = self.directories.saturating_add(other.directories);
        self.links = self.links.saturating_add(other.links);
        self.depth = self.depth.max(other.depth);
        self.largest = self.largest.max(other.largest);
    }
}

impl iter::Sum for Sum {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum += part;
            sum
        })
    }
}
