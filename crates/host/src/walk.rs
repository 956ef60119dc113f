//! Trees, walked by descriptors: no recursion, few open files, whatever the depth.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, chmodat, fchmod, openat2, renameat_with,
    unlinkat,
};
use rustix::io::Errno;

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

/// A directory in a tree, by the names that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node(Vec<u8>);

impl Node {
    pub(crate) fn top() -> Self {
        Self(Vec::new())
    }

    /// The directory that these names lead to, with slashes between them.
    pub(crate) fn at(names: &[u8]) -> Self {
        Self(names.to_vec())
    }

    pub(crate) fn child(&self, name: &OsStr) -> Self {
        let mut names = Vec::with_capacity(self.0.len() + 1 + name.len());
        names.extend_from_slice(&self.0);
        if !names.is_empty() {
            names.push(b'/');
        }
        names.extend_from_slice(name.as_bytes());
        Self(names)
    }

    pub(crate) fn parts(&self) -> (&[u8], &OsStr) {
        match self.0.iter().rposition(|byte| *byte == b'/') {
            Some(at) => {
                let (parent, name) = self.0.split_at(at);
                (parent, OsStr::from_bytes(name.get(1..).unwrap_or_default()))
            }
            None => (b"", OsStr::from_bytes(&self.0)),
        }
    }

    /// Opens it beneath `top`, in as many hops as its length needs.
    pub(crate) fn open(&self, top: &OwnedFd) -> Result<OwnedFd> {
        let mut rest = &self.0[..];
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
}

/// Opens a directory beneath `dir` without following any link or crossing any mount.
pub(crate) fn child(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    Ok(openat2(dir, name, DIRECTORY, Mode::empty(), INWARD)?)
}

/// Directories still to be visited. The one after a directory is most often its child, and is
/// then opened from it.
pub(crate) struct Walk<'a> {
    top: &'a OwnedFd,
    pending: Vec<Node>,
    last: Option<(Node, OwnedFd)>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(top: &'a OwnedFd) -> Self {
        Self { top, pending: vec![Node::top()], last: None }
    }

    pub(crate) fn push(&mut self, node: Node) {
        self.pending.push(node);
    }

    /// The next directory that still exists.
    pub(crate) fn next(&mut self) -> Option<Result<(Node, OwnedFd)>> {
        loop {
            let node = self.pending.pop()?;
            match self.open(&node) {
                Err(Error::Os(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)) => {}
                outcome => return Some(outcome.map(|dir| (node, dir))),
            }
        }
    }

    fn open(&mut self, node: &Node) -> Result<OwnedFd> {
        let (parent, name) = node.parts();
        let dir = match &self.last {
            Some((last, dir)) if last.0 == parent && !node.0.is_empty() => child(dir, name)?,
            _ => node.open(self.top)?,
        };
        let kept = dir.try_clone().map_err(|_| Errno::MFILE)?;
        self.last = Some((node.clone(), kept));
        Ok(dir)
    }
}

/// Counts a tree.
pub(crate) fn tally(top: &OwnedFd) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut walk = Walk::new(top);
    while let Some(next) = walk.next() {
        let (node, dir) = match next {
            // What cannot be read is not counted; another mount is not ours.
            Err(Error::Os(Errno::ACCESS | Errno::XDEV)) => continue,
            next => next?,
        };
        tally.directories += 1;
        list::each(&dir, |name, kind| {
            match kind {
                _ if is_reserved(name) => {}
                Kind::Directory => walk.push(node.child(name)),
                Kind::File => {
                    tally.files += 1;
                    tally.bytes += stat::of_name(&dir, name).map_or(0, |stat| stat.size);
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
    loop {
        let mut found = false;
        list::each(&top, |name, kind| {
            found = true;
            match kind {
                Kind::Directory => empty_and_remove(&top, name),
                Kind::File | Kind::Symlink | Kind::Special => {
                    Ok(gone(unlinkat(&top, name, AtFlags::empty()))?)
                }
            }
        })?;
        if !found {
            return Ok(unlinkat(dir, name, AtFlags::REMOVEDIR)?);
        }
        copy::rewind(&top)?;
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
fn writable_child(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd> {
    let opened = match child(dir, name) {
        Err(Error::Os(Errno::ACCESS)) => {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let looked_at = openat2(dir, name, flags, Mode::empty(), INWARD)?;
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
