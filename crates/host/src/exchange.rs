//! What a journal says, done and taken back. Each record can be done any number of times, from
//! whatever state a kill left, and in any order.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, RenameFlags, fchmod, renameat_with};
use rustix::io::Errno;

use crate::record::{Look, Record};
use crate::replace::set_time;
use crate::walk::{open_beneath, writable_child};
use crate::{Error, Result, Spot, beneath, stat};

/// How often a place that comes and goes is tried again.
const TRIES: usize = 16;

/// A tree, and the slots whose content changes places with what is in it.
pub(crate) struct Exchange<'a> {
    root: &'a OwnedFd,
    slots: &'a OwnedFd,
    /// The directory of the last record, since the next one is most often its neighbour.
    last: Option<(Vec<u8>, OwnedFd)>,
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(root: &'a OwnedFd, slots: &'a OwnedFd) -> Self {
        Self { root, slots, last: None }
    }

    /// Does what a record of names says, unless it was done. `hold` is called with each spot
    /// before it changes, and what it gives is kept until it did.
    pub(crate) fn swap<G>(
        &mut self,
        record: &Record,
        hold: &mut dyn FnMut(&Spot) -> G,
    ) -> Result<()> {
        match record {
            Record::Put { slot, inode, path } if self.holds(*slot, *inode)? => {
                let spot = self.spot(path)?;
                let _held = hold(&spot);
                self.place(*slot, &spot)
            }
            Record::Remove { slot, path } if self.inode(*slot)?.is_none() => {
                let spot = self.spot(path)?;
                let _held = hold(&spot);
                match self.take_out(&spot, *slot) {
                    Err(Error::Os(Errno::NOENT)) => Ok(()),
                    outcome => outcome,
                }
            }
            Record::Put { .. } | Record::Remove { .. } | Record::Directory { .. } => Ok(()),
        }
    }

    /// Takes back what a record of names says, if it was done.
    pub(crate) fn swap_back(&mut self, record: &Record) -> Result<()> {
        match record {
            Record::Put { slot, inode, path } if !self.holds(*slot, *inode)? => {
                let spot = self.spot(path)?;
                match self.inode(*slot)? {
                    Some(_) => self.place(*slot, &spot),
                    None if spot.stat()?.is_some_and(|there| there.inode == *inode) => {
                        self.take_out(&spot, *slot)
                    }
                    // Somebody else replaced it meanwhile.
                    None => Ok(()),
                }
            }
            Record::Remove { slot, path } if self.inode(*slot)?.is_some() => {
                let spot = self.spot(path)?;
                self.place(*slot, &spot)
            }
            Record::Put { .. } | Record::Remove { .. } | Record::Directory { .. } => Ok(()),
        }
    }

    /// Gives a directory a look, as far as we may. One that is gone needs none.
    pub(crate) fn dress(&self, path: &[u8], look: Look) -> Result<()> {
        let dressed = open_beneath(self.root, path).and_then(|dir| {
            let kept = stat::of(&dir)?.mode & 0o7000;
            fchmod(&dir, Mode::from_raw_mode(kept | (look.mode & 0o777)))?;
            set_time(&dir, look.modified)
        });
        match dressed {
            Err(err) if is_gone(err) || matches!(err, Error::Os(Errno::PERM | Errno::ACCESS)) => {
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Whether what was staged in a slot is still there.
    fn holds(&self, slot: u64, inode: u64) -> Result<bool> {
        Ok(self.inode(slot)? == Some(inode))
    }

    fn inode(&self, slot: u64) -> Result<Option<u64>> {
        Ok(stat::if_there(self.slots, slot_name(slot))?.map(|there| there.inode))
    }

    fn spot(&mut self, path: &[u8]) -> Result<Spot> {
        let (dir, name) = beneath::split(Path::new(OsStr::from_bytes(path)))?;
        let dir = dir.as_os_str().as_bytes();
        let opened = match self.last.take() {
            Some((last, opened)) if last == dir => opened,
            _ => open_beneath(self.root, dir)?,
        };
        let own = opened.try_clone().map_err(|_| Errno::MFILE)?;
        self.last = Some((dir.to_vec(), opened));
        Ok(Spot::in_dir(own, name.into()))
    }

    /// What is in a slot and what is at a spot change places; where nothing is, the slot is free
    /// afterwards.
    fn place(&self, slot: u64, spot: &Spot) -> Result<()> {
        let slot = slot_name(slot);
        allowed(spot, || {
            for _ in 0..TRIES {
                let rename =
                    |flags| renameat_with(self.slots, &*slot, &spot.dir, &*spot.name, flags);
                match rename(RenameFlags::EXCHANGE) {
                    Err(Errno::NOENT) => {}
                    // What file systems answer that know no exchange.
                    Err(Errno::INVAL) => return Err(Errno::OPNOTSUPP),
                    outcome => return outcome,
                }
                match rename(RenameFlags::NOREPLACE) {
                    Err(Errno::EXIST) => {}
                    outcome => return outcome,
                }
            }
            Err(Errno::BUSY)
        })
    }

    fn take_out(&self, spot: &Spot, slot: u64) -> Result<()> {
        let slot = slot_name(slot);
        allowed(spot, || {
            let flags = RenameFlags::NOREPLACE;
            renameat_with(&spot.dir, &*spot.name, self.slots, &*slot, flags)
        })
    }
}

/// The name of a slot.
pub(crate) fn slot_name(slot: u64) -> String {
    slot.to_string()
}

/// Whether a record means nothing any more, since its directory is no longer one.
pub(crate) fn is_gone(err: Error) -> bool {
    matches!(err, Error::Os(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

/// Renames at a spot, also where a directory's mode forbids its owner to.
fn allowed(spot: &Spot, rename: impl Fn() -> rustix::io::Result<()>) -> Result<()> {
    match rename() {
        Err(Errno::ACCESS) => {}
        outcome => return Ok(outcome?),
    }
    let mode = stat::of(&spot.dir)?.mode;
    fchmod(&spot.dir, Mode::from_raw_mode(mode | 0o700))?;
    // A directory that gets another parent must itself be writable.
    let _no_directory = writable_child(&spot.dir, &spot.name);
    Ok(rename()?)
}
