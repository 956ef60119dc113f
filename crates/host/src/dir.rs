//! The directory itself.

use std::ffi::OsString;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use rustix::fs::{
    CWD, FlockOperation, Mode, OFlags, ResolveFlags, flock, fsync, open, openat2, readlinkat,
    syncfs,
};
use rustix::io::Errno;

use crate::beneath::Beneath;
use crate::staging::Staging;
use crate::{Error, Result, Stat, Tally, restore, stat, sweep, walk};

const LOCK_TRIES: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// A directory, held by its descriptor. Every path is relative to it; the empty path is itself.
#[derive(Debug)]
pub struct Dir {
    path: PathBuf,
    /// Replaced when the directory was removed and made anew.
    root: RwLock<Arc<OwnedFd>>,
    beneath: Beneath,
    options: Options,
    staging: Option<Arc<Staging>>,
    restoring: Mutex<()>,
}

/// How a directory is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether mounts are crossed.
    pub mounts: Mounts,
    /// Whether changes wait for the disk.
    pub durability: Durability,
    /// Where unfinished files may lie, the best place first.
    pub staging: Vec<PathBuf>,
}

/// Whether paths may lead into file systems mounted beneath the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounts {
    /// They end at a mount point.
    Stay,
    /// They may cross.
    Cross,
}

/// Whether a change waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It survives a power cut.
    Full,
    /// It survives the end of the process.
    Relaxed,
}

impl Dir {
    /// Opens the directory at `path`, an operator's path. A restore that a kill interrupted is
    /// finished first.
    pub fn open_root(path: &Path, options: Options) -> Result<Self> {
        Self::over(open_root(path)?, options)
    }

    /// Opens a directory beneath this one as a root of its own. No link on the way is followed,
    /// whoever put it there.
    pub fn open_beneath(&self, path: &Path, options: Options) -> Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(Error::Os(Errno::INVAL));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let root = openat2(&*self.root(), path, flags, Mode::empty(), resolve)?;
        Self::over(root, options)
    }

    fn over(root: OwnedFd, options: Options) -> Result<Self> {
        let path = real_path(&root)?;
        let beneath = Beneath::new(&path, options.mounts)?;
        options.staging.iter().try_for_each(|place| restore::finish(place, &root))?;
        let staging =
            options.staging.iter().find_map(|place| Staging::open(place, &root).ok()).map(Arc::new);
        let root = RwLock::new(Arc::new(root));
        Ok(Self { path, root, beneath, options, staging, restoring: Mutex::new(()) })
    }

    /// Where the directory is, without any link.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether unfinished files lie outside the tree.
    pub fn has_staging(&self) -> bool {
        self.staging.is_some()
    }

    /// Removes unfinished files that dead processes left in the tree, unless another process
    /// serves it too. Reads the whole tree, where staging outside it does not serve every path.
    pub fn sweep(&self) -> Result<()> {
        if self.staging.is_some() && self.options.mounts == Mounts::Stay {
            return Ok(());
        }
        let root = self.root();
        let alone = flock(&root, FlockOperation::NonBlockingLockExclusive).is_ok();
        let swept = match alone {
            true => sweep::tree(&self.open(Path::new(""), OFlags::RDONLY | OFlags::DIRECTORY)?),
            false => Ok(()),
        };
        // From here on it tells others that somebody serves the tree. Who asks holds it only for a
        // moment; who holds it longer means harm, and is not waited for.
        for _ in 0..LOCK_TRIES {
            if flock(&root, FlockOperation::NonBlockingLockShared).is_ok() {
                break;
            }
            thread::sleep(LOCK_PAUSE);
        }
        swept
    }

    /// What is at `path`, with links followed.
    pub fn stat(&self, path: &Path) -> Result<Stat> {
        stat::of(self.open(path, OFlags::PATH)?)
    }

    /// What is at `path`, if the kernel's caches know; none otherwise.
    pub fn stat_cached(&self, path: &Path) -> Result<Option<Stat>> {
        self.open_cached(path, OFlags::PATH)?.map(stat::of).transpose()
    }

    /// How much the tree holds.
    pub fn tally(&self) -> Result<Tally> {
        walk::tally(&self.open(Path::new(""), OFlags::RDONLY | OFlags::DIRECTORY)?)
    }

    pub(crate) fn beneath(&self) -> &Beneath {
        &self.beneath
    }

    pub(crate) fn mounts(&self) -> Mounts {
        self.options.mounts
    }

    /// The place outside the tree, unless somebody removed it.
    pub(crate) fn staging(&self) -> Option<&Arc<Staging>> {
        self.staging.as_ref().filter(|staging| !is_gone(staging.dir()))
    }

    /// Held by the one restore that is under way.
    pub(crate) fn restoring(&self) -> MutexGuard<'_, ()> {
        self.restoring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn root(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.root.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens a path beneath the root. A root that was removed is looked for once more.
    pub(crate) fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        let root = self.root();
        let outcome = self.beneath.open(&*root, path, flags);
        if !is_doubtful(path, &outcome) || !is_gone(&root) {
            return outcome;
        }
        self.renew().map_err(|_| Error::Unavailable)?;
        self.beneath.open(&*self.root(), path, flags)
    }

    /// As `open`, if the kernel's caches know the way and the root is surely there; none otherwise.
    pub(crate) fn open_cached(&self, path: &Path, flags: OFlags) -> Result<Option<OwnedFd>> {
        let root = self.root();
        let outcome = self.beneath.open_cached(&*root, path, flags);
        if is_doubtful(path, &outcome) && is_gone(&root) { Ok(None) } else { outcome }
    }

    /// Waits until a directory's names are on the disk.
    pub(crate) fn sync_names(&self, dir: &OwnedFd) -> Result<()> {
        self.sync_with(|| fsync(dir))
    }

    /// Waits until an open file is on the disk.
    pub(crate) fn sync_file(&self, file: &OwnedFd) -> Result<()> {
        self.sync_with(|| fsync(file))
    }

    /// Waits until everything on a file system is on the disk: for many files at once.
    pub(crate) fn sync_all(&self, anywhere: &OwnedFd) -> Result<()> {
        self.sync_with(|| syncfs(anywhere))
    }

    fn sync_with(&self, sync: impl FnOnce() -> rustix::io::Result<()>) -> Result<()> {
        match self.options.durability {
            Durability::Full => Ok(sync()?),
            Durability::Relaxed => Ok(()),
        }
    }

    /// Opens the root anew, where it really was and if it belongs to whom it belonged: what
    /// somebody else put in its place is not it.
    fn renew(&self) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let renewed = openat2(CWD, &self.path, flags, Mode::empty(), resolve)?;
        if stat::of(&renewed)?.uid != stat::of(&*self.root())?.uid {
            return Err(Error::Unavailable);
        }
        let renewed = Arc::new(renewed);
        *self.root.write().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(())
    }
}

fn open_root(path: &Path) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Where an open directory is, without any link.
fn real_path(dir: &OwnedFd) -> Result<PathBuf> {
    let path = readlinkat(CWD, format!("/proc/self/fd/{}", dir.as_raw_fd()), Vec::new())?;
    Ok(PathBuf::from(OsString::from_vec(path.into_bytes())))
}

/// Whether an answer may come from a root that was removed: it still opens, and holds nothing.
fn is_doubtful<T>(path: &Path, outcome: &Result<T>) -> bool {
    path.as_os_str().is_empty()
        || matches!(outcome, Err(Error::Unavailable | Error::Os(Errno::NOENT)))
}

/// A removed directory has no names left; a stale one does not even say so.
fn is_gone(root: &OwnedFd) -> bool {
    stat::of(root).map_or(true, |stat| stat.links == 0)
}
