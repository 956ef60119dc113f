//! Bodies on their way in.

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;

use super::budget::whole;
use super::meaning::{Meaning as _, host_path};
use super::write::check_there;
use super::{HostFs, Tree};
use crate::{
    ByteStream, Error, ErrorKind, Parents, Result, SandboxPath, WriteMode, WriteOptions, blocking,
};

/// A body stays in memory up to this size and goes to the disk in pieces of it.
const PIECE: usize = 256 << 10;
/// A body that comes in crumbs goes to the disk sooner.
const MOST_PIECES: usize = 1024;

impl HostFs {
    /// Takes in a whole body: a small one in memory, a large one in an unfinished file.
    pub(super) async fn spool(
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
            if spool.held >= PIECE || spool.pieces.len() >= MOST_PIECES {
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

    /// The whole body as an unfinished file.
    pub(super) fn take_unfinished(
        &mut self,
        tree: &Tree,
        file: &SandboxPath,
    ) -> Result<host::Unfinished> {
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

    /// How many bytes the body has.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Takes back what [`Spool::take_unfinished`] gave, for another try.
    pub(super) fn give_back(&mut self, unfinished: host::Unfinished) {
        self.unfinished = Some(unfinished);
    }

    /// Writes the body into an open file at an offset.
    pub(super) fn write_to(&self, target: &host::OpenedFile, mut offset: u64) -> Result<()> {
        if let Some(unfinished) = &self.unfinished {
            offset = unfinished.copy_to(target, offset).meaning()?;
        }
        for piece in &self.pieces {
            target.write_all_at(piece, offset).meaning()?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    /// Writes the body into an unfinished file at an offset.
    pub(super) fn insert_into(&self, target: &mut host::Unfinished, mut offset: u64) -> Result<()> {
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

impl Tree {
    /// Refuses a write that cannot succeed; gives the length of what it will replace.
    fn check_early(&self, file: &SandboxPath, options: &WriteOptions) -> Result<u64> {
        // Directories on the way are made at the end, if at all.
        let options = WriteOptions { parents: Parents::Require, ..options.clone() };
        let there = match self.target(file, &options) {
            Ok(spot) => check_there(spot.seen(), &options)?,
            Err(err) if err.kind() == ErrorKind::NotFound => None,
            Err(err) => return Err(err),
        };
        let replaced = there.filter(|_| options.mode == WriteMode::Replace);
        Ok(replaced.map_or(0, |there| there.size))
    }
}
