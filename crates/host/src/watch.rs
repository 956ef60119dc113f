//! What happens in open directories, as the kernel tells it.
//!
//! A directory is watched by its descriptor, never by a path: whatever takes the place of one of
//! its names meanwhile, what is watched is what was opened.

use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use crate::walk::open_beneath;
use crate::{Dir, Listing, Result};

const WATCHED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);
/// Room for at least some 200 events, whatever their names.
const READ_BYTES: usize = 64 << 10;

/// Directories that are watched together; what happens in them is told in one order.
#[derive(Debug)]
pub struct Watches {
    inotify: OwnedFd,
}

/// One of them. No other one ever has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Watch(i32);

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// More happened than the kernel remembers. Some of it is lost.
    Overflow,
    /// A directory is not watched any more, most often because it was removed.
    Ended(Watch),
    /// Something happened to a name in a directory.
    Named {
        /// The directory.
        watch: Watch,
        /// The name.
        name: &'a OsStr,
        /// Whether it is one of a directory.
        is_dir: bool,
        /// What happened.
        happening: Happening,
    },
}

/// What happened to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// It was made.
    Created,
    /// It was removed.
    Removed,
    /// It went elsewhere; where it arrives, the number is the same.
    MovedFrom(u32),
    /// It came from elsewhere.
    MovedTo(u32),
    /// Somebody wrote to it and may go on.
    Writing,
    /// Somebody wrote to it and closed it, or changed its mode, owner or times.
    Changed,
}

impl Watches {
    /// None yet.
    pub fn new() -> Result<Self> {
        Ok(Self { inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)? })
    }

    /// How many directories may be watched for a user, by all his programs; none if nobody says.
    pub fn most_of_a_user() -> Option<usize> {
        #[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a client")]
        let text = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        text.trim().parse().ok()
    }

    /// Watches an open directory. One that is watched already keeps its watch.
    pub fn add(&self, dir: &Listing) -> Result<Watch> {
        let own = format!("/proc/self/fd/{}", dir.fd().as_raw_fd());
        Ok(Watch(inotify::add_watch(&self.inotify, own, WATCHED)?))
    }

    /// Watches a directory no more. One that was removed is not watched anyway.
    pub fn remove(&self, watch: Watch) {
        let _removed = inotify::remove_watch(&self.inotify, watch.0);
    }

    /// Tells what happened since the last time, some of it at least; whether there may be more.
    pub fn read(&self, tell: &mut dyn FnMut(Event<'_>)) -> Result<bool> {
        let mut space = [MaybeUninit::uninit(); READ_BYTES];
        let mut reader = Reader::new(&self.inotify, &mut space);
        loop {
            match reader.next() {
                Ok(event) => each(&event, tell),
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if reader.is_buffer_empty() {
                return Ok(true);
            }
        }
    }
}

impl AsFd for Watches {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

fn each(event: &inotify::Event<'_>, tell: &mut dyn FnMut(Event<'_>)) {
    let (flags, watch) = (event.events(), Watch(event.wd()));
    if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
        return tell(Event::Overflow);
    }
    if flags.contains(ReadFlags::IGNORED) {
        return tell(Event::Ended(watch));
    }
    let Some(name) = event.file_name() else { return };
    let name = OsStr::from_bytes(name.to_bytes());
    let is_dir = flags.contains(ReadFlags::ISDIR);
    let cookie = event.cookie();
    let known = [
        (ReadFlags::CREATE, Happening::Created),
        (ReadFlags::DELETE, Happening::Removed),
        (ReadFlags::MOVED_FROM, Happening::MovedFrom(cookie)),
        (ReadFlags::MOVED_TO, Happening::MovedTo(cookie)),
        (ReadFlags::MODIFY, Happening::Writing),
        (ReadFlags::CLOSE_WRITE, Happening::Changed),
        (ReadFlags::ATTRIB, Happening::Changed),
    ];
    if let Some((_, happening)) = known.into_iter().find(|(flag, _)| flags.contains(*flag)) {
        tell(Event::Named { watch, name, is_dir, happening });
    }
}

impl Dir {
    /// Opens a directory to be watched: the one at `top`, and from there on by names through which
    /// no link is followed and no mount crossed.
    pub fn open_to_watch(&self, top: &Path, beneath: &OsStr) -> Result<Listing> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        let top = self.open(top, flags)?;
        if beneath.is_empty() {
            return Ok(Listing::of(top));
        }
        Ok(Listing::of(open_beneath(&top, beneath.as_bytes())?))
    }
}
