//! What a directory holds, sorted, with memory that does not grow with the directory.

mod in_order;
mod names;

use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::fs::{FileType, OFlags, RawDir, SeekFrom, readlinkat, seek};
use rustix::io::Errno;

pub use in_order::InOrder;
pub use names::Names;

use crate::{Dir, Error, Kind, Result, Stat, is_reserved, stat};
use names::First;

const READ_BYTES: usize = 64 << 10;

/// An open directory.
#[derive(Debug)]
pub struct Listing {
    dir: OwnedFd,
}

impl Dir {
    /// Opens the directory at `path` for listing.
    pub fn list(&self, path: &Path) -> Result<Listing> {
        Ok(Listing { dir: self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK)? })
    }

    /// The state of a name in a listing, not followed; none when it vanished meanwhile. What belongs
    /// to the kernel in a container is special.
    pub fn stat_listed(&self, listing: &Listing, name: &OsStr) -> Result<Option<Stat>> {
        listing.stat(name)?.map(|there| self.as_seen(&listing.dir, name, there)).transpose()
    }
}

impl Listing {
    pub(crate) fn of(dir: OwnedFd) -> Self {
        Self { dir }
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.dir
    }

    /// The first names after `after`, sorted by their bytes: at most `most`, and no more than fit
    /// into the memory of one pass. Reads the whole directory.
    pub fn names(&self, after: Option<&OsStr>, most: usize) -> Result<Names> {
        let mut first = First::new(after.map(OsStr::as_bytes), most);
        self.each_while_well(|name, _| {
            first.offer(name.as_bytes());
            Ok(())
        })?;
        Ok(first.finish())
    }

    /// Calls `visit` with every name and what it is, in no order.
    pub fn each(&self, visit: &mut dyn FnMut(&OsStr, Kind)) -> Result<()> {
        self.each_while_well(|name, kind| {
            visit(name, kind);
            Ok(())
        })
    }

    fn each_while_well(&self, mut visit: impl FnMut(&OsStr, Kind) -> Result<()>) -> Result<()> {
        seek(&self.dir, SeekFrom::Start(0))?;
        each(&self.dir, |name, kind| if is_reserved(name) { Ok(()) } else { visit(name, kind) })
    }

    /// The state of a name, not followed; none when it vanished meanwhile.
    pub fn stat(&self, name: &OsStr) -> Result<Option<Stat>> {
        stat::if_there(&self.dir, name)
    }

    /// The state of the directory itself.
    pub fn own_stat(&self) -> Result<Stat> {
        stat::of(&self.dir)
    }

    /// What the link of a name holds.
    pub fn read_link(&self, name: &OsStr) -> Result<OsString> {
        Ok(OsString::from_vec(readlinkat(&self.dir, name, Vec::new())?.into_bytes()))
    }
}

/// Calls `visit` with every name in a directory but `.` and `..`, and with what it is.
pub(crate) fn each(
    dir: impl AsFd,
    mut visit: impl FnMut(&OsStr, Kind) -> Result<()>,
) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); READ_BYTES];
    let mut entries = RawDir::new(dir.as_fd(), &mut space);
    while let Some(entry) = entries.next() {
        let entry = match entry {
            // What a directory answers that was removed meanwhile: it holds nothing.
            Err(Errno::NOENT) => break,
            entry => entry?,
        };
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let mut kind = Kind::of(entry.file_type());
        // Some file systems do not say.
        if entry.file_type() == FileType::Unknown {
            match stat::of_name(dir.as_fd(), name) {
                Ok(stat) => kind = stat.kind,
                Err(Error::Os(Errno::NOENT)) => continue,
                Err(err) => return Err(err),
            }
        }
        visit(name, kind)?;
    }
    Ok(())
}
