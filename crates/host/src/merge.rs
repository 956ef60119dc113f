//! One tree poured into another: directories are united, files replaced.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, renameat, unlinkat};
use rustix::io::Errno;

use crate::walk::{Follower, Walk, child, open_beneath};
use crate::{Dir, Error, Kind, Result, Spot, Stat, Tally, list, stat};

impl Dir {
    /// Merges the directory at `from` into the directory at `to`, entry by entry; gives what was
    /// replaced, and as directories those that were united. Whether a file would meet a directory is checked for all before anything moves.
    pub fn merge(&self, from: &Spot, to: &Spot) -> Result<Tally> {
        let (source, dest) = (child(&from.dir, &from.name)?, child(&to.dir, &to.name)?);
        let replaced = self.merge_into(&source, &dest)?;
        unlinkat(&from.dir, &*from.name, AtFlags::REMOVEDIR)?;
        self.sync_names(&from.dir)?;
        Ok(replaced)
    }

    /// Empties the tree `source` into `dest`.
    pub(crate) fn merge_into(&self, source: &OwnedFd, dest: &OwnedFd) -> Result<Tally> {
        visit(source, dest, |_, to, _, source, dest| match dest {
            Some(dest) if self.is_of_container() && dest.mount != stat::of(to)?.mount => {
                Err(Errno::BUSY.into())
            }
            Some(_) if source == Kind::Directory => Err(Error::OverFile),
            Some(dest) if dest.kind == Kind::Directory => Err(Error::OverDirectory),
            _ => Ok(()),
        })?;
        let mut replaced = Tally::default();
        let united = visit(source, dest, |from, to, name, _, dest| {
            if let Some(dest) = dest {
                replaced.files += 1;
                replaced.bytes += if dest.kind == Kind::File { dest.size } else { 0 };
            }
            Ok(renameat(from, name, to, name)?)
        })?;
        united.remove_empty(source)?;
        replaced.directories = united.all.len() as u64;
        self.sync_all(dest)?;
        Ok(replaced)
    }
}

/// Calls `each` with every pair that is not a directory on both sides; gives the directories that
/// are.
fn visit(
    source: &OwnedFd,
    dest: &OwnedFd,
    mut each: impl FnMut(&OwnedFd, &OwnedFd, &OsStr, Kind, Option<Stat>) -> Result<()>,
) -> Result<United> {
    let mut united = United::default();
    let (mut walk, mut other) = (Walk::new(source), Follower::new(dest));
    while let Some(next) = walk.next() {
        let from = next?;
        let to = other.follow(&walk)?;
        united.note(&walk);
        list::each(&from, |name, kind| match stat::if_there(&to, name)? {
            Some(there) if kind == Kind::Directory && there.kind == Kind::Directory => {
                walk.push(name);
                Ok(())
            }
            there => each(&from, &to, name, kind, there),
        })?;
    }
    Ok(united)
}

/// Directories that a walk came through, each with the place of its parent in the list.
#[derive(Default)]
struct United {
    all: Vec<(usize, OsString)>,
    way: Vec<usize>,
}

impl United {
    fn note(&mut self, walk: &Walk<'_>) {
        self.way.truncate(walk.depth());
        let parent = self.way.last().copied().unwrap_or(0);
        self.way.push(self.all.len());
        self.all.push((parent, walk.name().to_owned()));
    }

    /// Removes them from a tree, the inner ones first; one that is in use again stays and fails.
    fn remove_empty(&self, top: &OwnedFd) -> Result<()> {
        for (place, (parent, name)) in self.all.iter().enumerate().skip(1).rev() {
            debug_assert!(*parent < place);
            let parent = open_beneath(top, &self.names(*parent))?;
            unlinkat(&parent, &**name, AtFlags::REMOVEDIR)?;
        }
        Ok(())
    }

    fn names(&self, mut place: usize) -> Vec<u8> {
        let mut names = Vec::new();
        while let Some((parent, name)) = self.all.get(place).filter(|_| place != 0) {
            names.push(name.as_bytes());
            place = *parent;
        }
        names.reverse();
        names.join(&b'/')
    }
}
