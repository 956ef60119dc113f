//! A tree brought back to an earlier state: all that differs is made out of sight, written down in
//! a journal, and then exchanged entry by entry.
//!
//! Before the journal is published nothing was changed; from then on a start finishes what a kill
//! interrupted, before it serves the tree.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::MutexGuard;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fsync, mkdirat, open, syncfs};

use crate::exchange::{Exchange, is_gone, slot_name};
use crate::journal::{Belongs, Draft, Journal};
use crate::owner::Owner;
use crate::record::{Look, Record};
use crate::scratch::Scratch;
use crate::walk::child;
use crate::{
    Dir, Error, Kind, Leftover, Listing, Result, Spot, Stage, Stat, is_reserved, list, stat, walk,
};

/// A restore that is being prepared. Dropped before [`Restore::exchange`], it never was.
#[derive(Debug)]
pub struct Restore<'a> {
    dir: &'a Dir,
    _turn: MutexGuard<'a, ()>,
    root: OwnedFd,
    scratch: Scratch,
    place: OwnedFd,
    stage: Stage,
    journal: Draft,
    slots: u64,
}

impl Dir {
    /// Begins a restore of what is at `path`, when no other one is under way. It needs a staging
    /// directory. A restore that could not be finished before is finished first.
    pub fn begin_restore(&self, path: &Path) -> Result<Restore<'_>> {
        let turn = self.restoring();
        let root = self.open(Path::new(""), OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mount = stat::of(&root)?.mount;
        let staging = self.staging().filter(|staging| staging.mount() == mount);
        let staging = staging.ok_or(Error::NoStaging)?;
        finish_in(staging.dir(), &root, &|name| staging.discard(name))?;
        if self.mount_table().is_mount_beneath(&root, path)? {
            return Err(Error::MountInside);
        }
        let scratch = self.scratch(&root)?;
        mkdirat(&scratch.spot().dir, &*scratch.spot().name, Mode::RWXU)?;
        let place = child(&scratch.spot().dir, &scratch.spot().name)?;
        // Tells whoever opens the tree meanwhile that this one is under way.
        flock(&place, FlockOperation::NonBlockingLockExclusive)?;
        let journal = Draft::begin(&place, &root)?;
        let stage = Stage::new(child(&place, OsStr::new("."))?);
        Ok(Restore { dir: self, _turn: turn, root, scratch, place, stage, journal, slots: 0 })
    }
}

impl Restore<'_> {
    /// A free slot for something that will take the place of what is there in a directory, and
    /// belong to whom that belongs.
    pub fn slot(&mut self, near: &Listing, there: Option<&Stat>) -> Result<OsString> {
        let owned = there.filter(|there| matches!(there.kind, Kind::File | Kind::Directory));
        self.stage.owner = match owned {
            Some(there) => Owner::of(there),
            None => Owner::of_new_in(&stat::of(near.fd())?),
        };
        Ok(slot_name(self.slots).into())
    }

    /// Where the content of the slot is made, under its name.
    pub fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    /// What was made in the slot will go to `path`.
    pub fn put(&mut self, path: &Path) -> Result<()> {
        let slot = self.take_slot();
        let inode = self.stage.stat(OsStr::new(&slot_name(slot)))?.inode;
        self.journal.push(&Record::Put { slot, inode, path: bytes(path) })
    }

    /// What is at `path` will go.
    pub fn remove(&mut self, path: &Path) -> Result<()> {
        let slot = self.take_slot();
        self.journal.push(&Record::Remove { slot, path: bytes(path) })
    }

    /// The directory at `path` will look otherwise, once everything else is done.
    pub fn dress(&mut self, path: &Path, old: Look, new: Look) -> Result<()> {
        self.journal.push(&Record::Directory { path: bytes(path), old, new })
    }

    /// Does all of it. `hold` is called with each spot before it changes, and what it gives is
    /// kept until it did. A failure takes back what was done.
    pub fn exchange<G>(self, mut hold: impl FnMut(&Spot) -> G) -> Result<Leftover> {
        let Self { dir, root, mut scratch, place, journal, _turn, .. } = self;
        if journal.is_empty() {
            return Ok(None);
        }
        let journal = journal.publish(dir, &place)?;
        // From here on the only copy of a file may lie in a slot.
        scratch.keep();
        let done = forward(&journal, &root, &place, &mut hold, overtaken)
            .and_then(|()| dir.sync_all(&root));
        let undone = match &done {
            Ok(()) => Ok(()),
            Err(_) => backward(&journal, &root, &place).and_then(|()| dir.sync_all(&root)),
        };
        if undone.and_then(|()| Journal::remove(&place)).is_err() {
            return Err(Error::Unfinished);
        }
        // Before the journal is surely gone, what it speaks of stays: it may be followed once more.
        if let Err(err) = dir.sync_names(&place) {
            scratch.leave();
            return Err(err);
        }
        let leftover = scratch.clear().err();
        done.map(|()| leftover)
    }

    fn take_slot(&mut self) -> u64 {
        let slot = self.slots;
        self.slots += 1;
        slot
    }
}

/// Finishes what a process that is dead by now left of restores of the tree at `root`, in a place
/// where processes have their staging directories.
pub(crate) fn finish(place: &Path, root: &OwnedFd) -> Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    // Nothing was ever staged in a place that is not there.
    let Ok(place) = open(place, flags, Mode::empty()) else { return Ok(()) };
    for name in reserved_in(&place)? {
        let Ok(staging) = child(&place, &name) else { continue };
        if flock(&staging, FlockOperation::NonBlockingLockExclusive).is_ok() {
            finish_in(&staging, root, &|name| walk::remove(&staging, name))?;
        }
    }
    Ok(())
}

/// Whether a staging directory holds a restore that some tree still waits for.
pub(crate) fn is_awaited(staging: &OwnedFd) -> Result<bool> {
    for name in reserved_in(staging)? {
        let Ok(place) = child(staging, &name) else { continue };
        if Journal::open(&place)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Finishes the restores of a tree that one staging directory holds and nobody is busy with, and
/// discards what is left of them.
pub(crate) fn finish_in(
    staging: &OwnedFd,
    root: &OwnedFd,
    discard: &dyn Fn(&OsStr) -> Result<()>,
) -> Result<()> {
    for name in reserved_in(staging)? {
        let Ok(place) = child(staging, &name) else { continue };
        let Some(journal) = Journal::open(&place)? else { continue };
        if flock(&place, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        match journal.belongs(root)? {
            Belongs::Elsewhere => continue,
            Belongs::Nowhere => {}
            Belongs::Here => {
                forward(&journal, root, &place, &mut |_: &Spot| (), passing)?;
                syncfs(root)?;
            }
        }
        Journal::remove(&place)?;
        fsync(&place)?;
        let _swept_later = discard(&name);
    }
    Ok(())
}

/// What it means that the directory of an entry is gone in the middle of a restore.
fn overtaken(err: Error) -> Result<()> {
    Err(if is_gone(err) { Error::Busy } else { err })
}

/// What the next start makes of an entry whose directory is gone by now: it goes on without it.
fn passing(err: Error) -> Result<()> {
    if is_gone(err) { Ok(()) } else { Err(err) }
}

fn forward<G>(
    journal: &Journal,
    root: &OwnedFd,
    place: &OwnedFd,
    hold: &mut dyn FnMut(&Spot) -> G,
    failed: impl Fn(Error) -> Result<()>,
) -> Result<()> {
    let mut exchange = Exchange::new(root, place);
    let mut records = journal.records()?;
    while let Some(record) = records.next()? {
        exchange.swap(&record, hold).or_else(&failed)?;
    }
    // Names change the time of their directory, so these are last.
    let mut records = journal.records()?;
    while let Some(record) = records.next()? {
        if let Record::Directory { path, new, .. } = &record {
            exchange.dress(path, *new)?;
        }
    }
    Ok(())
}

fn backward(journal: &Journal, root: &OwnedFd, place: &OwnedFd) -> Result<()> {
    let mut exchange = Exchange::new(root, place);
    let mut records = journal.records()?;
    while let Some(record) = records.next()? {
        exchange.swap_back(&record)?;
    }
    let mut records = journal.records()?;
    while let Some(record) = records.next()? {
        if let Record::Directory { path, old, .. } = &record {
            exchange.dress(path, *old)?;
        }
    }
    Ok(())
}

/// The directories of reserved names in a directory.
fn reserved_in(dir: &OwnedFd) -> Result<Vec<OsString>> {
    let mut found = Vec::new();
    list::each(child(dir, OsStr::new("."))?, |name, kind| {
        if is_reserved(name) && kind == Kind::Directory {
            found.push(name.to_owned());
        }
        Ok(())
    })?;
    Ok(found)
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}
