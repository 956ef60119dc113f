//! Putting files in place.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;

use super::budget::whole;
use super::meaning::{Meaning as _, entry, host_path, meaning, version};
use super::{HostFs, Tree};
use crate::{
    ByteStream, Error, ErrorKind, If, Links, Parents, Result, SandboxPath, WriteMode, WriteOptions,
    Written, blocking,
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

    pub(super) async fn append(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let spool = self.spool(file, body, &options).await?;
        let file = file.clone();
        self.on_tree(move |tree| tree.append(&file, spool, &options)).await
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
        self.dir.ready(&unfinished, &spot).meaning()?;
        let guard = self.locks.hold(&spot)?;
        let there = self.check_target(&spot, options)?;
        let written = self.place(file, spool, unfinished, &spot, there, options.mode)?;
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
            WriteMode::Replace | WriteMode::Append => {
                self.spot(file, Links::Follow, options.parents)
            }
        }
    }

    /// Places a file at a spot that is held and was checked. One that could not be placed goes back
    /// into the spool.
    fn place(
        &self,
        file: &SandboxPath,
        spool: &mut Spool,
        unfinished: host::Unfinished,
        spot: &host::Spot,
        there: Option<host::Stat>,
        mode: WriteMode,
    ) -> Result<Written> {
        let bytes = unfinished.size();
        let made = if there.is_some() { 0 } else { 1 + spot.made() as u64 };
        let grown = whole(bytes) - there.map_or(0, |there| whole(there.size));
        let taken = self.take(grown, whole(made))?;
        let existing = match mode {
            WriteMode::CreateNew => host::Existing::Refuse,
            WriteMode::Replace | WriteMode::Append => host::Existing::Replace,
        };
        let placed = self.dir.place(unfinished, spot, existing).map_err(|(err, unfinished)| {
            spool.unfinished = Some(unfinished);
            meaning(err)
        });
        let (placed, stat) = placed?;
        taken.keep();
        let in_place = placed == host::Placed::InPlace;
        if in_place {
            tracing::warn!(path = %file, "a mount pins the file; it was written in place");
        }
        let (entry, created) = (entry(file.clone(), &stat), there.is_none());
        Ok(Written { entry, bytes, created, in_place })
    }

    fn append(
        &self,
        file: &SandboxPath,
        mut spool: Spool,
        options: &WriteOptions,
    ) -> Result<Written> {
        let mut tries = 0..TRIES;
        loop {
            match self.append_once(file, &mut spool, options) {
                // It was made or its directory removed by somebody else at this moment.
                Err(err)
                    if [ErrorKind::NotFound, ErrorKind::AlreadyExists].contains(&err.kind())
                        && options.parents == Parents::Create
                        && tries.next().is_some() => {}
                outcome => return outcome,
            }
        }
    }

    fn append_once(
        &self,
        file: &SandboxPath,
        spool: &mut Spool,
        options: &WriteOptions,
    ) -> Result<Written> {
        let spot = self.target(file, options)?;
        let guard = self.locks.hold(&spot)?;
        let written = match self.check_target(&spot, options)? {
            Some(there) if there.links == 1 => self.append_in_place(file, spool, &spot)?,
            // A second name may lie outside; only ours may change.
            Some(there) => self.append_to_copy(file, spool, &spot, there)?,
            None => {
                let unfinished = spool.take_unfinished(self, file)?;
                self.dir.ready(&unfinished, &spot).meaning()?;
                self.place(file, spool, unfinished, &spot, None, WriteMode::CreateNew)?
            }
        };
        drop(guard);
        self.dir.settle(&spot).meaning()?;
        spot.keep_parents();
        Ok(written)
    }

    fn append_in_place(
        &self,
        file: &SandboxPath,
        spool: &Spool,
        spot: &host::Spot,
    ) -> Result<Written> {
        let (opened, there) = self.dir.open_spot(spot).meaning()?;
        self.check_file_size(there.size.saturating_add(spool.total))?;
        let taken = self.take(whole(spool.total), 0)?;
        let appended = spool.append_to(&opened, there.size).and_then(|()| {
            opened.set_modified(host::precise_now()).meaning()?;
            self.dir.sync(&opened).meaning()
        });
        if let Err(err) = appended {
            // What was there stays what it was.
            opened.set_len(there.size).meaning()?;
            return Err(err);
        }
        taken.keep();
        let stat = opened.stat().meaning()?;
        let entry = entry(file.clone(), &stat);
        Ok(Written { entry, bytes: spool.total, created: false, in_place: false })
    }

    fn append_to_copy(
        &self,
        file: &SandboxPath,
        spool: &mut Spool,
        spot: &host::Spot,
        there: host::Stat,
    ) -> Result<Written> {
        let (opened, _) = self.dir.open_spot(spot).meaning()?;
        self.check_file_size(there.size.saturating_add(spool.total))?;
        let mut copy = self.dir.begin(&host_path(file)).meaning()?;
        copy.copy_from(&opened).meaning()?;
        spool.append_to_unfinished(&mut copy)?;
        self.dir.ready(&copy, spot).meaning()?;
        let bytes = spool.total;
        let written = self.place(file, spool, copy, spot, Some(there), WriteMode::Append)?;
        Ok(Written { bytes, ..written })
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
        let replaced = there.filter(|_| options.mode != WriteMode::Append);
        Ok(replaced.map_or(0, |there| there.size))
    }
}

impl Spool {
    fn append_to(&self, target: &host::OpenedFile, mut offset: u64) -> Result<()> {
        if let Some(unfinished) = &self.unfinished {
            offset = unfinished.copy_to(target, offset).meaning()?;
        }
        for piece in &self.pieces {
            target.write_all_at(piece, offset).meaning()?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    fn append_to_unfinished(&self, target: &mut host::Unfinished) -> Result<()> {
        if let Some(unfinished) = &self.unfinished {
            target.append_from(unfinished).meaning()?;
        }
        self.pieces.iter().try_for_each(|piece| target.append(piece).meaning())
    }
}

/// Refuses when what is there is not what the caller believes.
pub(super) fn check_expected(expected: &If, there: Option<&host::Stat>) -> Result<()> {
    if expected.holds(there.map(version).as_ref()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::PreconditionFailed, "the file is not in the expected state"))
}
