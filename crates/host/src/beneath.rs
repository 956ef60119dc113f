//! The one place where a client's path meets the kernel.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstatfs, open, openat, openat2};
use rustix::io::Errno;

use crate::staging::holds_reserved;
use crate::{Error, Mounts, Result};

/// How often a walk that raced with a rename is tried again.
const TRIES: usize = 128;
/// How often one that ended outside is.
const LEFT_TRIES: usize = 2;
/// `PROC_SUPER_MAGIC` of `<linux/magic.h>`.
const PROC_MAGIC: i64 = 0x9fa0;

/// Opens paths beneath a directory, and nothing else.
#[derive(Debug)]
pub(crate) struct Beneath {
    resolve: ResolveFlags,
    own_descriptors: Arc<OwnedFd>,
}

impl Beneath {
    /// Checks that the kernel confines, and fails if it cannot: there is no other way.
    pub(crate) fn new(root: &Path, mounts: Mounts) -> Result<Self> {
        // Over the whole machine an absolute link means what it says; nothing lies outside.
        let confinement = match root == Path::new("/") {
            true => ResolveFlags::IN_ROOT,
            false => ResolveFlags::BENEATH,
        };
        let crossing = match mounts {
            Mounts::Stay => ResolveFlags::NO_XDEV,
            Mounts::Cross => ResolveFlags::empty(),
        };
        let resolve = confinement | crossing | ResolveFlags::NO_MAGICLINKS;
        openat2(CWD, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let own_descriptors = open("/proc/self/fd", flags, Mode::empty())?;
        if fstatfs(&own_descriptors)?.f_type != PROC_MAGIC {
            return Err(Error::Os(Errno::NOSYS));
        }
        Ok(Self { resolve, own_descriptors: Arc::new(own_descriptors) })
    }

    /// The same for a part of a directory: an absolute link leads out of it, even if the whole is
    /// the machine's own root.
    pub(crate) fn of_a_part(&self) -> Self {
        let resolve = self.resolve.difference(ResolveFlags::IN_ROOT) | ResolveFlags::BENEATH;
        Self { resolve, own_descriptors: Arc::clone(&self.own_descriptors) }
    }

    /// Opens `path` beneath `root`, following links that stay beneath it.
    pub(crate) fn open(&self, root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        self.open_by(self.resolve, root, path, flags)
    }

    /// Opens `path` beneath `root`; a link on it or at its end leads out.
    pub(crate) fn open_plain(
        &self,
        root: impl AsFd,
        path: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd> {
        self.open_by(self.resolve | ResolveFlags::NO_SYMLINKS, root, path, flags).map_err(plain)
    }

    fn open_by(
        &self,
        resolve: ResolveFlags,
        root: impl AsFd,
        path: &Path,
        flags: OFlags,
    ) -> Result<OwnedFd> {
        let path = openable(path)?;
        let mut left_root = 0;
        for _ in 0..TRIES {
            match openat2(root.as_fd(), path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                // A rename raced with a `..` inside a link; a few tries settle it.
                Err(Errno::AGAIN) => std::thread::yield_now(),
                // Also what a directory answers that was moved out, such as into staging, while
                // the kernel walked through it. A path that really leads out does so every time.
                Err(Errno::XDEV) if left_root < LEFT_TRIES => left_root += 1,
                outcome => return outcome.map_err(meaning),
            }
        }
        Err(Error::Busy)
    }

    /// As `open`, but only if the kernel's caches know every name on the way; none otherwise.
    pub(crate) fn open_cached(
        &self,
        root: impl AsFd,
        path: &Path,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>> {
        cached(self.resolve, root, path, flags)
    }

    /// As `open_plain`, but only if the kernel's caches know every name on the way.
    pub(crate) fn open_plain_cached(
        &self,
        root: impl AsFd,
        path: &Path,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>> {
        cached(self.resolve | ResolveFlags::NO_SYMLINKS, root, path, flags).map_err(plain)
    }

    /// Opens for use what was so far only looked at. Never blocks on a lease.
    pub(crate) fn reopen(&self, looked_at: &OwnedFd, flags: OFlags) -> Result<OwnedFd> {
        let number = looked_at.as_raw_fd().to_string();
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(&self.own_descriptors, number, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::AGAIN => Error::Locked,
            errno => Error::Os(errno),
        })
    }

    /// Whether the root is the machine's own, so that absolute links keep their meaning.
    pub(crate) fn is_whole_machine(&self) -> bool {
        self.resolve.contains(ResolveFlags::IN_ROOT)
    }

    /// The directory in which every open descriptor has a name.
    pub(crate) fn own_descriptors(&self) -> &OwnedFd {
        &self.own_descriptors
    }
}

fn cached(
    resolve: ResolveFlags,
    root: impl AsFd,
    path: &Path,
    flags: OFlags,
) -> Result<Option<OwnedFd>> {
    let resolve = resolve | ResolveFlags::CACHED;
    match openat2(root, openable(path)?, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
        // The caches do not know, or a rename raced; the slow way tells.
        Err(Errno::AGAIN | Errno::XDEV) => Ok(None),
        outcome => outcome.map(Some).map_err(meaning),
    }
}

/// The directory part of a path and its last name.
pub(crate) fn split(path: &Path) -> Result<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_bytes();
    let (dir, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (bytes.get(..at).unwrap_or(b""), bytes.get(at + 1..).unwrap_or(b"")),
        None => (&b""[..], bytes),
    };
    match name {
        b"" | b"." | b".." => Err(Error::Os(Errno::ISDIR)),
        _ => Ok((Path::new(OsStr::from_bytes(dir)), OsStr::from_bytes(name))),
    }
}

fn openable(path: &Path) -> Result<&Path> {
    if holds_reserved(path.as_os_str().as_bytes()) {
        return Err(Error::Reserved);
    }
    Ok(if path.as_os_str().is_empty() { Path::new(".") } else { path })
}

/// What `RESOLVE_NO_SYMLINKS` answers at a link.
fn plain(err: Error) -> Error {
    if err == Error::Os(Errno::LOOP) { Error::Outside } else { err }
}

fn meaning(errno: Errno) -> Error {
    match errno {
        // What RESOLVE_BENEATH and RESOLVE_NO_XDEV answer.
        Errno::XDEV => Error::Outside,
        Errno::STALE => Error::Unavailable,
        errno => Error::Os(errno),
    }
}
