//! What the kernel's refusals mean here.

use std::{fmt, io};

use rustix::io::Errno;

/// The result of an operation on a [`Dir`](crate::Dir).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The path leads out of the directory, or onto another mount where that is not allowed.
    Outside,
    /// A FIFO, socket or device node, which is never opened.
    Special,
    /// Renames kept racing with the walk; trying again helps.
    Busy,
    /// Another process holds a lease on the file.
    Locked,
    /// The name is reserved for unfinished files.
    Reserved,
    /// The directory itself is gone.
    Unavailable,
    /// A directory stands where a file would go.
    OverDirectory,
    /// A file stands where a directory would go.
    OverFile,
    /// The file has other names, which may lie outside.
    Shared,
    /// A directory would be put into itself.
    IntoItself,
    /// The tree holds a mount point, which cannot be moved or removed.
    MountInside,
    /// There is no staging directory on the tree's own file system.
    NoStaging,
    /// A restore stopped halfway; the next start finishes it.
    Unfinished,
    /// Anything else, as the kernel says it.
    Os(Errno),
}

impl From<Errno> for Error {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

impl From<io::Error> for Error {
    fn from(err: io::Error) -> Self {
        Self::Os(Errno::from_io_error(&err).unwrap_or(Errno::IO))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("the path leads out of the directory"),
            Self::Special => f.write_str("not a regular file or directory"),
            Self::Busy => f.write_str("the path keeps changing"),
            Self::Locked => f.write_str("another process holds the file"),
            Self::Reserved => f.write_str("the name is reserved for unfinished files"),
            Self::Unavailable => f.write_str("the directory itself is gone"),
            Self::OverDirectory => f.write_str("a file cannot replace a directory"),
            Self::OverFile => f.write_str("a directory cannot replace a file"),
            Self::Shared => f.write_str("the file has other names"),
            Self::IntoItself => f.write_str("a directory cannot go into itself"),
            Self::MountInside => f.write_str("the tree holds a mount point"),
            Self::NoStaging => f.write_str("there is no staging directory"),
            Self::Unfinished => f.write_str("a restore stopped halfway"),
            Self::Os(errno) => fmt::Display::fmt(errno, f),
        }
    }
}

impl std::error::Error for Error {}
