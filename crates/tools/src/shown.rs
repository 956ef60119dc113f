//! Paths and times as callers write and see them.

use engine::{Entry, EntryKind, Error, ErrorKind, Result, Sandbox, SandboxPath, UnixTime};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path that a caller means. What is relative begins at `begin`. `..` takes back one name; one
/// that would leave the sandbox is refused, not ignored.
pub(crate) fn locate(sandbox: &Sandbox, begin: &SandboxPath, raw: &str) -> Result<SandboxPath> {
    if raw.is_empty() {
        let message = "the path is empty (`.` is the directory where relative paths begin)";
        return Err(Error::new(ErrorKind::InvalidPath, message));
    }
    let begin = if raw.starts_with('/') { String::new() } else { sandbox.outward(begin) };
    let mut names: Vec<&str> = begin.split('/').filter(|name| !name.is_empty()).collect();
    for name in raw.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                if names.pop().is_none() {
                    let message = "path leads out of the sandbox";
                    return Err(Error::new(ErrorKind::OutsideSandbox, message));
                }
            }
            _ => names.push(name),
        }
    }
    sandbox.locate(&format!("/{}", names.join("/")))
}

/// A time in RFC 3339, UTC. None outside the years that can be written.
pub(crate) fn time(time: UnixTime) -> Option<String> {
    let nanoseconds = i32::try_from(time.nanoseconds).ok()?;
    Timestamp::new(time.seconds, nanoseconds).ok().map(|stamp| stamp.to_string())
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, socket or device, which is never opened.
    Other,
}

impl From<EntryKind> for Kind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Directory => Self::Directory,
            EntryKind::Symlink => Self::Symlink,
            EntryKind::Special => Self::Other,
        }
    }
}

impl Kind {
    /// The kind as a word of the wire.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Other => "other",
        }
    }
}

/// The length of a file. That of a directory or a link is a matter of the disk beneath it.
pub(crate) fn size(entry: &Entry) -> Option<u64> {
    (entry.kind == EntryKind::File).then_some(entry.size)
}
