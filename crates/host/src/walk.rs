//! Trees, walked by descriptors: no recursion, few open files, whatever the depth.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::rc::Rc;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, chmodat, fchmod, openat2, renameat_with,
    unlinkat,
};
use rustix::io::Errno;

use crate::beneath::LEFT_TRIES;
use crate::staging::random_name;
use crate::{Error, Kind, Result, copy, is_reserved, list, stat};

/// The longest path that one call takes.
const HOP: usize = 4095;
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);
const INWARD: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_XDEV);

/// How much a tree holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The lengths of all regular files, added up.
    pub bytes: u64,
    /// Everything that is not a directory.
    pub files: u64,
    /// Directories, the top one included.
    pub directories: u64,
}

/// Opens a directory beneath `top` by its names, in as many hops as their length needs.
pub(crate) fn open_beneath(top: &OwnedFd, names: &[u8]) -> Result<OwnedFd> {
    let mut rest = names;
    let mut dir = child(top, OsStr::new("."))?;
    while !rest.is_empty() {
        let hop = match rest.len() {
            len if len <= HOP => len,
            _ => rest.iter().take(HOP).rposition(|byte| *byte == b'/').unwrap_or(HOP),
        };
        let (now, later) = rest.split_at(hop);
        dir = child(&dir, OsStr::from_bytes(now))?;
        rest = later.strip_prefix(b"/").unwrap_or(later);
    }
    Ok(dir)
}

/// Opens a directory beneath `dir` without following any link or crossing any mount.
pub(crate) fn child(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    inward(dir, name, DIRECTORY)
}

fn inward(dir: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd> {
    let mut left = 0;
    loop {
        match openat2(dir, name, flags, Mode::empty(), INWARD) {
            // It was moved away in this moment, or lies on another mount, which it does every time.
            Err(Errno::XDEV) if left < LEFT_TRIES => left += 1,
            outcome => return Ok(outcome?),
        }
    }
}

/// A tree's directories, the outer ones first. It remembers one path and the names still to be
/// visited, so that neither depth nor size of the tree counts for much.
pub(crate) struct Walk<'a> {
    top: &'a OwnedFd,
    /// Where the walk is, with slashes between the names, and where each name ends.
    names: Vec<u8>,
    ends: Vec<usize>,
    pending: Vec<(usize, OsString)>,
    here: Option<Rc<OwnedFd>>,
    stepped_down: bool,
    begun: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(top: &'a OwnedFd) -> Self {
        let (names, ends, pending) = (Vec::new(), Vec::new(), Vec::new());
        Self { top, names, ends, pending, here: None, stepped_down: false, begun: false }
    }

    /// Adds a child of the directory where the walk is.
    pub(crate) fn push(&mut self, name: &OsStr) {
        self.pending.push((self.depth(), name.to_owned()));
    }

    /// How deep the walk is; 0 at the top.
    pub(crate) fn depth(&self) -> usize {
        self.ends.len()
    }

    /// The name of the directory where the walk is; empty at the top.
    pub(crate) fn name(&self) -> &OsStr {
        let start = self.ends.iter().rev().nth(1).map_or(0, |end| end + 1);
        OsStr::from_bytes(self.names.get(start..).unwrap_or_default())
    }

    /// The next directory that still exists.
    pub(crate) fn next(&mut self) -> Option<Result<Rc<OwnedFd>>> {
        loop {
            let opened = if self.begun {
                let (depth, name) = self.pending.pop()?;
                self.step(depth, &name)
            } else {
                self.begun = true;
                open_beneath(self.top, b"")
            };
            match opened {
                Err(Error::Os(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => {}
                outcome => {
                    let opened = outcome.map(Rc::new);
                    self.here = opened.as_ref().ok().map(Rc::clone);
                    return Some(opened);
                }
            }
        }
    }

    fn step(&mut self, depth: usize, name: &OsStr) -> Result<OwnedFd> {
        // The directory after another one is most often its child, and is then opened from it.
        let parent = self.here.take().filter(|_| depth == self.depth());
        self.stepped_down = parent.is_some();
        self.ends.truncate(depth);
        self.names.truncate(self.ends.last().copied().unwrap_or(0));
        if !self.names.is_empty() {
            self.names.push(b'/');
        }
        self.names.extend_from_slice(name.as_bytes());
        self.ends.push(self.names.len());
        match parent {
            Some(parent) => child(&parent, name),
            None => open_beneath(self.top, &self.names),
        }
    }
}

/// Goes through another tree along the same names.
pub(crate) struct Follower<'a> {
    top: &'a OwnedFd,
    here: Option<Rc<OwnedFd>>,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(top: &'a OwnedFd) -> Self {
        Self { top, here: None }
    }

    /// The directory that has the names of the one where the walk is. To be called at each.
    pub(crate) fn follow(&mut self, walk: &Walk<'_>) -> Result<Rc<OwnedFd>> {
        let dir = match self.here.take().filter(|_| walk.stepped_down) {
            Some(parent) => child(&parent, walk.name())?,
            None => open_beneath(self.top, &walk.names)?,
        };
        let dir = Rc::new(dir);
        self.here = Some(Rc::clone(&dir));
        Ok(dir)
    }
}

/// Counts a tree.
pub(crate) fn tally(top: &OwnedFd) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut walk = Walk::new(top);
    while let Some(next) = walk.next() {
        let dir = match next {
            // What cannot be read is not counted; another mount is not ours.
            Err(Error::Os(Errno::ACCESS | Errno::XDEV)) => continue,
            next => next?,
        };
        tally.directories += 1;
        list::each(&dir, |name, kind| {
            match kind {
                _ if is_reserved(name) => {}
                Kind::Directory => walk.push(name),
                Kind::File => {
                    tally.files += 1;
                    let size = stat::of_name(&dir, name).map_or(0, |stat| stat.size);
                    tally.bytes = tally.bytes.saturating_add(size);
                }
                Kind::Symlink | Kind::Special => tally.files += 1,
            }
            Ok(())
        })?;
    }
    Ok(tally)
}

/// Removes a name and everything beneath it, with three open directories at most.
///
/// What lies two levels down is moved up into the top directory before its parent goes, so that
/// the depth does not matter. The tree should be out of others' reach.
pub(crate) fn remove(dir: &OwnedFd, name: &OsStr) -> Result<()> {
    match unlinkat(dir, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        outcome => return Ok(outcome?),
    }
    if unlinkat(dir, name, AtFlags::REMOVEDIR).is_ok() {
        return Ok(());
    }
    let top = writable_child(dir, name)?;
    match remove_flat(dir, name, &top) {
        // An overlay cannot move what its lower layers hold.
        Err(Error::Os(Errno::XDEV)) => remove_bottom_up(dir, name, &top),
        outcome => outcome,
    }
}

/// Removes a tree from its leaves up, one open directory at a time; its depth costs time.
fn remove_bottom_up(dir: &OwnedFd, name: &OsStr, top: &OwnedFd) -> Result<()> {
    let mut way: Vec<OsString> = Vec::new();
    loop {
        let names: Vec<&[u8]> = way.iter().map(|name| name.as_bytes()).collect();
        let here = open_beneath(top, &names.join(&b'/'))?;
        let mut full = None;
        list::each(&here, |child, kind| {
            let flags = match kind {
                Kind::Directory => AtFlags::REMOVEDIR,
                Kind::File | Kind::Symlink | Kind::Special => AtFlags::empty(),
            };
            match gone(unlinkat(&here, child, flags)) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => full = Some(child.to_owned()),
                outcome => outcome?,
            }
            Ok(())
        })?;
        match full {
            Some(child) => way.push(child),
            None if way.is_empty() => return Ok(unlinkat(dir, name, AtFlags::REMOVEDIR)?),
            None => drop(way.pop()),
        }
    }
}

fn remove_flat(dir: &OwnedFd, name: &OsStr, top: &OwnedFd) -> Result<()> {
    loop {
        let mut found = false;
        list::each(top, |name, kind| {
            found = true;
            match kind {
                Kind::Directory => empty_and_remove(top, name),
                Kind::File | Kind::Symlink | Kind::Special => {
                    Ok(gone(unlinkat(top, name, AtFlags::empty()))?)
                }
            }
        })?;
        if !found {
            return Ok(unlinkat(dir, name, AtFlags::REMOVEDIR)?);
        }
        copy::rewind(top)?;
    }
}

fn empty_and_remove(top: &OwnedFd, name: &OsStr) -> Result<()> {
    match gone(unlinkat(top, name, AtFlags::REMOVEDIR)) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        outcome => return Ok(outcome?),
    }
    let dir = writable_child(top, name)?;
    list::each(&dir, |child, kind| match kind {
        Kind::Directory => match gone(unlinkat(&dir, child, AtFlags::REMOVEDIR)) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => lift(&dir, child, top),
            outcome => Ok(outcome?),
        },
        Kind::File | Kind::Symlink | Kind::Special => {
            Ok(gone(unlinkat(&dir, child, AtFlags::empty()))?)
        }
    })?;
    // A process that still works in there may add to it; the next pass over the top meets it.
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
        outcome => Ok(outcome?),
    }
}

fn lift(dir: &OwnedFd, child: &OsStr, top: &OwnedFd) -> Result<()> {
    let name: OsString = random_name()?;
    Ok(renameat_with(dir, child, top, &*name, RenameFlags::NOREPLACE)?)
}

fn gone(outcome: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match outcome {
        Err(Errno::NOENT) => Ok(()),
        outcome => outcome,
    }
}

/// Opens a directory that is to be emptied, whatever its mode forbids its owner.
pub(crate) fn writable_child(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    let opened = match child(dir, name) {
        Err(Error::Os(Errno::ACCESS)) => {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let looked_at = inward(dir, name, flags)?;
            let own = format!("/proc/self/fd/{}", looked_at.as_raw_fd());
            chmodat(CWD, own, Mode::RWXU, AtFlags::empty())?;
            child(dir, name)?
        }
        outcome => outcome?,
    };
    if stat::of(&opened)?.mode & 0o300 != 0o300 {
        let _not_ours = fchmod(&opened, Mode::RWXU);
    }
    Ok(opened)
}
