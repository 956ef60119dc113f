//! Whether a file has no name but the one that we know, so that it may be changed where it is.
//!
//! Code in the sandbox may give a file that lies outside a second name inside, and take that away at
//! any moment. A file that is held and has one name may therefore still be one outside: the name that
//! we found is gone by then. Nor do a name and a number of names that are read twice, with the same
//! times, tell: the kernel counts a name off some time before it stops finding it.
//!
//! What tells is the order of these steps, of which each ends before the next begins:
//!
//! 1. the directory is watched for names that appear in it;
//! 2. the file has one name;
//! 3. a call that needs the directory's lock;
//! 4. the name leads to the file;
//! 5. once more a call that needs the lock;
//! 6. the name is not among those that appeared.
//!
//! Suppose that the file has a name outside. Nobody in the sandbox can remove that, so it is the one
//! that was counted in 2, and every name inside had been counted off by then. Whoever counts a name
//! off holds the lock of its directory until the name is gone: after 3 it was. In 4 it was there, so
//! it was made after 2, by a link or a rename. Whoever makes a name tells those who watch before he
//! lets go of the lock: 6 would have known. So there is no name outside, and none can come: whoever
//! could make one may write outside himself. On a network file system this holds for those who work on
//! this machine: others make and remove names without its locks.
//!
//! `docs/decisions/0021-changes-in-place.md` says what else was considered.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Mutex, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::renameat;
use rustix::io::Errno;

use crate::{Error, Result, Spot, stat};

/// Names that appear. What happens to the files themselves is not asked for: the kernel would have to
/// tell every file of the directory that it is watched.
const APPEARING: WatchFlags =
    WatchFlags::CREATE.union(WatchFlags::MOVED_TO).union(WatchFlags::ONLYDIR);
/// Room for a few events, whatever their names; most often there is none.
const READ_BYTES: usize = 2 << 10;

/// Fails unless a file that is held has no other name than that of the spot.
///
/// A file that is mounted at the spot is what the operator put there, whatever its name is.
pub(crate) fn check(spot: &Spot, held: &OwnedFd) -> Result<()> {
    let seen = stat::of(held)?;
    if seen.links != 1 {
        return Err(Error::Shared);
    }
    if seen.mount != stat::of(&spot.dir)?.mount {
        return Ok(());
    }
    // Without a watch nothing is sure.
    let watch = Watch::begin(&spot.dir).map_err(|_| Error::Shared)?;
    if stat::fresh(held)?.links != 1 {
        return Err(Error::Shared);
    }
    wait_for_lock(spot)?;
    if !stat::of_name(&spot.dir, &*spot.name)?.is_same_file(&seen) {
        return Err(Error::Shared);
    }
    wait_for_lock(spot)?;
    if watch.has_appeared(&spot.name) { Err(Error::Shared) } else { Ok(()) }
}

/// Waits until everybody is done who changes names in the spot's directory at this moment. To rename
/// a file to its own name does nothing, and the kernel finds that out under the lock.
fn wait_for_lock(spot: &Spot) -> Result<()> {
    Ok(renameat(&spot.dir, &*spot.name, &spot.dir, &*spot.name)?)
}

/// A watch on one directory.
struct Watch {
    inotify: Option<OwnedFd>,
    number: i32,
}

/// What watches were made with and is free. To close one takes the kernel milliseconds, and a user
/// has few.
static IDLE: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());
const MOST_IDLE: usize = 8;

impl Watch {
    fn begin(dir: &OwnedFd) -> Result<Self> {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let inotify = match idle {
            Some(inotify) => inotify,
            None => inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
        };
        let own = format!("/proc/self/fd/{}", dir.as_raw_fd());
        let added = inotify::add_watch(&inotify, own, APPEARING);
        let mut watch = Self { inotify: Some(inotify), number: 0 };
        watch.number = added?;
        Ok(watch)
    }

    /// Whether a name appeared, or nobody knows.
    fn has_appeared(mut self, name: &OsStr) -> bool {
        let Some(inotify) = &self.inotify else { return true };
        // Nothing is added from here on, so that the reading ends.
        let ended = inotify::remove_watch(inotify, self.number);
        let found = ended.map_err(Error::from).and_then(|()| self.find(inotify, name));
        if found.is_err() {
            // What is left in it would be in the way of whoever takes it next.
            self.inotify = None;
        }
        found.unwrap_or(true)
    }

    fn find(&self, inotify: &OwnedFd, name: &OsStr) -> Result<bool> {
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        let mut reader = Reader::new(inotify, &mut space);
        let mut found = false;
        loop {
            match reader.next() {
                Ok(event) => found |= self.concerns(&event, name),
                Err(Errno::AGAIN) => return Ok(found),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn concerns(&self, event: &inotify::Event<'_>, name: &OsStr) -> bool {
        let is_named = event.file_name().is_some_and(|it| it.to_bytes() == name.as_bytes());
        event.events().contains(ReadFlags::QUEUE_OVERFLOW) || event.wd() == self.number && is_named
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(inotify) = self.inotify.take() else { return };
        // It may be over already. Whatever is still in there bears a number that is not given again.
        let _over = inotify::remove_watch(&inotify, self.number);
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(inotify);
        }
    }
}
