//! What records do to the file that began last.

use std::sync::Arc;

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
    /// The piece that came last, and its length.
    last: Option<(What, u64)>,
    /// The file that the other state has here, and how much of it was passed.
    was: Option<File>,
    passed: u64,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Bytes,
    Hole,
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
        let what = match extent.piece {
            Piece::Hole => What::Hole,
            Piece::Fresh(_) | Piece::Stored(_) => What::Bytes,
        };
        let file = self.file.as_mut().ok_or_else(no_file)?;
        file.pass(what, extent.len)?;
        file.pieces.push(extent, &mut self.pages).map_err(broken)?;
        self.end_file().await
    }

    pub(super) async fn same(&mut self, offset: u64, len: u64) -> Result<()> {
        let other = Arc::clone(self.other.as_ref().ok_or_else(not_relative)?);
        let mut file = self.file.take().ok_or_else(no_file)?;
        let missing = || unfit("a part of a file that it takes over is not there");
        let was = file.was.clone().ok_or_else(missing)?;
        let (mut at, end) = (offset, offset.saturating_add(len));
        if offset < file.passed || end > was.len() {
            return Err(missing());
        }
        let is_all = file.last.is_none() && len == file.left && len == was.len();
        if is_all {
            let node = self.node(file.named.about, Body::File(was));
            return self.insert(Item { name: file.named.name, node }).await;
        }
        file.pass(What::Bytes, len)?;
        file.passed = end;
        while at < end {
            let extent =
                self.trunk.read(&other, |_, source| Ok(was.extent_at(at, source)?)).await?;
            let part = extent.and_then(|extent| extent.part(0, end - at)).ok_or_else(missing)?;
            at += part.len;
            file.pieces.push(part, &mut self.pages).map_err(broken)?;
            self.store_if_many().await?;
        }
        self.file = Some(file);
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
    fn pass(&mut self, what: What, len: u64) -> Result<()> {
        self.left = self.left.checked_sub(len).ok_or_else(|| refuse("a file is too long"))?;
        match self.last.replace((what, len)) {
            Some((_, last)) if last.max(len) < CRUMB => Err(refuse("a file is made of crumbs")),
            Some((What::Hole, _)) if what == What::Hole => {
                Err(refuse("two holes follow each other"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn no_file() -> crate::Error {
    refuse("a piece belongs to no file")
}
