//! The directory itself.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use rustix::fs::{
    CWD, FlockOperation, Mode, OFlags, ResolveFlags, flock, fsync, open, openat2, readlinkat,
    syncfs,
};
use rustix::io::Errno;

use crate::beneath::{AbsoluteLinks, Beneath, Owner};
use crate::mountinfo::Table;
use crate::staging::Staging;
use crate::{Error, Process, Result, Stat, Tally, restore, stat, sweep, walk};

const LOCK_TRIES: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// How a view holds the directory that it is confined to.
const FLOOR: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// A directory, held by its descriptor. Every path is relative to it; the empty path is itself.
///
/// A view of it ([`Dir::within`]) takes the same paths and leads to a part of it only.
#[derive(Debug)]
pub struct Dir {
    held: Arc<Held>,
    beneath: Beneath,
    /// What a view is confined to; empty for the whole.
    floor: PathBuf,
}

/// What a directory and all its views share.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    /// Replaced when the directory was removed and made anew.
    root: RwLock<Arc<OwnedFd>>,
    options: Options,
    staging: Option<Arc<Staging>>,
    restoring: Mutex<()>,
    /// In whose world the path is one; none for our own.
    process: Option<Arc<Process>>,
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
        let root = open_root(path)?;
        options.staging.iter().try_for_each(|place| restore::finish(place, &root))?;
        let staging = options.staging.iter().find_map(|place| Staging::open(place, &root).ok());
        Self::over(root, options, staging.map(Arc::new))
    }

    /// Opens a directory beneath this one as a root of its own, served in the same way. No link on
    /// the way is followed, whoever put it there.
    ///
    /// Unfinished files of both lie in one place, so that any number of such roots take one
    /// descriptor each. A directory of a container is opened by its process instead.
    pub fn open_beneath(&self, path: &Path) -> Result<Self> {
        if self.below(path)?.as_os_str().is_empty() || self.is_of_container() {
            return Err(Error::Os(Errno::INVAL));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let crossing = match self.mounts() {
            Mounts::Stay => ResolveFlags::NO_XDEV,
            Mounts::Cross => ResolveFlags::empty(),
        };
        let root = openat2(&*self.root(), path, flags, Mode::empty(), resolve | crossing)?;
        let options = self.held.options.clone();
        options.staging.iter().try_for_each(|place| restore::finish(place, &root))?;
        let mount = stat::of(&root)?.mount;
        let staging = self.staging().filter(|staging| staging.mount() == mount).cloned();
        // Whoever had it open before may have left a restore there.
        staging.iter().try_for_each(|staging| {
            restore::finish_in(staging.dir(), &root, &|name| staging.discard(name))
        })?;
        Self::over(root, options, staging)
    }

    /// Opens a directory of a process's own world, such as a container, as the process would find
    /// it: links on the way to it lead nowhere else, and the empty path is the root.
    ///
    /// - Beneath the root, absolute links mean what they mean in the container. Beneath any other
    ///   directory they lead out, as everywhere.
    /// - Mounts are crossed: a container's volumes are mounts. What belongs to the kernel, such as
    ///   `/proc`, is neither read nor written.
    /// - Unfinished files lie hidden beside their targets.
    pub fn of_process(process: Arc<Process>, path: &Path, durability: Durability) -> Result<Self> {
        let root = process.open(path)?;
        let links = match path.as_os_str().is_empty() {
            true => AbsoluteLinks::BeginAtRoot,
            false => AbsoluteLinks::LeadOut,
        };
        let options = Options { mounts: Mounts::Cross, durability, staging: Vec::new() };
        let beneath = Beneath::new(links, Owner::Container, options.mounts)?;
        if beneath.refuses(&root) {
            return Err(Error::Special);
        }
        Ok(Self::held(
            Held {
                path: path.to_owned(),
                root: RwLock::new(Arc::new(root)),
                options,
                staging: None,
                restoring: Mutex::new(()),
                process: Some(process),
            },
            beneath,
        ))
    }

    fn over(root: OwnedFd, options: Options, staging: Option<Arc<Staging>>) -> Result<Self> {
        let path = real_path(&root)?;
        // Over the whole machine an absolute link means what it says; nothing lies outside.
        let links = match path == Path::new("/") {
            true => AbsoluteLinks::BeginAtRoot,
            false => AbsoluteLinks::LeadOut,
        };
        let beneath = Beneath::new(links, Owner::Machine, options.mounts)?;
        let root = RwLock::new(Arc::new(root));
        let restoring = Mutex::new(());
        let held = Held { path, root, options, staging, restoring, process: None };
        Ok(Self::held(held, beneath))
    }

    fn held(held: Held, beneath: Beneath) -> Self {
        Self { held: Arc::new(held), beneath, floor: PathBuf::new() }
    }

    /// A view of what is at `floor` and beneath it, whatever that is at any moment: nothing may be
    /// there yet. No link on the way to it is followed, and none that leads out of it.
    pub fn within(&self, floor: &Path) -> Result<Self> {
        self.below(floor)?;
        let (held, floor) = (Arc::clone(&self.held), floor.to_owned());
        Ok(Self { held, beneath: self.beneath.of_a_part(), floor })
    }

    /// Where the directory is, without any link.
    pub fn path(&self) -> &Path {
        &self.held.path
    }

    /// What a view is confined to; empty for the whole.
    pub fn floor(&self) -> &Path {
        &self.floor
    }

    /// Whether a small change touches memory alone, as far as we can tell: it waits for no disk, and for
    /// no file system that somebody else answers for.
    pub fn changes_in_memory(&self) -> bool {
        let Options { mounts, durability, .. } = &self.held.options;
        *durability == Durability::Relaxed && *mounts == Mounts::Stay
    }

    /// Whether unfinished files lie outside the tree.
    pub fn has_staging(&self) -> bool {
        self.held.staging.is_some()
    }

    /// Removes unfinished files that dead processes left in the tree, unless another process
    /// serves it too. Reads the whole tree, where staging outside it does not serve every path.
    pub fn sweep(&self) -> Result<()> {
        if self.held.staging.is_some() && self.held.options.mounts == Mounts::Stay {
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

    /// How much the tree holds, or the part of it that this is a view of.
    pub fn tally(&self) -> Result<Tally> {
        walk::tally(&self.open(&self.floor, OFlags::RDONLY | OFlags::DIRECTORY)?)
    }

    pub(crate) fn beneath(&self) -> &Beneath {
        &self.beneath
    }

    pub(crate) fn mounts(&self) -> Mounts {
        self.held.options.mounts
    }

    /// Whether the tree is one of a container, and its mounts are none of ours.
    pub(crate) fn is_of_container(&self) -> bool {
        self.held.process.is_some()
    }

    /// What is mounted where, as the tree's own world sees it.
    pub(crate) fn mount_table(&self) -> Table<'_> {
        self.held.process.as_deref().map_or(Table::Own, Table::Of)
    }

    /// The place outside the tree, unless somebody removed it.
    pub(crate) fn staging(&self) -> Option<&Arc<Staging>> {
        self.held.staging.as_ref().filter(|staging| !is_gone(staging.dir()))
    }

    /// The place outside the tree, though it may have been removed.
    pub(crate) fn lasting_staging(&self) -> Option<&Arc<Staging>> {
        self.held.staging.as_ref()
    }

    /// Held by the one restore that is under way.
    pub(crate) fn restoring(&self) -> MutexGuard<'_, ()> {
        self.held.restoring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn root(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.held.root.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens a path beneath the root. A root that was removed is looked for once more.
    pub(crate) fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        let below = self.below(path)?;
        self.renewing(path, |root| {
            if self.is_whole() {
                return self.beneath.open(root, path, flags);
            }
            if below.as_os_str().is_empty() {
                return self.beneath.open_plain(root, path, flags);
            }
            // Held here, it confines whatever becomes of its name meanwhile.
            let floor = self.beneath.open_plain(root, &self.floor, FLOOR)?;
            self.beneath.open(floor, below, flags)
        })
    }

    /// As `open`, or opens a directory on the way to the floor, if that is missing or meant itself.
    pub(crate) fn open_toward(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        if self.is_whole() || !is_above(path, &self.floor) {
            return self.open(path, flags);
        }
        self.renewing(path, |root| self.beneath.open_plain(root, path, flags))
    }

    /// As `open`, if the kernel's caches know the way and the root is surely there; none otherwise.
    ///
    /// Whoever asks for it must not be held up. In a container that cannot be promised: what is found
    /// may be on a file system that the container answers for itself, or does not.
    pub(crate) fn open_cached(&self, path: &Path, flags: OFlags) -> Result<Option<OwnedFd>> {
        let below = self.below(path)?;
        if self.is_of_container() {
            return Ok(None);
        }
        let root = self.root();
        let outcome = if self.is_whole() {
            self.beneath.open_cached(&*root, path, flags)
        } else if below.as_os_str().is_empty() {
            self.beneath.open_plain_cached(&*root, path, flags)
        } else {
            match self.beneath.open_plain_cached(&*root, &self.floor, FLOOR)? {
                Some(floor) => self.beneath.open_cached(floor, below, flags),
                None => Ok(None),
            }
        };
        if is_doubtful(path, &outcome) && is_gone(&root) { Ok(None) } else { outcome }
    }

    /// What of a path lies beneath the floor. One that does not begin with it leads out.
    pub(crate) fn below<'a>(&self, path: &'a Path) -> Result<&'a Path> {
        if self.is_whole() {
            return Ok(path);
        }
        below(path, &self.floor).ok_or(Error::Outside)
    }

    /// Whether this is no view but the directory itself.
    fn is_whole(&self) -> bool {
        self.floor.as_os_str().is_empty()
    }

    fn renewing(&self, path: &Path, open: impl Fn(&OwnedFd) -> Result<OwnedFd>) -> Result<OwnedFd> {
        let root = self.root();
        let outcome = open(&root);
        if !is_doubtful(path, &outcome) || !is_gone(&root) {
            return outcome;
        }
        self.renew().map_err(|_| Error::Unavailable)?;
        open(&self.root())
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
        match self.held.options.durability {
            Durability::Full => Ok(sync()?),
            Durability::Relaxed => Ok(()),
        }
    }

    /// Opens the root anew, where it really was and if it belongs to whom it belonged: what
    /// somebody else put in its place is not it.
    fn renew(&self) -> Result<()> {
        let renewed = match &self.held.process {
            // Its path is one of another world: in ours it would be something else.
            Some(process) => process.open(&self.held.path)?,
            None => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
                openat2(CWD, &self.held.path, flags, Mode::empty(), resolve)?
            }
        };
        let is_another = match self.is_of_container() {
            // Whoever has a directory there has it from the container, whose tree is meant.
            true => self.beneath.refuses(&renewed),
            false => stat::of(&renewed)?.uid != stat::of(&*self.root())?.uid,
        };
        if is_another {
            return Err(Error::Unavailable);
        }
        let renewed = Arc::new(renewed);
        *self.held.root.write().unwrap_or_else(PoisonError::into_inner) = renewed;
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

/// What follows a directory in a path, byte by byte: a `..` is the kernel's to judge.
fn below<'a>(path: &'a Path, dir: &Path) -> Option<&'a Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(dir.as_os_str().as_bytes())?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(b"/")? };
    Some(Path::new(OsStr::from_bytes(rest)))
}

/// Whether a directory lies on the way to another.
fn is_above(path: &Path, dir: &Path) -> bool {
    path.as_os_str().is_empty() || below(dir, path).is_some_and(|rest| !rest.as_os_str().is_empty())
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
