//! The one place where a client's path meets the kernel.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstatfs, open, openat, openat2};
use rustix::io::Errno;

use crate::generated::{self, is_of_the_kernel};
use crate::staging::holds_reserved;
use crate::{Error, Mounts, Result};

/// How often a walk that raced with a rename is tried again.
const TRIES: usize = 128;
/// How often one that ended outside is.
pub(crate) const LEFT_TRIES: usize = 2;

/// Opens paths beneath a directory, and nothing else.
#[derive(Debug)]
pub(crate) struct Beneath {
    resolve: ResolveFlags,
    own_descriptors: Arc<OwnedFd>,
    owner: Owner,
}

/// What an absolute link means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbsoluteLinks {
    /// It leads out: the root is a part of something.
    LeadOut,
    /// What it says: the root is that of the machine, or of a container.
    BeginAtRoot,
}

/// Whose tree it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The machine's own.
    Machine,
    /// A container's, in which files of the kernel are nobody's.
    Container,
}

impl Beneath {
    /// Checks that the kernel confines, and fails if it cannot: there is no other way.
    pub(crate) fn new(links: AbsoluteLinks, owner: Owner, mounts: Mounts) -> Result<Self> {
        let confinement = match links {
            AbsoluteLinks::BeginAtRoot => ResolveFlags::IN_ROOT,
            AbsoluteLinks::LeadOut => ResolveFlags::BENEATH,
        };
        let crossing = match mounts {
            Mounts::Stay => ResolveFlags::NO_XDEV,
            Mounts::Cross => ResolveFlags::empty(),
        };
        let resolve = confinement | crossing | ResolveFlags::NO_MAGICLINKS;
        openat2(CWD, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let own_descriptors = open("/proc/self/fd", flags, Mode::empty())?;
        check_proc(&own_descriptors)?;
        Ok(Self { resolve, own_descriptors: Arc::new(own_descriptors), owner })
    }

    /// The same for a part of a directory: an absolute link leads out of it, even if the whole is
    /// the machine's own root.
    pub(crate) fn of_a_part(&self) -> Self {
        let resolve = self.resolve.difference(ResolveFlags::IN_ROOT) | ResolveFlags::BENEATH;
        Self { resolve, own_descriptors: Arc::clone(&self.own_descriptors), owner: self.owner }
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
                outcome => return outcome.map_err(meaning).and_then(|found| self.allowed(found)),
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
        let found = cached(self.resolve, root, path, flags)?;
        found.map(|found| self.allowed(found)).transpose()
    }

    /// As `open_plain`, but only if the kernel's caches know every name on the way.
    pub(crate) fn open_plain_cached(
        &self,
        root: impl AsFd,
        path: &Path,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>> {
        let resolve = self.resolve | ResolveFlags::NO_SYMLINKS;
        let found = cached(resolve, root, path, flags).map_err(plain)?;
        found.map(|found| self.allowed(found)).transpose()
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

    /// Whether absolute links keep their meaning, since the root is that of all there is.
    pub(crate) fn is_whole(&self) -> bool {
        self.resolve.contains(ResolveFlags::IN_ROOT)
    }

    /// Whether what is held belongs to the kernel, in a container: it is neither read nor written,
    /// by whatever name or mount it was reached.
    pub(crate) fn refuses(&self, held: impl AsFd) -> bool {
        self.owner == Owner::Container && is_of_the_kernel(held)
    }

    fn allowed(&self, found: OwnedFd) -> Result<OwnedFd> {
        if self.refuses(&found) { Err(Error::Special) } else { Ok(found) }
    }

    /// The directory in which every open descriptor has a name.
    pub(crate) fn own_descriptors(&self) -> &OwnedFd {
        &self.own_descriptors
    }
}

/// Checks that what was opened in `/proc` is what it seems.
pub(crate) fn check_proc(found: &OwnedFd) -> Result<()> {
    match fstatfs(found)?.f_type {
        generated::PROC => Ok(()),
        _ => Err(Error::Os(Errno::NOSYS)),
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
