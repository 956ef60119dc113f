//! Opening files, after a look at what they are.

use std::ffi::OsStr;
use std::io::IoSliceMut;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, chmodat, fstatfs, ftruncate, openat, readlinkat, utimensat,
};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite};

use crate::generated::{PROC, is_generated};
use crate::recent::{self, Known};
use crate::{Dir, Error, Kind, Listing, Mounts, Result, Spot, Stat, Time, clock, copy, sole, stat};

/// Offsets are signed numbers to the kernel; no file reaches farther.
const FARTHEST: u64 = i64::MAX as u64;

/// An open regular file.
#[derive(Debug)]
pub struct OpenedFile {
    fd: OwnedFd,
}

impl Dir {
    /// Opens a regular file for reading. A FIFO, socket or device node is never opened, not even
    /// to look: an `O_PATH` descriptor asks nothing of it.
    pub fn open_file(&self, path: &Path) -> Result<(OpenedFile, Stat)> {
        self.reopen(&self.open(path, OFlags::PATH)?, OFlags::RDONLY)
    }

    /// As `open_file`, if the kernel's caches know the way; none otherwise. A small file may be one
    /// that was kept open, and stays so until [`crate::forget_unused`] was called twice.
    pub fn open_file_cached(&self, path: &Path) -> Result<Option<(Arc<OpenedFile>, Stat)>> {
        let Some(looked_at) = self.open_cached(path, OFlags::PATH)? else { return Ok(None) };
        let seen = stat::of(&looked_at)?;
        // What lies on other mounts is asked about more before it is read.
        let known = match seen.kind == Kind::File && self.mounts() == Mounts::Stay {
            true => recent::find(&seen),
            false => Known::No,
        };
        if let Known::Open(file) = known {
            return Ok(Some((file, seen)));
        }
        let file = Arc::new(self.reopen_seen(&looked_at, &seen, OFlags::RDONLY)?);
        if matches!(known, Known::Often) {
            recent::keep(&file, seen);
        }
        Ok(Some((file, seen)))
    }

    /// Opens the regular file at a spot for reading and writing in place. One that may have another
    /// name, which may lie outside, is refused as shared.
    pub fn open_spot(&self, spot: &Spot) -> Result<(OpenedFile, Stat)> {
        let looked_at = spot.look()?;
        let opened = self.reopen(&looked_at, OFlags::RDWR)?;
        sole::check(spot, &looked_at)?;
        Ok(opened)
    }

    /// Opens the regular file at a spot for reading.
    pub fn open_spot_to_read(&self, spot: &Spot) -> Result<(OpenedFile, Stat)> {
        self.reopen(&spot.look()?, OFlags::RDONLY)
    }

    /// Opens the regular file of a name in an open directory for reading.
    pub fn open_listed(&self, dir: &Listing, name: &OsStr) -> Result<(OpenedFile, Stat)> {
        let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.reopen(&openat(dir.fd(), name, look, Mode::empty())?, OFlags::RDONLY)
    }

    /// Changes the mode, of which only 0777 counts, and the time of what is at a spot. A file that may
    /// have another name is refused as shared.
    pub fn set_metadata(
        &self,
        spot: &Spot,
        mode: Option<u32>,
        modified: Option<Time>,
    ) -> Result<Stat> {
        let looked_at = spot.look()?;
        let seen = stat::of(&looked_at)?;
        let is_made_up = is_generated(&looked_at) || self.beneath().refuses(&looked_at);
        if matches!(seen.kind, Kind::Symlink | Kind::Special) || is_made_up {
            return Err(Error::Special);
        }
        if seen.kind == Kind::File {
            sole::check(spot, &looked_at)?;
        }
        let descriptors = self.beneath().own_descriptors();
        let number = looked_at.as_raw_fd().to_string();
        if let Some(mode) = mode {
            chmodat(descriptors, &*number, Mode::from_raw_mode(mode & 0o777), AtFlags::empty())?;
        }
        if let Some(modified) = modified {
            utimensat(descriptors, &*number, &clock::modified_at(modified), AtFlags::empty())?;
        }
        match self.beneath().reopen(&looked_at, OFlags::RDONLY) {
            Ok(file) => self.sync_file(&file)?,
            // We may not read it, or somebody holds it; the whole file system can be synced.
            Err(_) => self.sync_all(&spot.dir)?,
        }
        stat::of(&looked_at)
    }

    pub(crate) fn reopen(&self, looked_at: &OwnedFd, flags: OFlags) -> Result<(OpenedFile, Stat)> {
        let seen = stat::of(looked_at)?;
        Ok((self.reopen_seen(looked_at, &seen, flags)?, seen))
    }

    /// Opens what was looked at, if that is a regular file.
    fn reopen_seen(&self, looked_at: &OwnedFd, seen: &Stat, flags: OFlags) -> Result<OpenedFile> {
        match seen.kind {
            Kind::File => {
                if self.beneath().refuses(looked_at) {
                    return Err(Error::Special);
                }
                if self.mounts() == Mounts::Cross {
                    refuse_dangerous(looked_at, flags)?;
                }
                Ok(OpenedFile { fd: self.beneath().reopen(looked_at, flags)? })
            }
            Kind::Directory => Err(Error::Os(Errno::ISDIR)),
            Kind::Symlink | Kind::Special => Err(Error::Special),
        }
    }

    /// Whether the kernel makes the content of an open file when it is read, so that its length says
    /// nothing: in `/proc` and its like, which only a tree that crosses mounts can hold. In a container
    /// such a file was never opened, and its file system is not asked again.
    pub fn is_generated(&self, file: &OpenedFile) -> bool {
        self.mounts() == Mounts::Cross && !self.is_of_container() && is_generated(&file.fd)
    }

    /// Waits until what was written to an open file is on the disk.
    pub fn sync(&self, file: &OpenedFile) -> Result<()> {
        self.sync_file(&file.fd)
    }
}

impl OpenedFile {
    pub(crate) fn of(fd: OwnedFd) -> Self {
        Self { fd }
    }

    pub(crate) fn into_fd(self) -> OwnedFd {
        self.fd
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// What the file is now.
    pub fn stat(&self) -> Result<Stat> {
        stat::of(&self.fd)
    }

    /// Reads at `offset`; 0 at the end.
    pub fn read_at(&self, space: &mut [u8], offset: u64) -> Result<usize> {
        if is_beyond(offset, space) {
            return Ok(0);
        }
        Ok(rustix::io::retry_on_intr(|| pread(&self.fd, &mut *space, offset))?)
    }

    /// Where the next bytes from `offset` on begin and end that are not a hole, of a file that is so
    /// long; none if only a hole is left.
    pub fn next_bytes(&self, offset: u64, len: u64) -> Result<Option<(u64, u64)>> {
        copy::next_extent(&self.fd, offset, len)
    }

    /// Reads at `offset` what the page cache holds; none when that would wait for the disk, or
    /// when the file system cannot tell.
    pub fn read_cached(&self, space: &mut [u8], offset: u64) -> Result<Option<usize>> {
        if is_beyond(offset, space) {
            return Ok(Some(0));
        }
        let space = &mut [IoSliceMut::new(space)];
        match preadv2(&self.fd, space, offset, ReadWriteFlags::NOWAIT) {
            Ok(len) => Ok(Some(len)),
            Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::INTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes all of `bytes` at `offset`.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> Result<()> {
        write_all_at(&self.fd, bytes, offset)
    }

    /// Cuts the file or lengthens it with zeros.
    pub fn set_len(&self, len: u64) -> Result<()> {
        Ok(ftruncate(&self.fd, len)?)
    }

    /// Stamps the file with a time of modification.
    pub fn set_modified(&self, time: Time) -> Result<()> {
        Ok(rustix::fs::futimens(&self.fd, &clock::modified_at(time))?)
    }
}

/// What the kernel makes up is never written to, and what `/proc` tells of processes is not read:
/// their memory and environment, ours among them, are files there.
fn refuse_dangerous(looked_at: &OwnedFd, flags: OFlags) -> Result<()> {
    if !is_generated(looked_at) {
        return Ok(());
    }
    if !(flags & OFlags::RWMODE).is_empty() {
        return Err(Error::Special);
    }
    let is_proc = fstatfs(looked_at)?.f_type == PROC;
    let path = readlinkat(CWD, format!("/proc/self/fd/{}", looked_at.as_raw_fd()), Vec::new())?;
    let of_process = path
        .to_bytes()
        .split(|byte| *byte == b'/')
        .any(|name| !name.is_empty() && name.iter().all(u8::is_ascii_digit));
    if is_proc && of_process { Err(Error::Special) } else { Ok(()) }
}

fn is_beyond(offset: u64, space: &[u8]) -> bool {
    offset.saturating_add(space.len() as u64) > FARTHEST
}

/// Writes all of `bytes` at `offset`, however many calls that takes.
pub(crate) fn write_all_at(file: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| pwrite(file, bytes, offset))?;
        if written == 0 {
            return Err(Error::Os(Errno::IO));
        }
        bytes = bytes.get(written..).unwrap_or_default();
        offset += written as u64;
    }
    Ok(())
}
