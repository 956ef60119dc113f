//! A name in an open directory: what every change acts on.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, readlinkat, symlinkat, unlinkat};
use rustix::io::Errno;

use crate::owner::Owner;
use crate::{Dir, Error, Kind, Mounts, Result, Stat, beneath, stat};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
const TO_CHANGE: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Whether a link in the last place is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Its target is meant.
    Follow,
    /// It is meant itself.
    Keep,
}

/// Whether missing directories on the way are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parents {
    /// They are made.
    Create,
    /// They must be there.
    Require,
}

/// A name, present or not, in a directory that is held open.
///
/// Directories that were made on the way are removed again when the spot is dropped before
/// [`Spot::keep_parents`].
#[derive(Debug)]
pub struct Spot {
    pub(crate) dir: OwnedFd,
    pub(crate) name: OsString,
    made: Made,
    seen: Option<Stat>,
    /// The state of the directory, once it was asked for.
    surroundings: OnceLock<Stat>,
}

impl Dir {
    /// The spot that a path means.
    pub fn spot(&self, path: &Path, links: Links, parents: Parents) -> Result<Spot> {
        let mut path = path.to_path_buf();
        for _ in 0..=MOST_LINKS {
            // The floor of a view lies in a directory above it, which only it is looked for in.
            let is_floor = self.below(&path)?.as_os_str().is_empty();
            let (dir, name) = beneath::split(&path)?;
            let mut made = Made::default();
            let dir_fd = match (self.open_toward(dir, TO_CHANGE), parents) {
                (Err(Error::Os(Errno::NOENT)), Parents::Create) => self.make(dir, &mut made)?,
                (outcome, _) => outcome?,
            };
            if crate::is_reserved(name) {
                return Err(Error::Reserved);
            }
            let spot = Spot { made, ..Spot::in_dir(dir_fd, name.into()) };
            match spot.stat()? {
                Some(Stat { kind: Kind::Symlink, .. }) if is_floor => return Err(Error::Outside),
                Some(Stat { kind: Kind::Symlink, .. }) if links == Links::Follow => {
                    path = self.link_target(dir, &spot)?;
                }
                Some(there) => return self.on_this_mount(spot, &there),
                None => return Ok(spot),
            }
        }
        Err(Error::Os(Errno::LOOP))
    }

    /// How many directories on the way to `path`, itself included, are missing.
    pub fn missing_dirs(&self, path: &Path) -> Result<usize> {
        let mut missing = 0;
        for dir in path.ancestors() {
            match self.open_toward(dir, OFlags::PATH) {
                Err(Error::Os(Errno::NOENT)) => missing += 1,
                outcome => return outcome.map(|_| missing),
            }
        }
        Ok(missing)
    }

    /// What a link holds.
    pub fn read_link(&self, path: &Path) -> Result<OsString> {
        let spot = self.spot(path, Links::Keep, Parents::Require)?;
        let target = readlinkat(&spot.dir, &*spot.name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Makes a directory at a spot; what is there already is left alone and is an error.
    pub fn make_dir(&self, spot: &Spot) -> Result<()> {
        spot.make_dir()?;
        self.sync_names(&spot.dir)
    }

    /// Makes a link that holds `target` as it is.
    pub fn symlink(&self, spot: &Spot, target: &OsStr) -> Result<()> {
        symlinkat(target, &spot.dir, &*spot.name)?;
        self.sync_names(&spot.dir)
    }

    /// Opens a directory whose last names are missing, and makes those.
    fn make(&self, path: &Path, made: &mut Made) -> Result<OwnedFd> {
        let mut missing = vec![path];
        while let Some(parent) = missing.last().and_then(|last| last.parent()) {
            match self.open_toward(parent, TO_CHANGE) {
                Err(Error::Os(Errno::NOENT)) => missing.push(parent),
                Err(err) => return Err(err),
                Ok(_) => break,
            }
        }
        for dir in missing.iter().rev() {
            let (parent, name) = beneath::split(dir)?;
            let spot = Spot::in_dir(self.open_toward(parent, TO_CHANGE)?, name.into());
            match spot.make_dir() {
                Ok(()) => made.0.push((spot.dir, spot.name)),
                Err(Error::Os(Errno::EXIST)) => continue,
                Err(err) => return Err(err),
            }
            made.0.last().map_or(Ok(()), |(parent, _)| self.sync_names(parent))?;
        }
        let opened = self.open_toward(path, TO_CHANGE);
        // A dangling link on the way exists and leads nowhere.
        let is_link = |dir: &&Path| self.read_link(dir).is_ok();
        match opened {
            Err(Error::Os(Errno::NOENT)) if missing.iter().any(is_link) => {
                Err(Error::Os(Errno::NOTDIR))
            }
            opened => opened,
        }
    }

    /// The path that a link leads to, as the kernel will read it: `..` in it is resolved there,
    /// against the directories that really are on the way, and stays beneath the root.
    fn link_target(&self, dir: &Path, spot: &Spot) -> Result<PathBuf> {
        let target = readlinkat(&spot.dir, &*spot.name, Vec::new())?.into_bytes();
        if target.first() == Some(&b'/') {
            return match self.beneath().is_whole() {
                true => Ok(PathBuf::from(OsString::from_vec(target))),
                false => Err(Error::Outside),
            };
        }
        let mut joined = dir.as_os_str().as_bytes().to_vec();
        if !joined.is_empty() {
            joined.push(b'/');
        }
        joined.extend_from_slice(&target);
        Ok(PathBuf::from(OsString::from_vec(joined)))
    }

    /// What is at a spot, not followed. What belongs to the kernel in a container is special.
    pub fn stat_spot(&self, spot: &Spot) -> Result<Option<Stat>> {
        spot.stat()?.map(|there| self.as_seen(&spot.dir, &spot.name, there)).transpose()
    }

    /// The same state, of something special where that is a mount of the kernel's in a container.
    pub(crate) fn as_seen(&self, dir: &OwnedFd, name: &OsStr, there: Stat) -> Result<Stat> {
        if !self.is_of_container() || there.mount == stat::of(dir)?.mount {
            return Ok(there);
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(dir, name, flags, Mode::empty()) {
            Ok(held) if self.beneath().refuses(&held) => Ok(Stat { kind: Kind::Special, ..there }),
            Ok(_) | Err(_) => Ok(there),
        }
    }

    fn on_this_mount(&self, spot: Spot, there: &Stat) -> Result<Spot> {
        let crossed = self.mounts() == Mounts::Stay && there.mount != spot.surroundings()?.mount;
        if crossed { Err(Error::Outside) } else { Ok(Spot { seen: Some(*there), ..spot }) }
    }
}

impl Spot {
    /// What is there now, not followed.
    pub fn stat(&self) -> Result<Option<Stat>> {
        stat::if_there(&self.dir, &*self.name)
    }

    /// What was there when a path led to the spot.
    pub fn seen(&self) -> Option<Stat> {
        self.seen
    }

    /// The state of the directory when it was first asked for: whose it is, and on which mount.
    pub(crate) fn surroundings(&self) -> Result<&Stat> {
        if let Some(known) = self.surroundings.get() {
            return Ok(known);
        }
        let stat = stat::of(&self.dir)?;
        Ok(self.surroundings.get_or_init(|| stat))
    }

    /// Whether something is mounted there. The kernel refuses to replace or remove that only where
    /// the mount is one of ours; in a container it would take the mount away instead.
    pub(crate) fn is_mount_point(&self) -> Result<bool> {
        let there = self.stat()?;
        Ok(there.is_some_and(|there| self.surroundings().is_ok_and(|dir| dir.mount != there.mount)))
    }

    /// Holds what is there without opening it.
    pub(crate) fn look(&self) -> Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.dir, &*self.name, flags, Mode::empty())?)
    }

    /// How many directories were made on the way.
    pub fn made(&self) -> usize {
        self.made.0.len()
    }

    /// Identifies the spot among all others: device and number of the directory, and the name.
    pub fn identity(&self) -> Result<((u32, u32), u64, &OsStr)> {
        let dir = self.surroundings()?;
        Ok((dir.device, dir.inode, &self.name))
    }

    /// Lets the directories that were made stay.
    pub fn keep_parents(mut self) {
        self.made.0.clear();
    }

    /// Whether both mean one name in one directory.
    pub fn is_same(&self, other: &Self) -> Result<bool> {
        Ok(self.identity()? == other.identity()?)
    }

    pub(crate) fn make_dir(&self) -> Result<()> {
        mkdirat(&self.dir, &*self.name, Mode::from_raw_mode(0o755))?;
        Owner::of_new_in(self.surroundings()?).give_new_dir(&self.dir, &self.name)
    }

    pub(crate) fn in_dir(dir: OwnedFd, name: OsString) -> Self {
        Self { dir, name, made: Made::default(), seen: None, surroundings: OnceLock::new() }
    }
}

/// Directories made on the way to a spot, the outermost first; removed again unless kept.
#[derive(Debug, Default)]
struct Made(Vec<(OwnedFd, OsString)>);

impl Drop for Made {
    fn drop(&mut self) {
        while let Some((dir, name)) = self.0.pop() {
            // One that is in use by now stays.
            let _in_use = unlinkat(&dir, &*name, AtFlags::REMOVEDIR);
        }
    }
}
