//! What the host says, in the engine's words.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use host::Errno;
use host::Error as HostError;

use crate::{Entry, EntryKind, Error, ErrorKind, Result, SandboxPath, UnixTime, Version};

/// Within so long of its last change a file can change again without looking different.
const TICK_NANOSECONDS: i128 = 20_000_000;
/// The same on file systems that keep whole seconds, or every other one.
const COARSE_TICK_NANOSECONDS: i128 = 2_020_000_000;

/// Turns a host's result into the engine's.
pub(crate) trait Meaning<T> {
    fn meaning(self) -> Result<T>;
}

impl<T> Meaning<T> for host::Result<T> {
    fn meaning(self) -> Result<T> {
        self.map_err(meaning)
    }
}

/// The engine's error for a host's.
pub(super) fn meaning(err: HostError) -> Error {
    let (kind, message) = match err {
        HostError::Outside => (ErrorKind::OutsideSandbox, "path leads out of the sandbox"),
        HostError::Special => (ErrorKind::NotAFile, "path is not a file"),
        HostError::Busy => (ErrorKind::Busy, "the path keeps changing"),
        HostError::Locked => (ErrorKind::Locked, "another process holds the file"),
        HostError::Reserved => {
            (ErrorKind::InvalidPath, "the name is reserved for unfinished files")
        }
        HostError::Unavailable => (ErrorKind::Unavailable, "the sandbox's directory is gone"),
        HostError::OverDirectory => (ErrorKind::IsADirectory, "a file cannot replace a directory"),
        HostError::OverFile => (ErrorKind::NotADirectory, "a directory cannot replace a file"),
        HostError::Shared => (ErrorKind::Busy, "the file has other names by now"),
        HostError::IntoItself => {
            (ErrorKind::InvalidArgument, "a directory cannot go into itself or replace its parent")
        }
        HostError::MountInside => (ErrorKind::Locked, "a file system is mounted inside"),
        HostError::NoStaging => (
            ErrorKind::Unsupported,
            "a restore needs a staging directory outside the tree, on its file system",
        ),
        HostError::Unfinished => {
            (ErrorKind::Io, "the restore stopped halfway; the next start finishes it")
        }
        HostError::Os(errno) => of_errno(errno),
    };
    Error::new(kind, message).because(err)
}

fn of_errno(errno: Errno) -> (ErrorKind, &'static str) {
    match errno {
        Errno::NOENT => (ErrorKind::NotFound, "path not found"),
        Errno::NOTDIR => (ErrorKind::NotADirectory, "path is not a directory"),
        Errno::ISDIR => (ErrorKind::IsADirectory, "path is not a file"),
        Errno::EXIST => (ErrorKind::AlreadyExists, "destination already exists"),
        Errno::NOTEMPTY => (ErrorKind::DirectoryNotEmpty, "directory not empty"),
        Errno::BADF => (ErrorKind::PermissionDenied, "the file is open for reading only"),
        Errno::ACCESS | Errno::PERM => (ErrorKind::PermissionDenied, "permission denied"),
        Errno::ROFS => (ErrorKind::ReadOnly, "the file system is read-only"),
        Errno::LOOP => (ErrorKind::TooManyLinks, "too many symbolic links"),
        Errno::NAMETOOLONG => (ErrorKind::InvalidPath, "the name or path is too long"),
        Errno::INVAL | Errno::ILSEQ => (ErrorKind::InvalidPath, "the name is not allowed here"),
        Errno::FBIG => (ErrorKind::FileTooLarge, "the file system takes no file of that size"),
        Errno::NOSPC | Errno::DQUOT => (ErrorKind::StorageFull, "no space left"),
        // What a file system of a user namespace answers in which we have no user of our own.
        Errno::OVERFLOW => (
            ErrorKind::PermissionDenied,
            "the server's user is nobody on this file system: it belongs to a user namespace",
        ),
        Errno::MLINK => (ErrorKind::TooManyNodes, "the directory holds too many directories"),
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => (ErrorKind::Busy, "the server is busy"),
        Errno::BUSY | Errno::TXTBSY => (ErrorKind::Locked, "the system holds the file"),
        Errno::STALE | Errno::NOTCONN | Errno::NODEV => {
            (ErrorKind::Unavailable, "the storage is not available")
        }
        Errno::XDEV | Errno::OPNOTSUPP | Errno::NOSYS => {
            (ErrorKind::Unsupported, "the file system cannot do that")
        }
        _ => (ErrorKind::Io, "the storage failed"),
    }
}

/// A sandbox path as the host spells it, relative to the root.
pub(crate) fn host_path(path: &SandboxPath) -> Cow<'_, Path> {
    match path.host_bytes() {
        Cow::Borrowed(bytes) => Cow::Borrowed(Path::new(OsStr::from_bytes(bytes))),
        Cow::Owned(bytes) => Cow::Owned(PathBuf::from(OsStr::from_bytes(&bytes))),
    }
}

/// What a host file is.
pub(super) fn kind(kind: host::Kind) -> EntryKind {
    match kind {
        host::Kind::File => EntryKind::File,
        host::Kind::Directory => EntryKind::Directory,
        host::Kind::Symlink => EntryKind::Symlink,
        host::Kind::Special => EntryKind::Special,
    }
}

/// The entry of a host file.
pub(super) fn entry(path: SandboxPath, stat: &host::Stat) -> Entry {
    Entry {
        path,
        kind: kind(stat.kind),
        size: stat.size,
        mode: Some(stat.mode),
        created: stat.created.map(unix_time),
        modified: Some(unix_time(stat.modified)),
        version: Some(version(stat)),
    }
}

/// The version of a host file: its number, size and times.
///
/// The kernel stamps files with the time of its last tick. What we write carries a finer time, but
/// a file that something else changed within the last tick may change again and look the same; its
/// version is then one that matches nothing, as in git.
pub(super) fn version(stat: &host::Stat) -> Version {
    let host::Stat { inode, size, modified, changed, .. } = *stat;
    let token = format!(
        "{inode:x}-{size:x}-{:x}.{:x}-{:x}.{:x}",
        modified.seconds, modified.nanoseconds, changed.seconds, changed.nanoseconds
    );
    if modified != changed || is_settled(stat) {
        return Version::new(token);
    }
    Version::new(format!("{token}-unsure-{:x}", UNSURE.fetch_add(1, Ordering::Relaxed)))
}

/// Whether a file that changes from now on will look different.
pub(crate) fn is_settled(stat: &host::Stat) -> bool {
    let tick = match stat.changed.nanoseconds {
        0 => COARSE_TICK_NANOSECONDS,
        _ => TICK_NANOSECONDS,
    };
    nanoseconds(host::precise_now()) - nanoseconds(stat.changed) > tick
}

/// Whether a name stands for nothing, or for no directory, by now.
pub(crate) fn is_gone(err: HostError) -> bool {
    matches!(err, HostError::Os(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

/// Numbers that no other version bears, here or in another process.
static UNSURE: LazyLock<AtomicU64> =
    LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one("unsure")));

pub(crate) fn unix_time(time: host::Time) -> UnixTime {
    UnixTime { seconds: time.seconds, nanoseconds: time.nanoseconds }
}

pub(crate) fn host_time(time: UnixTime) -> host::Time {
    host::Time { seconds: time.seconds, nanoseconds: time.nanoseconds.min(999_999_999) }
}

fn nanoseconds(time: host::Time) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}
