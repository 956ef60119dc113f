//! What records do to the file that began last.

use super::{Growth, not_relative, refuse, unfit};
use crate::Result;
use crate::snapshot::stream::record::Named;
use crate::snapshot::stream::{CRUMB, broken};
use crate::tree::{Body, Extent, File, Item, Piece, PiecesInOrder, Sum};

/// A file that grows.
#[derive(Debug)]
pub(super) struct Growing {
    named: Named,
    left: u64,
    pieces: PiecesInOrder,
    /// The piece that came last: its length, and whether it is a hole.
    last: Option<(u64, bool)>,
    /// The file that the other state has here, and how much of it was passed.
    was: Option<File>,
    passed: u64,
}

impl Growth {
    pub(super) async fn begin_file(&mut self, named: Named, len: u64) -> Result<()> {
        let was = self.there(&named.name).await?.and_then(|was| was.file().cloned());
        self.pass(&named.name)?;
        self.count(Sum { files: 1, bytes: len, largest: len, ..Sum::default() }, 1)?;
        let pieces = PiecesInOrder::default();
        self.file = Some(Growing { named, left: len, pieces, last: None, was, passed: 0 });
        Ok(())
    }

    pub(super) async fn piece(&mut self, extent: Extent) -> Result<()> {
        let is_hole = matches!(extent.piece, Piece::Hole);
        let file = self.file.as_mut().ok_or_else(no_file)?;
        file.pass(extent.len, is_hole)?;
        file.pieces.push(extent, &mut self.pages).map_err(broken)?;
        self.end_file().await
    }

    pub(super) async fn same(&mut self, offset: u64, len: u64) -> Result<()> {
        let other = self.other.as_ref().ok_or_else(not_relative)?;
        let file = self.file.as_mut().ok_or_else(no_file)?;
        file.pass(len, false)?;
        let missing = || unfit("a part of a file that it takes over is not there");
        let was = file.was.as_ref().ok_or_else(missing)?;
        let (mut at, end) = (offset, offset.saturating_add(len));
        if offset < file.passed || end > was.len() {
            return Err(missing());
        }
        file.passed = end;
        while at < end {
            let extent = self.trunk.read(other, |_, source| Ok(was.extent_at(at, source)?)).await?;
            let part = extent.and_then(|extent| extent.part(0, end - at)).ok_or_else(missing)?;
            at += part.len;
            file.pieces.push(part, &mut self.pages).map_err(broken)?;
        }
        self.end_file().await
    }

    /// Puts the file in its place when all of it came.
    async fn end_file(&mut self) -> Result<()> {
        let Some(Growing { named, pieces, .. }) = self.file.take_if(|file| file.left == 0) else {
            return Ok(());
        };
        let file = pieces.finish(&mut self.pages).map_err(broken)?;
        let node = self.node(named.about, Body::File(file));
        self.insert(Item { name: named.name, node }).await
    }

    pub(super) fn check_no_file(&self) -> Result<()> {
        if self.file.is_some() { Err(refuse("a file ends too early")) } else { Ok(()) }
    }
}

impl Growing {
    /// Passes on by a piece.
    fn pass(&mut self, len: u64, is_hole: bool) -> Result<()> {
        self.left = self.left.checked_sub(len).ok_or_else(|| refuse("a file is too long"))?;
        match self.last.replace((len, is_hole)) {
            Some((last, _)) if last.max(len) < CRUMB => Err(refuse("a file is made of crumbs")),
            Some((_, true)) if is_hole => Err(refuse("two holes follow each other")),
            Some(_) | None => Ok(()),
        }
    }
}

fn no_file() -> crate::Error {
    refuse("a piece belongs to no file")
}
