//! Putting whole files in place.

use super::budget::whole;
use super::meaning::{Meaning as _, entry, meaning, version};
use super::spool::Spool;
use super::{HostFs, Tree};
use crate::{
    ByteStream, Error, ErrorKind, If, Links, Parents, Result, SandboxPath, WriteMode, WriteOptions,
    Written,
};

/// How often a write starts over when the tree changes under it.
const TRIES: usize = 16;

impl HostFs {
    pub(super) async fn replace(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let spool = self.spool(file, body, &options).await?;
        let file = file.clone();
        self.changing(move |tree| tree.put(&file, spool, &options)).await
    }
}

impl Tree {
    /// Puts a body at a path as its whole content.
    pub(super) fn put(
        &self,
        file: &SandboxPath,
        mut spool: Spool,
        options: &WriteOptions,
    ) -> Result<Written> {
        // A directory on the way may be removed between the look and the rename.
        persistently(options, &[ErrorKind::NotFound], || self.put_once(file, &mut spool, options))
    }

    fn put_once(
        &self,
        file: &SandboxPath,
        spool: &mut Spool,
        options: &WriteOptions,
    ) -> Result<Written> {
        let spot = self.target(file, options)?;
        // Known before anything is written, so that a hopeless write costs nothing.
        check_there(spot.seen(), options)?;
        let mut unfinished = spool.take_unfinished(self, file)?;
        if let Err(err) = self.dir.ready(&mut unfinished, &spot, spot.seen().as_ref()) {
            spool.give_back(unfinished);
            return Err(meaning(err));
        }
        let guard = self.locks.hold(&spot)?;
        let there = self.check_target(&spot, options)?;
        let placed = self.place(file, unfinished, &spot, there, options.mode);
        let written = placed.map_err(|(err, unfinished)| {
            unfinished.into_iter().for_each(|unfinished| spool.give_back(unfinished));
            err
        })?;
        drop(guard);
        self.dir.settle(&spot).meaning()?;
        spot.keep_parents();
        Ok(written)
    }

    /// The spot that a write means. A new file never appears where a link leads.
    pub(super) fn target(&self, file: &SandboxPath, options: &WriteOptions) -> Result<host::Spot> {
        match options.mode {
            WriteMode::CreateNew if file.is_root() => Err(meaning(host::Errno::EXIST.into())),
            WriteMode::CreateNew => self.spot(file, Links::Keep, options.parents),
            WriteMode::Replace | WriteMode::Append | WriteMode::Part(_) => {
                self.spot(file, Links::Follow, options.parents)
            }
        }
    }

    /// Places a file at a spot that is held and was checked. One that could not be placed is given
    /// back.
    pub(super) fn place(
        &self,
        file: &SandboxPath,
        unfinished: host::Unfinished,
        spot: &host::Spot,
        there: Option<host::Stat>,
        mode: WriteMode,
    ) -> Result<Written, (Error, Option<host::Unfinished>)> {
        let bytes = unfinished.size();
        let made = if there.is_some() { 0 } else { 1 + spot.made() as u64 };
        let grown = whole(bytes) - there.map_or(0, |there| whole(there.size));
        let taken = self.take(grown, whole(made)).map_err(|err| (err, None))?;
        let existing = match mode {
            WriteMode::CreateNew => host::Existing::Refuse,
            WriteMode::Replace | WriteMode::Append | WriteMode::Part(_) => host::Existing::Replace,
        };
        let placed = self.dir.place(unfinished, spot, existing);
        let (placed, stat) = placed.map_err(|(err, back)| (meaning(err), Some(back)))?;
        taken.keep();
        let in_place = placed == host::Placed::InPlace;
        if in_place {
            tracing::warn!(path = ?file, "a mount pins the file; it was written in place");
        }
        let (entry, created) = (entry(file.clone(), &stat), there.is_none());
        Ok(Written { entry, bytes, created, in_place })
    }

    /// What is at a spot now, if it may be written as asked.
    pub(super) fn check_target(
        &self,
        spot: &host::Spot,
        options: &WriteOptions,
    ) -> Result<Option<host::Stat>> {
        check_there(spot.stat().meaning()?, options)
    }
}

/// What is at a spot, if it may be written as asked.
pub(super) fn check_there(
    there: Option<host::Stat>,
    options: &WriteOptions,
) -> Result<Option<host::Stat>> {
    match there.map(|there| there.kind) {
        Some(_) if options.mode == WriteMode::CreateNew => {
            return Err(meaning(host::Errno::EXIST.into()));
        }
        Some(host::Kind::Directory) => return Err(meaning(host::Errno::ISDIR.into())),
        Some(host::Kind::Special) => return Err(meaning(host::Error::Special)),
        Some(_) | None => {}
    }
    check_expected(&options.expected, there.as_ref())?;
    Ok(there)
}

/// Refuses when what is there is not what the caller believes.
pub(super) fn check_expected(expected: &If, there: Option<&host::Stat>) -> Result<()> {
    if expected.holds(there.map(version).as_ref()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::PreconditionFailed, "the file is not in the expected state"))
}

/// Tries again what failed because others changed the tree at this moment, if the write may make
/// what it misses.
pub(super) fn persistently<T>(
    options: &WriteOptions,
    passing: &[ErrorKind],
    mut attempt: impl FnMut() -> Result<T>,
) -> Result<T> {
    for _ in 1..TRIES {
        match attempt() {
            Err(err) if passing.contains(&err.kind()) && options.parents == Parents::Create => {}
            outcome => return outcome,
        }
    }
    attempt()
}
