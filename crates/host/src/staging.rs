//! Where unfinished files and discarded trees lie, out of the clients' sight.
//!
//! Every such thing bears a reserved name, `.sandkeep-tmp-` and 16 hex digits. Its maker holds an
//! flock while alive, on its staging directory or else on the root, so that a later start can tell
//! what was left behind.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags, flock, mkdirat, open, openat,
    renameat_with, unlinkat,
};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::{Error, Result, Stat, stat, sweep, walk};

const PREFIX: &str = ".sandkeep-tmp-";
const DIGITS: usize = 16;
/// So many numbers the kernel always gives at once.
const AT_A_TIME: usize = 64;

/// A directory of this process alone, from which a rename into the root works.
#[derive(Debug)]
pub(crate) struct Staging {
    dir: OwnedFd,
    parent: OwnedFd,
    name: OsString,
    mount: u64,
    /// Owner and mode of what is made here.
    looks: OnceLock<Stat>,
    /// What could not be removed so far.
    left: Mutex<Vec<OsString>>,
}

/// How much of what was left is tried again at a time.
const AGAIN: usize = 4;

impl Staging {
    /// Makes a directory beneath `place`, sweeps what dead processes left there, and tries a real
    /// rename: two mounts of one file system look alike and still refuse it.
    pub(crate) fn open(place: &Path, root: &OwnedFd) -> Result<Self> {
        make_all(place)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = open(place, flags, Mode::empty())?;
        sweep::staging(&parent)?;
        let staging = Self::claim(parent)?;
        staging.try_rename(root)?;
        Ok(staging)
    }

    pub(crate) fn dir(&self) -> &OwnedFd {
        &self.dir
    }

    pub(crate) fn mount(&self) -> u64 {
        self.mount
    }

    /// The state of a file that was just made here, of which only owner and mode count: they are those
    /// of every other.
    pub(crate) fn looks_of_new(&self, file: &OwnedFd) -> Result<Stat> {
        if let Some(looks) = self.looks.get() {
            return Ok(*looks);
        }
        let looks = stat::of(file)?;
        Ok(*self.looks.get_or_init(|| looks))
    }

    /// A file that nobody else finds, and that is gone when it is closed.
    pub(crate) fn nameless(&self) -> Result<OwnedFd> {
        let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        Ok(openat(&self.dir, ".", flags, Mode::RUSR | Mode::WUSR)?)
    }

    /// Removes something that lies there. What cannot be removed now is tried again when the next
    /// thing is staged, and by the next start.
    pub(crate) fn discard(&self, name: &OsStr) -> Result<()> {
        let removed = match walk::remove(&self.dir, name) {
            Err(Error::Os(Errno::NOENT)) => Ok(()),
            outcome => outcome,
        };
        if removed.is_err() {
            self.leave(name);
        }
        removed
    }

    /// Lets something lie there until the next thing is staged.
    pub(crate) fn leave(&self, name: &OsStr) {
        self.left().push(name.to_owned());
    }

    /// Tries again to remove some of what was left.
    pub(crate) fn tidy(&self) {
        let again: Vec<_> = {
            let mut left = self.left();
            let kept = left.len().saturating_sub(AGAIN);
            left.drain(kept..).collect()
        };
        for name in again {
            let _left_again = self.discard(&name);
        }
    }

    fn left(&self) -> MutexGuard<'_, Vec<OsString>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(parent: OwnedFd) -> Result<Self> {
        loop {
            let name = random_name()?;
            mkdirat(&parent, &*name, Mode::RWXU)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let dir = match openat(&parent, &*name, flags, Mode::empty()) {
                Err(Errno::NOENT) => continue,
                outcome => outcome?,
            };
            // Between the two calls another start may have taken it for abandoned.
            let ours = flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok()
                && stat::of_name(&parent, &*name).is_ok_and(|there| same(&there, &dir));
            if ours {
                let mount = stat::of(&dir)?.mount;
                let left = Mutex::default();
                return Ok(Self { dir, parent, name, mount, looks: OnceLock::new(), left });
            }
        }
    }

    fn try_rename(&self, root: &OwnedFd) -> Result<()> {
        let name = random_name()?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        openat(&self.dir, &*name, flags, Mode::RUSR)?;
        let tried = renameat_with(&self.dir, &*name, root, &*name, RenameFlags::NOREPLACE);
        unlinkat(if tried.is_ok() { root } else { &self.dir }, &*name, AtFlags::empty())?;
        Ok(tried?)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Whatever is still in there is swept by the next start.
        let _unswept = unlinkat(&self.parent, &*self.name, AtFlags::REMOVEDIR);
    }
}

/// Whether a name is reserved for unfinished files.
pub fn is_reserved(name: &OsStr) -> bool {
    name.as_bytes().strip_prefix(PREFIX.as_bytes()).is_some_and(|rest| {
        rest.len() == DIGITS && rest.iter().all(|digit| b"0123456789abcdef".contains(digit))
    })
}

/// Whether any name of a path is reserved.
pub(crate) fn holds_reserved(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| is_reserved(OsStr::from_bytes(name)))
}

/// A new reserved name: eight digits of this process, eight at random.
pub(crate) fn random_name() -> Result<OsString> {
    Ok(format!("{}{:08x}", own_prefix()?, random()?).into())
}

/// Whether a reserved name is of this process.
pub(crate) fn is_own(name: &OsStr) -> bool {
    own_prefix().is_ok_and(|own| name.as_bytes().starts_with(own.as_bytes()))
}

fn own_prefix() -> Result<&'static str> {
    static OWN: OnceLock<String> = OnceLock::new();
    if let Some(own) = OWN.get() {
        return Ok(own);
    }
    let fresh = random()?;
    Ok(OWN.get_or_init(|| format!("{PREFIX}{fresh:08x}")))
}

/// The kernel is asked for many numbers at a time.
fn random() -> Result<u32> {
    static DRAWN: Mutex<Vec<[u8; 4]>> = Mutex::new(Vec::new());
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    if drawn.is_empty() {
        let mut fresh = [[0; 4]; AT_A_TIME];
        let filled = getrandom(fresh.as_flattened_mut(), GetRandomFlags::empty())?;
        drawn.extend(fresh.into_iter().take(filled / 4));
    }
    drawn.pop().map(u32::from_ne_bytes).ok_or(Error::Os(Errno::AGAIN))
}

fn same(there: &Stat, dir: &OwnedFd) -> bool {
    stat::of(dir).is_ok_and(|held| held.is_same_file(there))
}

/// Makes a directory of the operator's and its parents.
fn make_all(place: &Path) -> Result<()> {
    match mkdirat(CWD, place, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            make_all(place.parent().ok_or(Error::Os(Errno::NOENT))?)?;
            make_all(place)
        }
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_name_is_reserved() {
        assert!(is_reserved(&random_name().unwrap()));
    }

    #[test]
    fn a_name_that_only_begins_alike_is_free() {
        assert!(!is_reserved(OsStr::new(".sandkeep-tmp-notes")));
        assert!(!is_reserved(OsStr::new(".sandkeep-tmp-0123456789abcdeg")));
    }
}
