//! A tree that is built out of sight and appears when it is whole.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, linkat, mkdirat, openat, symlinkat, unlinkat};
use rustix::io::Errno;

use crate::owner::Owner;
use crate::read::write_all_at;
use crate::replace::{rename_new, set_link_time, set_mode_and_time};
use crate::scratch::Scratch;
use crate::walk::{child, open_beneath};
use crate::{Dir, Error, Kind, Links, Parents, Result, Spot, Tally, Time, beneath, stat};

const FRESH: OFlags = OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::CLOEXEC);
const PIECE: usize = 128 << 10;

/// A tree in the making. Dropped before it is published, it never was.
#[derive(Debug)]
pub struct StagedTree {
    scratch: Scratch,
    top: OwnedFd,
    owner: Owner,
    /// The directory of the last member, since the next one is most often its neighbour.
    last: Option<(PathBuf, OwnedFd)>,
    /// Modes and times of directories, which only hold once everything is in them.
    directories: Vec<(PathBuf, u32, Time)>,
    tally: Tally,
    space: Vec<u8>,
}

impl Dir {
    /// Begins a tree that is to appear at `path`.
    pub fn begin_tree(&self, path: &Path) -> Result<StagedTree> {
        let near = match self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK) {
            Err(Error::Os(Errno::NOENT)) => self.nearest_dir(path)?,
            outcome => outcome?,
        };
        let scratch = self.scratch(&near)?;
        let spot = scratch.spot();
        mkdirat(&spot.dir, &*spot.name, Mode::from_raw_mode(0o755))?;
        let top = child(&spot.dir, &spot.name)?;
        let owner = Owner::of_new_in(&stat::of(&near)?);
        owner.give(&top)?;
        let tally = Tally::default();
        let space = vec![0; PIECE];
        Ok(StagedTree { scratch, top, owner, last: None, directories: Vec::new(), tally, space })
    }

    /// Lets a finished tree appear at `path`: as a whole where nothing is, else by pouring it into
    /// the directory that is there. Gives what was replaced.
    pub fn publish(&self, mut tree: StagedTree, path: &Path) -> Result<Tally> {
        tree.finish_directories()?;
        self.sync_all(&tree.top)?;
        match self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK) {
            Ok(dest) => return self.merge_into(&tree.top, &dest),
            Err(Error::Os(Errno::NOENT)) => {}
            Err(err) => return Err(err),
        }
        let spot = self.spot(path, Links::Follow, Parents::Create)?;
        match rename_new(&tree.spot().dir, &tree.spot().name, &spot.dir, &spot.name) {
            // Somebody made the directory meanwhile.
            Err(Error::Os(Errno::EXIST)) => {
                return self.merge_into(&tree.top, &child(&spot.dir, &spot.name)?);
            }
            outcome => outcome?,
        }
        self.sync_names(&spot.dir)?;
        spot.keep_parents();
        Ok(Tally::default())
    }
}

impl StagedTree {
    /// How much was put into it so far, the top directory not counted.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Adds a directory.
    pub fn directory(&mut self, path: &Path, mode: u32, modified: Time) -> Result<()> {
        let (parent, name) = beneath::split(path)?;
        let dir = self.parent(parent)?;
        self.make_dir(&dir, name)?;
        self.directories.push((path.into(), mode, modified));
        Ok(())
    }

    /// Adds a file with the content that a reader gives; a member of that name is replaced.
    pub fn file(
        &mut self,
        path: &Path,
        (mode, modified): (u32, Time),
        content: &mut dyn Read,
    ) -> Result<u64, TreeError> {
        let (parent, name) = beneath::split(path)?;
        let dir = self.parent(parent)?;
        self.make_room(&dir, name)?;
        let file = openat(&dir, name, FRESH, Mode::RUSR | Mode::WUSR).map_err(Error::from)?;
        let mut len = 0;
        loop {
            let read = match content.read(&mut self.space) {
                Err(err) if err.kind() == std::io::ErrorKind::Interrupted => continue,
                outcome => outcome.map_err(TreeError::Content)?,
            };
            if read == 0 {
                break;
            }
            let piece = self.space.get(..read).unwrap_or_default();
            write_all_at(&file, piece, len)?;
            len += read as u64;
        }
        self.owner.give(&file)?;
        set_mode_and_time(&file, mode, modified)?;
        self.tally.files += 1;
        self.tally.bytes += len;
        Ok(len)
    }

    /// Adds a link that holds `target` as it is.
    pub fn symlink(&mut self, path: &Path, target: &OsStr, modified: Time) -> Result<()> {
        let (parent, name) = beneath::split(path)?;
        let dir = self.parent(parent)?;
        self.make_room(&dir, name)?;
        symlinkat(target, &dir, name)?;
        set_link_time(&dir, name, modified)?;
        self.tally.files += 1;
        Ok(())
    }

    /// Adds a second name for a file that is a member already.
    pub fn hard_link(&mut self, path: &Path, member: &Path) -> Result<()> {
        let (from_parent, from_name) = beneath::split(member)?;
        let from = open_beneath(&self.top, from_parent.as_os_str().as_bytes())?;
        let seen = stat::of_name(&from, from_name)?;
        if seen.kind != Kind::File {
            return Err(Error::Special);
        }
        let (parent, name) = beneath::split(path)?;
        let dir = self.parent(parent)?;
        self.make_room(&dir, name)?;
        linkat(&from, from_name, &dir, name, AtFlags::empty())?;
        self.tally.files += 1;
        self.tally.bytes += seen.size;
        Ok(())
    }

    pub(crate) fn top(&self) -> &OwnedFd {
        &self.top
    }

    pub(crate) fn is_private(&self) -> bool {
        self.scratch.is_private()
    }

    fn spot(&self) -> &Spot {
        self.scratch.spot()
    }

    /// Opens the directory of a member and makes what is missing of it.
    fn parent(&mut self, path: &Path) -> Result<OwnedFd> {
        let kept = match self.last.take() {
            Some((last, dir)) if last == path => dir,
            _ => self.make_all(path)?,
        };
        let dir = kept.try_clone().map_err(|_| Errno::MFILE)?;
        self.last = Some((path.into(), kept));
        Ok(dir)
    }

    fn make_all(&mut self, path: &Path) -> Result<OwnedFd> {
        match open_beneath(&self.top, path.as_os_str().as_bytes()) {
            Err(Error::Os(Errno::NOENT)) => {}
            outcome => return outcome,
        }
        let mut dir = child(&self.top, OsStr::new("."))?;
        for name in path {
            self.make_dir(&dir, name)?;
            dir = child(&dir, name)?;
        }
        Ok(dir)
    }

    fn make_dir(&mut self, dir: &OwnedFd, name: &OsStr) -> Result<()> {
        match mkdirat(dir, name, Mode::from_raw_mode(0o755)) {
            Ok(()) => {}
            Err(Errno::EXIST) if stat::of_name(dir, name)?.kind == Kind::Directory => return Ok(()),
            Err(Errno::EXIST) => return Err(Error::OverFile),
            Err(errno) => return Err(errno.into()),
        }
        self.tally.directories += 1;
        self.owner.give_new_dir(dir, name)
    }

    /// The last member of a name wins, but never over a directory.
    fn make_room(&mut self, dir: &OwnedFd, name: &OsStr) -> Result<()> {
        match stat::of_name(dir, name) {
            Err(Error::Os(Errno::NOENT)) => Ok(()),
            Ok(there) if there.kind == Kind::Directory => Err(Error::OverDirectory),
            Ok(there) => {
                unlinkat(dir, name, AtFlags::empty())?;
                self.tally.files -= 1;
                self.tally.bytes -= if there.kind == Kind::File { there.size } else { 0 };
                Ok(())
            }
            Err(err) => Err(err),
        }
    }

    /// What was said of a directory last holds.
    fn finish_directories(&mut self) -> Result<()> {
        for (path, mode, modified) in &std::mem::take(&mut self.directories) {
            let dir = open_beneath(&self.top, path.as_os_str().as_bytes())?;
            // Without these bits its owner could never remove it through us again.
            set_mode_and_time(&dir, *mode | 0o700, *modified)?;
        }
        Ok(())
    }
}

/// Why a member could not be added.
#[derive(Debug)]
pub enum TreeError {
    /// The tree could not take it.
    Tree(Error),
    /// Its content could not be read.
    Content(std::io::Error),
}

impl From<Error> for TreeError {
    fn from(err: Error) -> Self {
        Self::Tree(err)
    }
}
