//! Copies of files and trees.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{
    Mode, OFlags, SeekFrom, copy_file_range, ftruncate, ioctl_ficlone, mkdirat, openat, readlinkat,
    seek, symlinkat,
};
use rustix::io::{Errno, pread};

use crate::owner::Owner;
use crate::read::write_all_at;
use crate::replace::{set_link_time, set_mode_and_time};
use crate::walk::{Follower, Tally, Walk};
use crate::{Error, Kind, Result, Stat, is_reserved, list, stat, walk};

const STEP: usize = 64 << 20;
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FRESH: OFlags = OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::CLOEXEC);

/// Copies a file, as long as it is now, to `offset` in another; gives the offset behind its last
/// byte. Blocks are shared where the file system can, and holes stay holes.
pub(crate) fn bytes(from: &OwnedFd, to: &OwnedFd, offset: u64) -> Result<u64> {
    let size = stat::of(from)?.size;
    let target = stat::of(to)?.size;
    // A clone takes the place of everything in the target, so only an empty one gets it.
    if offset == 0 && target == 0 && ioctl_ficlone(to, from).is_ok() {
        return Ok(stat::of(to)?.size);
    }
    let end = offset.checked_add(size).ok_or(Errno::FBIG)?;
    let mut at = 0;
    while let Some((start, stop)) = next_extent(from, at, size)? {
        extent(from, start, to, offset + start, stop - start)?;
        at = stop;
    }
    if target < end {
        ftruncate(to, end)?;
    }
    Ok(end)
}

/// The next piece of a file that is not a hole.
pub(crate) fn next_extent(file: &OwnedFd, at: u64, size: u64) -> Result<Option<(u64, u64)>> {
    if at >= size {
        return Ok(None);
    }
    let start = match seek(file, SeekFrom::Data(at)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        // File systems that do not know holes.
        Err(_) => return Ok(Some((at, size))),
    };
    let stop = seek(file, SeekFrom::Hole(start)).unwrap_or(size).min(size);
    Ok((start < stop).then_some((start, stop)))
}

fn extent(from: &OwnedFd, mut at: u64, to: &OwnedFd, mut offset: u64, len: u64) -> Result<()> {
    let stop = at + len;
    while at < stop {
        let step = usize::try_from(stop - at).unwrap_or(STEP).min(STEP);
        match copy_file_range(from, Some(&mut at), to, Some(&mut offset), step) {
            // It was cut meanwhile, or a file system such as FUSE cannot go on from here. A read
            // tells.
            Ok(0) | Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return by_hand(from, at, to, offset, stop - at);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

fn by_hand(from: &OwnedFd, at: u64, to: &OwnedFd, offset: u64, len: u64) -> Result<()> {
    let mut space = vec![0; 128 << 10];
    let mut done = 0;
    while done < len {
        let want = usize::try_from(len - done).unwrap_or(space.len()).min(space.len());
        let part = space.get_mut(..want).unwrap_or_default();
        let read = rustix::io::retry_on_intr(|| pread(from, &mut *part, at + done))?;
        // It was cut meanwhile; the rest reads as zeros.
        if read == 0 {
            break;
        }
        write_all_at(to, space.get(..read).unwrap_or_default(), offset + done)?;
        done += read as u64;
    }
    Ok(())
}

/// Copies what `name` in `from` is, with everything beneath it, to the free name `new` in `to`.
/// `to` must be a directory that nobody else writes in. It ends with `CANCELED` before the next file
/// when the copy is not wanted any more.
pub(crate) fn tree(
    opener: &dyn Fn(&OwnedFd) -> Result<OwnedFd>,
    is_wanted: &dyn Fn() -> bool,
    owner: Owner,
    (from, name): (&OwnedFd, &OsStr),
    (to, new): (&OwnedFd, &OsStr),
) -> Result<Tally> {
    let mut copying = Copying { opener, owner, tally: Tally::default() };
    let seen = stat::of_name(from, name)?;
    if seen.kind != Kind::Directory {
        copying.one((from, name), (to, new), &seen)?;
        return Ok(copying.tally);
    }
    let source = walk::child(from, name)?;
    mkdirat(to, new, Mode::RWXU)?;
    let copy = walk::child(to, new)?;
    let (mut walk, mut mirror) = (Walk::new(&source), Follower::new(&copy));
    while let Some(next) = walk.next() {
        let dir = next?;
        let into = mirror.follow(&walk)?;
        copying.tally.directories += 1;
        list::each(&dir, |name, kind| {
            if is_reserved(name) {
                return Ok(());
            }
            if !is_wanted() {
                return Err(Errno::CANCELED.into());
            }
            if kind == Kind::Directory {
                mkdirat(&into, name, Mode::RWXU)?;
                walk.push(name);
                return Ok(());
            }
            match stat::if_there(&dir, name)? {
                Some(seen) => copying.one((&dir, name), (&into, name), &seen),
                None => Ok(()),
            }
        })?;
        // All its names are there by now, and only names change a directory's time.
        let seen = stat::of(&dir)?;
        owner.give(&into)?;
        set_mode_and_time(&into, seen.mode, seen.modified)?;
    }
    Ok(copying.tally)
}

struct Copying<'a> {
    opener: &'a dyn Fn(&OwnedFd) -> Result<OwnedFd>,
    owner: Owner,
    tally: Tally,
}

impl Copying<'_> {
    /// Copies anything but a directory; what vanishes meanwhile is left out.
    fn one(
        &mut self,
        (from, name): (&OwnedFd, &OsStr),
        (to, new): (&OwnedFd, &OsStr),
        seen: &Stat,
    ) -> Result<()> {
        match seen.kind {
            Kind::File => {
                let looked_at = match openat(from, name, LOOK, Mode::empty()) {
                    Err(Errno::NOENT) => return Ok(()),
                    outcome => outcome?,
                };
                let source = (self.opener)(&looked_at)?;
                let copy = openat(to, new, FRESH, Mode::RUSR | Mode::WUSR)?;
                let size = bytes(&source, &copy, 0)?;
                self.tally.bytes = self.tally.bytes.saturating_add(size);
                self.owner.give(&copy)?;
                set_mode_and_time(&copy, seen.mode, seen.modified)?;
            }
            Kind::Symlink => {
                symlinkat(readlinkat(from, name, Vec::new())?, to, new)?;
                set_link_time(to, new, seen.modified)?;
            }
            Kind::Directory | Kind::Special => return Err(Error::Special),
        }
        self.tally.files += 1;
        Ok(())
    }
}

/// Positions an open directory at its beginning again.
pub(crate) fn rewind(dir: &OwnedFd) -> Result<()> {
    Ok(seek(dir, SeekFrom::Start(0)).map(drop)?)
}
