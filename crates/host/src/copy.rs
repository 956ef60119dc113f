//! Copies of files and trees.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, Mode, OFlags, SeekFrom, copy_file_range, ioctl_ficlone, mkdirat, openat, readlinkat,
    seek, symlinkat, utimensat,
};
use rustix::io::{Errno, pread};

use crate::read::write_all_at;
use crate::replace::set_mode_and_time;
use crate::walk::{Follower, Tally, Walk};
use crate::{Error, Kind, Result, Stat, clock, is_reserved, list, stat, walk};

const STEP: usize = 64 << 20;
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FRESH: OFlags = OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::CLOEXEC);

/// Copies all of a file to `offset` in another, sharing blocks where the file system can; gives
/// the offset behind the last byte.
pub(crate) fn bytes(from: &OwnedFd, to: &OwnedFd, offset: u64) -> Result<u64> {
    // A clone takes the place of everything in the target, so only an empty one gets it.
    if offset == 0 && stat::of(to)?.size == 0 && ioctl_ficlone(to, from).is_ok() {
        return Ok(stat::of(to)?.size);
    }
    let (mut at, mut end) = (0, offset);
    loop {
        match copy_file_range(from, Some(&mut at), to, Some(&mut end), STEP) {
            Ok(0) => return Ok(end),
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return by_hand(from, at, to, end);
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn by_hand(from: &OwnedFd, mut at: u64, to: &OwnedFd, mut end: u64) -> Result<u64> {
    let mut space = vec![0; 128 << 10];
    loop {
        let read = rustix::io::retry_on_intr(|| pread(from, &mut space[..], at))?;
        if read == 0 {
            return Ok(end);
        }
        write_all_at(to, space.get(..read).unwrap_or_default(), end)?;
        at += read as u64;
        end += read as u64;
    }
}

/// Copies what `name` in `from` is, with everything beneath it, to the free name `new` in `to`.
/// `to` must be a directory that nobody else writes in.
pub(crate) fn tree(
    opener: &dyn Fn(&OwnedFd) -> Result<OwnedFd>,
    (from, name): (&OwnedFd, &OsStr),
    (to, new): (&OwnedFd, &OsStr),
) -> Result<Tally> {
    let mut tally = Tally::default();
    let seen = stat::of_name(from, name)?;
    if seen.kind != Kind::Directory {
        one(opener, (from, name), (to, new), &seen, &mut tally)?;
        return Ok(tally);
    }
    let source = walk::child(from, name)?;
    mkdirat(to, new, Mode::RWXU)?;
    let copy = walk::child(to, new)?;
    let (mut walk, mut mirror) = (Walk::new(&source), Follower::new(&copy));
    while let Some(next) = walk.next() {
        let dir = next?;
        let into = mirror.follow(&walk)?;
        tally.directories += 1;
        list::each(&dir, |name, kind| {
            if is_reserved(name) {
                return Ok(());
            }
            if kind == Kind::Directory {
                mkdirat(&into, name, Mode::RWXU)?;
                walk.push(name);
                return Ok(());
            }
            match stat::of_name(&dir, name) {
                Ok(seen) => one(opener, (&dir, name), (&into, name), &seen, &mut tally),
                Err(Error::Os(Errno::NOENT)) => Ok(()),
                Err(err) => Err(err),
            }
        })?;
        // All its names are there by now, and only names change a directory's time.
        let seen = stat::of(&dir)?;
        set_mode_and_time(&into, seen.mode, seen.modified)?;
    }
    Ok(tally)
}

fn one(
    opener: &dyn Fn(&OwnedFd) -> Result<OwnedFd>,
    (from, name): (&OwnedFd, &OsStr),
    (to, new): (&OwnedFd, &OsStr),
    seen: &Stat,
    tally: &mut Tally,
) -> Result<()> {
    match seen.kind {
        Kind::File => {
            let source = opener(&openat(from, name, LOOK, Mode::empty())?)?;
            let copy = openat(to, new, FRESH, Mode::RUSR | Mode::WUSR)?;
            tally.bytes += bytes(&source, &copy, 0)?;
            set_mode_and_time(&copy, seen.mode, seen.modified)?;
        }
        Kind::Symlink => {
            symlinkat(readlinkat(from, name, Vec::new())?, to, new)?;
            let times = clock::modified_at(seen.modified);
            utimensat(to, new, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Kind::Directory | Kind::Special => return Err(Error::Special),
    }
    tally.files += 1;
    Ok(())
}

/// Positions an open directory at its beginning again.
pub(crate) fn rewind(dir: &OwnedFd) -> Result<()> {
    Ok(seek(dir, SeekFrom::Start(0)).map(drop)?)
}
