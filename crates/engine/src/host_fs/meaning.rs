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
    let token = Token::of(stat);
    if stat.modified != stat.changed || is_settled(stat) {
        return Version::new(token.as_str());
    }
    let unsure = UNSURE.fetch_add(1, Ordering::Relaxed);
    Version::new(format!("{}-unsure-{unsure:x}", token.as_str()))
}

/// Hexadecimal numbers with something between them, which a listing makes for every entry: `format!` takes
/// several times as long.
struct Token {
    text: [u8; Self::LONGEST],
    len: usize,
}

impl Token {
    /// Six numbers and what is between them.
    const LONGEST: usize = 6 * 16 + 5;

    fn of(stat: &host::Stat) -> Self {
        let host::Stat { inode, size, modified, changed, .. } = *stat;
        let mut token = Self { text: [0; Self::LONGEST], len: 0 };
        token.push(inode);
        token.push_behind(b'-', size);
        for time in [modified, changed] {
            token.push_behind(b'-', time.seconds.cast_unsigned());
            token.push_behind(b'.', time.nanoseconds.into());
        }
        token
    }

    fn push_behind(&mut self, between: u8, number: u64) {
        self.push_byte(between);
        self.push(number);
    }

    fn push(&mut self, number: u64) {
        let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
        for digit in (0..digits).rev() {
            let value = ((number >> (4 * digit)) & 0xF) as u8;
            self.push_byte(if value < 10 { b'0' + value } else { b'a' + value - 10 });
        }
    }

    fn push_byte(&mut self, byte: u8) {
        if let Some(place) = self.text.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(self.text.get(..self.len).unwrap_or_default()).unwrap_or_default()
    }
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

#[cfg(test)]
mod tests {
    use host::Time;

    use super::*;

    #[test]
    fn a_version_spells_what_tells_states_apart() {
        let modified = Time { seconds: -1, nanoseconds: 0 };
        let changed = Time { seconds: 0x6afd_b812, nanoseconds: 999_999_999 };
        let stat = host::Stat {
            kind: host::Kind::File,
            mode: 0o644,
            size: 0,
            links: 1,
            uid: 0,
            gid: 0,
            device: (8, 1),
            inode: u64::MAX,
            mount: 1,
            modified,
            changed,
            created: None,
        };
        assert_eq!(
            version(&stat).as_str(),
            "ffffffffffffffff-0-ffffffffffffffff.0-6afdb812.3b9ac9ff"
        );
    }
}
