//! Putting files in place.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;

use super::budget::whole;
use super::meaning::{Meaning as _, entry, host_path, meaning, version};
use super::{HostFs, Tree};
use crate::{
    ByteStream, Error, ErrorKind, If, Links, Parents, Part, Result, SandboxPath, WriteMode,
    WriteOptions, Written, blocking,
};

/// A body stays in memory up to this size and goes to the disk in pieces of it.
const PIECE: usize = 256 << 10;
/// How often a write starts over when its directory goes away under it.
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
        self.on_tree(move |tree| tree.put(&file, spool, &options)).await
    }

    /// Appends to a file or writes a part of it.
    pub(super) async fn insert(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let spool = self.spool(file, body, &options).await?;
        let file = file.clone();
        self.on_tree(move |tree| tree.insert(&file, &spool, &options)).await
    }

    /// Takes in a whole body: a small one in memory, a large one in an unfinished file.
    async fn spool(
        &self,
        file: &SandboxPath,
        mut body: ByteStream,
        options: &WriteOptions,
    ) -> Result<Spool> {
        self.tree.check_file_size(options.length.unwrap_or_default())?;
        let mut spool = Spool::empty();
        while let Some(piece) = body.next().await {
            spool.push(piece?);
            self.tree.check_file_size(spool.total)?;
            if options.length.is_some_and(|length| spool.total > length) {
                return Err(Error::new(ErrorKind::BrokenBody, "the body is longer than declared"));
            }
            if spool.held >= PIECE {
                let (tree, file, options) = (Arc::clone(&self.tree), file.clone(), options.clone());
                spool = blocking::run(move || spool.flush(&tree, &file, &options)).await?;
            }
        }
        if options.length.is_some_and(|length| spool.total != length) {
            return Err(Error::new(ErrorKind::BrokenBody, "the body is shorter than declared"));
        }
        Ok(spool)
    }
}

/// A body that was taken in, or the part of it that has come.
#[derive(Debug)]
pub(super) struct Spool {
    pieces: Vec<Bytes>,
    held: usize,
    total: u64,
    /// How long the file is that it will replace, as far as that is known.
    replaces: u64,
    unfinished: Option<host::Unfinished>,
}

impl Spool {
    /// A body of no bytes.
    pub(super) fn empty() -> Self {
        Self { pieces: Vec::new(), held: 0, total: 0, replaces: 0, unfinished: None }
    }

    fn push(&mut self, piece: Bytes) {
        self.held += piece.len();
        self.total += piece.len() as u64;
        self.pieces.push(piece);
    }

    /// Moves what is held in memory to the disk. A large body for a target that cannot take it is
    /// refused here, before most of it has come.
    fn flush(mut self, tree: &Tree, file: &SandboxPath, options: &WriteOptions) -> Result<Self> {
        if self.unfinished.is_none() {
            self.replaces = tree.check_early(file, options)?;
        }
        // Room is taken for good when the file is placed; here a body without end is cut off.
        tree.take(whole(self.total) - whole(self.replaces), 0).map(drop)?;
        let unfinished = self.take_unfinished(tree, file)?;
        self.unfinished = Some(unfinished);
        Ok(self)
    }

    fn take_unfinished(&mut self, tree: &Tree, file: &SandboxPath) -> Result<host::Unfinished> {
        let mut unfinished = match self.unfinished.take() {
            Some(unfinished) => unfinished,
            None => tree.dir.begin(&host_path(file)).meaning()?,
        };
        for piece in self.pieces.drain(..) {
            unfinished.append(&piece).meaning()?;
        }
        self.held = 0;
        Ok(unfinished)
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
        let mut tries = 0..TRIES;
        loop {
            match self.put_once(file, &mut spool, options) {
                // A directory on the way was removed between the look and the rename.
                Err(err)
                    if err.kind() == ErrorKind::NotFound
                        && options.parents == Parents::Create
                        && tries.next().is_some() => {}
                outcome => return outcome,
            }
        }
    }

    fn put_once(
        &self,
        file: &SandboxPath,
        spool: &mut Spool,
        options: &WriteOptions,
    ) -> Result<Written> {
        let spot = self.target(file, options)?;
        // Known before anything is written, so that a hopeless write costs nothing.
        self.check_target(&spot, options)?;
        let unfinished = spool.take_unfinished(self, file)?;
        if let Err(err) = self.dir.ready(&unfinished, &spot) {
            spool.unfinished = Some(unfinished);
            return Err(meaning(err));
        }
        let guard = self.locks.hold(&spot)?;
        let there = self.check_target(&spot, options)?;
        let placed = self.place(file, unfinished, &spot, there, options.mode);
        let written = placed.map_err(|(err, unfinished)| {
            spool.unfinished = unfinished;
            err
        })?;
        drop(guard);
        self.dir.settle(&spot).meaning()?;
        spot.keep_parents();
        Ok(written)
    }

    /// The spot that a write means. A new file never appears where a link leads.
    fn target(&self, file: &SandboxPath, options: &WriteOptions) -> Result<host::Spot> {
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
    fn place(
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

    /// Puts a body into a file, at its end or at an offset.
    fn insert(&self, file: &SandboxPath, spool: &Spool, options: &WriteOptions) -> Result<Written> {
        let mut tries = 0..TRIES;
        loop {
            match self.insert_once(file, spool, options) {
                // It was made or its directory removed by somebody else at this moment.
                Err(err)
                    if [ErrorKind::NotFound, ErrorKind::AlreadyExists].contains(&err.kind())
                        && options.parents == Parents::Create
                        && tries.next().is_some() => {}
                outcome => return outcome,
            }
        }
    }

    fn insert_once(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        options: &WriteOptions,
    ) -> Result<Written> {
        let spot = self.target(file, options)?;
        let guard = self.locks.hold(&spot)?;
        let written = match self.check_target(&spot, options)? {
            Some(_) => self.insert_into_existing(file, spool, &spot, options.mode)?,
            None => {
                let offset = self.check_insertion(options.mode, 0, spool.total)?;
                self.insert_into_copy(file, spool, &spot, None, offset)?
            }
        };
        drop(guard);
        self.dir.settle(&spot).meaning()?;
        spot.keep_parents();
        Ok(written)
    }

    /// Where a body goes in a file of this size, if the result is one that may be.
    fn check_insertion(&self, mode: WriteMode, size: u64, len: u64) -> Result<u64> {
        let (offset, total) = match mode {
            WriteMode::Part(Part { offset, total }) => (offset, total),
            WriteMode::Append | WriteMode::CreateNew | WriteMode::Replace => (size, None),
        };
        let after = size.max(offset.saturating_add(len));
        self.check_file_size(after)?;
        if let Some(total) = total.filter(|total| *total != after) {
            let message = format!("the file would have {after} bytes instead of {total}");
            return Err(Error::new(ErrorKind::PreconditionFailed, message));
        }
        Ok(offset)
    }

    /// What counts is the file that was opened, whatever its name stands for by now.
    fn insert_into_existing(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        spot: &host::Spot,
        mode: WriteMode,
    ) -> Result<Written> {
        let (opened, there) = self.dir.open_spot(spot).meaning()?;
        let offset = self.check_insertion(mode, there.size, spool.total)?;
        match there.links {
            1 => self.insert_in_place(file, spool, &opened, &there, offset),
            // A second name may lie outside; only ours may change.
            _ => self.insert_into_copy(file, spool, spot, Some((&opened, there)), offset),
        }
    }

    fn insert_in_place(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        opened: &host::OpenedFile,
        there: &host::Stat,
        offset: u64,
    ) -> Result<Written> {
        let grown = (offset + spool.total).saturating_sub(there.size);
        let taken = self.take(whole(grown), 0)?;
        let inserted = spool.write_to(opened, offset).and_then(|()| {
            opened.set_modified(host::precise_now()).meaning()?;
            self.dir.sync(opened).meaning()
        });
        if let Err(err) = inserted {
            // What was there keeps its length; an append leaves no trace.
            opened.set_len(there.size).meaning()?;
            return Err(err);
        }
        taken.keep();
        let entry = entry(file.clone(), &opened.stat().meaning()?);
        Ok(Written { entry, bytes: spool.total, created: false, in_place: false })
    }

    /// Puts a body into a file that is then placed as a whole: a copy of what is there, or a new one.
    fn insert_into_copy(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        spot: &host::Spot,
        there: Option<(&host::OpenedFile, host::Stat)>,
        offset: u64,
    ) -> Result<Written> {
        let mut copy = self.dir.begin(&host_path(file)).meaning()?;
        if let Some((opened, _)) = there {
            copy.copy_from(opened).meaning()?;
        }
        spool.insert_into(&mut copy, offset)?;
        self.dir.ready(&copy, spot).meaning()?;
        let mode = if there.is_some() { WriteMode::Replace } else { WriteMode::CreateNew };
        let placed = self.place(file, copy, spot, there.map(|(_, there)| there), mode);
        let written = placed.map_err(|(err, _)| err)?;
        Ok(Written { bytes: spool.total, ..written })
    }

    /// What is at a spot, if it may be written as asked.
    fn check_target(
        &self,
        spot: &host::Spot,
        options: &WriteOptions,
    ) -> Result<Option<host::Stat>> {
        let there = spot.stat().meaning()?;
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

    /// Refuses a write that cannot succeed; gives the length of what it will replace.
    fn check_early(&self, file: &SandboxPath, options: &WriteOptions) -> Result<u64> {
        // Directories on the way are made at the end, if at all.
        let options = WriteOptions { parents: Parents::Require, ..options.clone() };
        let there = match self.target(file, &options) {
            Ok(spot) => self.check_target(&spot, &options)?,
            Err(err) if err.kind() == ErrorKind::NotFound => None,
            Err(err) => return Err(err),
        };
        let replaced = there.filter(|_| options.mode == WriteMode::Replace);
        Ok(replaced.map_or(0, |there| there.size))
    }
}

impl Spool {
    fn write_to(&self, target: &host::OpenedFile, mut offset: u64) -> Result<()> {
        if let Some(unfinished) = &self.unfinished {
            offset = unfinished.copy_to(target, offset).meaning()?;
        }
        for piece in &self.pieces {
            target.write_all_at(piece, offset).meaning()?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    fn insert_into(&self, target: &mut host::Unfinished, mut offset: u64) -> Result<()> {
        if let Some(unfinished) = &self.unfinished {
            offset = target.insert_from(unfinished, offset).meaning()?;
        }
        for piece in &self.pieces {
            target.insert(piece, offset).meaning()?;
            offset += piece.len() as u64;
        }
        Ok(())
    }
}

/// Refuses when what is there is not what the caller believes.
pub(super) fn check_expected(expected: &If, there: Option<&host::Stat>) -> Result<()> {
    if expected.holds(there.map(version).as_ref()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::PreconditionFailed, "the file is not in the expected state"))
}
