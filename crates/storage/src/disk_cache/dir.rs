//! The directory of a cache, and the files that may be in it.
#![expect(clippy::disallowed_methods, reason = "the operator named the directory, not a client")]

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::{Error, ErrorKind, Result};

/// Held locked for as long as the cache is open.
const LOCK: &str = "lock";
const SEGMENT: &str = "segment";
const NOTES: &str = "notes";

/// A directory that no other process, and no other part of this one, uses as a cache.
pub(super) struct Dir {
    path: PathBuf,
    _lock: File,
}

impl Dir {
    /// Takes the directory, making it when it is missing.
    pub(super) fn claim(path: &Path) -> Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        refuse_strangers(path)?;
        let lock = options().open(path.join(LOCK))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(Errno::WOULDBLOCK) => {
                let message = "the cache is open already, in this process or another";
                Err(Error::new(ErrorKind::InUse, message))
            }
            Err(errno) => Err(io::Error::from(errno).into()),
        }
    }

    /// The numbers of the segments that are there, the oldest first. Notes without a segment go.
    pub(super) fn segments(&self) -> io::Result<BTreeSet<u32>> {
        let (mut segments, mut notes) = (BTreeSet::new(), BTreeSet::new());
        for entry in fs::read_dir(&self.path)? {
            match number(&entry?.file_name().to_string_lossy()) {
                Some((number, SEGMENT)) => drop(segments.insert(number)),
                Some((number, _)) => drop(notes.insert(number)),
                None => {}
            }
        }
        for number in notes.difference(&segments) {
            self.remove(*number)?;
        }
        Ok(segments)
    }

    /// A segment, which is made when it is missing.
    pub(super) fn segment(&self, number: u32) -> io::Result<File> {
        options().open(self.file(number, SEGMENT))
    }

    pub(super) fn notes(&self, number: u32) -> io::Result<Vec<u8>> {
        fs::read(self.file(number, NOTES))
    }

    pub(super) fn write_notes(&self, number: u32, notes: &[u8]) -> io::Result<()> {
        fs::write(self.file(number, NOTES), notes)
    }

    /// Removes a segment and its notes.
    pub(super) fn remove(&self, number: u32) -> io::Result<()> {
        for kind in [SEGMENT, NOTES] {
            match fs::remove_file(self.file(number, kind)) {
                Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn file(&self, number: u32, kind: &str) -> PathBuf {
        self.path.join(format!("{number:08x}.{kind}"))
    }
}

fn options() -> fs::OpenOptions {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options
}

/// Refuses a directory that holds what no cache made: it was hardly meant, and files go from it.
fn refuse_strangers(path: &Path) -> Result<()> {
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name != LOCK && name != "lost+found" && number(&name).is_none() {
            let message = "the directory of the cache holds something else; give the cache its own";
            return Err(Error::new(ErrorKind::InvalidUrl, message));
        }
    }
    Ok(())
}

/// The number of a segment, and whether the name is of it or of its notes.
fn number(name: &str) -> Option<(u32, &'static str)> {
    let (number, kind) = name.split_once('.')?;
    let kind = [SEGMENT, NOTES].into_iter().find(|known| *known == kind)?;
    Some((u32::from_str_radix(number, 16).ok().filter(|_| number.len() == 8)?, kind))
}
