//! One tree poured into another: directories are united, files replaced.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, renameat, unlinkat};
use rustix::io::Errno;

use crate::walk::{Node, Walk, child};
use crate::{Dir, Error, Kind, Result, Spot, Stat, Tally, is_reserved, list, stat};

impl Dir {
    /// Merges the directory at `from` into the directory at `to`, entry by entry; gives what was
    /// replaced. Whether a file would meet a directory is checked for all before anything moves.
    pub fn merge(&self, from: &Spot, to: &Spot) -> Result<Tally> {
        let (source, dest) = (child(&from.dir, &from.name)?, child(&to.dir, &to.name)?);
        let replaced = self.merge_into(&source, &dest)?;
        unlinkat(&from.dir, &*from.name, AtFlags::REMOVEDIR)?;
        self.sync_names(&from.dir)?;
        Ok(replaced)
    }

    /// Empties the tree `source` into `dest`.
    pub(crate) fn merge_into(&self, source: &OwnedFd, dest: &OwnedFd) -> Result<Tally> {
        visit(source, dest, |_, _, _, source, dest| match dest {
            Some(dest) if (source == Kind::Directory) != (dest.kind == Kind::Directory) => {
                Err(Error::Conflict)
            }
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
        for node in united.iter().rev().filter(|node| **node != Node::top()) {
            let (parent, name) = node.parts();
            let parent = Node::at(parent).open(source)?;
            unlinkat(&parent, name, AtFlags::REMOVEDIR)?;
        }
        self.sync_all(dest)?;
        Ok(replaced)
    }
}

/// Calls `each` with every pair that is not a directory on both sides; gives the directories that
/// are, the outer ones first.
fn visit(
    source: &OwnedFd,
    dest: &OwnedFd,
    mut each: impl FnMut(&OwnedFd, &OwnedFd, &OsStr, Kind, Option<Stat>) -> Result<()>,
) -> Result<Vec<Node>> {
    let mut united = Vec::new();
    let mut walk = Walk::new(source);
    while let Some(next) = walk.next() {
        let (node, from) = next?;
        let to = node.open(dest)?;
        list::each(&from, |name, kind| {
            if is_reserved(name) {
                return Ok(());
            }
            let there = match stat::of_name(&to, name) {
                Err(Error::Os(Errno::NOENT)) => None,
                outcome => Some(outcome?),
            };
            match there {
                Some(there) if kind == Kind::Directory && there.kind == Kind::Directory => {
                    walk.push(node.child(name));
                    Ok(())
                }
                there => each(&from, &to, name, kind, there),
            }
        })?;
        united.push(node);
    }
    Ok(united)
}
