//! The directory of a store, and who may use it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fsync, mkdir, open, rename, statvfs};
use rustix::io::Errno;

use crate::{Error, ErrorKind, Result};

/// Held locked for as long as the store is open.
const LOCK: &str = "lock";
/// The database.
const STORE: &str = "store";
/// A database that is being made. It appears by rename, because one that is half made cannot be
/// told from a broken one.
const NEW: &str = "new";

/// The directory of a store, which no other process and no other part of this one may use.
pub(super) struct Place {
    dir: PathBuf,
    _lock: OwnedFd,
}

impl Place {
    /// Takes the directory, making it when it is missing.
    pub(super) fn claim(dir: &Path) -> Result<Self> {
        make_dir(dir)?;
        refuse_strangers(dir)?;
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock = open(dir.join(LOCK), flags, Mode::RUSR | Mode::WUSR).map_err(io::Error::from)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { dir: dir.to_owned(), _lock: lock }),
            Err(Errno::WOULDBLOCK) => Err(in_use()),
            Err(errno) => Err(io::Error::from(errno).into()),
        }
    }

    /// The database, which `make` creates in an empty directory if there is none yet.
    pub(super) fn database(&self, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let (new, store) = (self.dir.join(NEW), self.dir.join(STORE));
        if is_there(&store)? {
            return Ok(store);
        }
        remove_all(&new)?;
        make(&new)?;
        rename(&new, &store).map_err(io::Error::from)?;
        sync_dir(&self.dir)?;
        Ok(store)
    }

    /// How many bytes can still be written.
    pub(super) fn room(&self) -> Result<u64> {
        let disk = statvfs(&self.dir).map_err(io::Error::from)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
}

fn in_use() -> Error {
    let message = "the storage is open already, in this process or another; only one may have it";
    Error::new(ErrorKind::InUse, message)
}

/// Makes a directory and its parents. What the store acknowledges must not be lost because the way
/// to it was never synced.
fn make_dir(dir: &Path) -> Result<()> {
    let made = match (mkdir(dir, Mode::RWXU), dir.parent()) {
        (Err(Errno::NOENT), Some(parent)) => {
            make_dir(parent)?;
            mkdir(dir, Mode::RWXU)
        }
        (made, _) => made,
    };
    match (made, dir.parent()) {
        (Ok(()), Some(parent)) => sync_dir(parent),
        (Ok(()) | Err(Errno::EXIST), _) => Ok(()),
        (Err(errno), _) => Err(io::Error::from(errno).into()),
    }
}

/// Refuses a directory that holds something and no store: it was hardly meant.
fn refuse_strangers(dir: &Path) -> Result<()> {
    let mut is_foreign = false;
    for entry in entries(dir)? {
        let name = entry?.file_name();
        if name == STORE {
            return Ok(());
        }
        is_foreign |= name != LOCK && name != NEW && name != "lost+found";
    }
    if is_foreign {
        let message = "the directory of file: holds something else; give the storage its own";
        return Err(Error::new(ErrorKind::InvalidUrl, message));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the operator named the directory, not a client")]
fn entries(dir: &Path) -> Result<fs::ReadDir> {
    fs::read_dir(dir).map_err(|err| {
        if err.kind() == io::ErrorKind::NotADirectory {
            return Error::new(ErrorKind::InvalidUrl, "file: needs a directory, not a file");
        }
        err.into()
    })
}

#[expect(clippy::disallowed_methods, reason = "the operator named the directory, not a client")]
fn is_there(path: &Path) -> Result<bool> {
    Ok(fs::exists(path)?)
}

#[expect(clippy::disallowed_methods, reason = "the operator named the directory, not a client")]
fn remove_all(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn sync_dir(dir: &Path) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = open(dir, flags, Mode::empty()).map_err(io::Error::from)?;
    Ok(fsync(dir).map_err(io::Error::from)?)
}
