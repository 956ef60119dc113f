//! What is known of a file or directory.

use std::fmt;

use crate::SandboxPath;

/// One file, directory, link or special file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub path: SandboxPath,
    /// What it is.
    pub kind: EntryKind,
    /// Length in bytes; what the host says for a directory or link.
    pub size: u64,
    /// Permission bits, where known.
    pub mode: Option<u32>,
    /// When it was made, where known.
    pub created: Option<UnixTime>,
    /// When its content last changed, where known.
    pub modified: Option<UnixTime>,
    /// A token of its state, where known.
    pub version: Option<Version>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A FIFO, socket or device node.
    Special,
}

/// Seconds and nanoseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime {
    /// Whole seconds, negative before 1970.
    pub seconds: i64,
    /// The rest, from 0 to 999,999,999.
    pub nanoseconds: u32,
}

/// An opaque token of a file's state: equal tokens mean an unchanged file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(String);

impl Version {
    /// A version from its token: visible ASCII without quotes.
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    /// The token.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How much a tree holds, the root directory included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The lengths of all files, added up.
    pub bytes: u64,
    /// Everything that is not a directory.
    pub files: u64,
    /// Directories, the root among them.
    pub directories: u64,
}

impl Usage {
    /// Files and directories together.
    pub fn nodes(&self) -> u64 {
        self.files + self.directories
    }
}
