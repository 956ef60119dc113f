//! To whom new things belong.
//!
//! Ownership is given through descriptors only: a name may stand for another file by the time it is
//! used a second time.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{Gid, Uid, fchown};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::{Result, Stat, list, stat, walk};

const SET_GROUP: u32 = 0o2000;

/// An owner, or a group, or neither, as far as it is not our own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    user: Option<u32>,
    group: Option<u32>,
}

impl Owner {
    /// To whom a new thing in a directory should belong. A server that runs as root makes things
    /// for whom the directory belongs to.
    pub(crate) fn of_new_in(dir: &Stat) -> Self {
        if geteuid().is_root() && dir.uid != 0 {
            return Self { user: Some(dir.uid), group: Some(dir.gid) };
        }
        Self { user: None, group: (dir.mode & SET_GROUP != 0).then_some(dir.gid) }
    }

    /// The owner of a file.
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { user: Some(stat.uid), group: Some(stat.gid) }
    }

    /// Whether a thing belongs to this owner already.
    pub(crate) fn is_of(&self, thing: &Stat) -> bool {
        self.user.is_none_or(|user| user == thing.uid)
            && self.group.is_none_or(|group| group == thing.gid)
    }

    /// Gives an open file away, as far as we may: one that stays ours is no failure.
    pub(crate) fn give(&self, file: &OwnedFd) -> Result<()> {
        let (user, group) = (self.user.map(Uid::from_raw), self.group.map(Gid::from_raw));
        if user.is_none() && group.is_none() {
            return Ok(());
        }
        match fchown(file, user, group) {
            Err(Errno::PERM | Errno::INVAL) if user.is_some() => match fchown(file, None, group) {
                Err(Errno::PERM | Errno::INVAL) => Ok(()),
                outcome => Ok(outcome?),
            },
            Err(Errno::PERM | Errno::INVAL) => Ok(()),
            outcome => Ok(outcome?),
        }
    }

    /// Gives away a directory that we just made. Whatever else may stand there by now, full or of
    /// another owner, is left alone.
    pub(crate) fn give_new_dir(&self, parent: &OwnedFd, name: &OsStr) -> Result<()> {
        if self.user.is_none() && self.group.is_none() {
            return Ok(());
        }
        let Ok(dir) = walk::child(parent, name) else { return Ok(()) };
        let mut is_empty = true;
        list::each(&dir, |_, _| {
            is_empty = false;
            Ok(())
        })?;
        let is_ours = stat::of(&dir)?.uid == geteuid().as_raw();
        if is_empty && is_ours { self.give(&dir) } else { Ok(()) }
    }
}
