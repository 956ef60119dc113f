//! The content of a file: a few bytes in place, or pieces of chunks in order.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use storage::ObjectId;

use super::extents::{self, ExtentPage};
use super::page::Link;
use super::source::{Need, Source};

/// Content up to this length lies in the directory page itself.
pub(crate) const INLINE: u64 = 512;
/// Up to so many pieces lie in the directory page; more have pages of their own.
pub(crate) const FEW: usize = 16;
/// The longest file. Sums of fewer than 65,536 of them fit in 64 bits.
pub(crate) const LARGEST_FILE: u64 = 1 << 47;
/// Small pieces next to each other become one piece when there are so many of them.
const CRUMBS: usize = 16;
/// What is shorter is a small piece.
const SMALL: u64 = 16 << 10;

/// The content of a file.
#[derive(Clone, Debug)]
pub(crate) enum File {
    Inline(Bytes),
    Pieces { len: u64, top: Top },
}

/// Where the pieces of a file are.
#[derive(Clone, Debug)]
pub(crate) enum Top {
    Few(Arc<[Extent]>),
    Many(Link<ExtentPage>),
}

/// A part of a piece, or of nothing at all.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) piece: Piece,
    /// Where in the piece it begins.
    pub(crate) start: u32,
    pub(crate) len: u64,
}

/// Bytes that no store has yet, a chunk that a store has, or zeros that nobody keeps.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Fresh(Bytes),
    Stored(ObjectId),
    Hole,
}

impl Extent {
    pub(crate) fn fresh(bytes: Bytes) -> Self {
        Self { len: bytes.len() as u64, start: 0, piece: Piece::Fresh(bytes) }
    }

    pub(crate) fn stored(id: ObjectId, len: u64) -> Self {
        Self { piece: Piece::Stored(id), start: 0, len }
    }

    pub(crate) fn hole(len: u64) -> Self {
        Self { piece: Piece::Hole, start: 0, len }
    }

    /// A part of the extent; none if it is empty.
    pub(crate) fn part(&self, from: u64, to: u64) -> Option<Self> {
        let len = to.min(self.len).checked_sub(from).filter(|len| *len > 0)?;
        let start = match self.piece {
            Piece::Hole => 0,
            Piece::Fresh(_) | Piece::Stored(_) => {
                self.start.saturating_add(u32::try_from(from).ok()?)
            }
        };
        Some(Self { piece: self.piece.clone(), start, len })
    }

    /// The bytes of an extent; `None` stands for zeros.
    pub(crate) fn bytes(&self, source: &dyn Source) -> Result<Option<Bytes>, Need> {
        let Some(chunk) = source.chunk(&self.piece)? else { return Ok(None) };
        let start = self.start as usize;
        let end = start.saturating_add(usize::try_from(self.len).unwrap_or(usize::MAX));
        // A chunk that is too short was refused when it was read from the store.
        Ok(Some(if end <= chunk.len() { chunk.slice(start..end) } else { Bytes::new() }))
    }
}

/// Small pieces that lie side by side, and the part of the file that they are.
type Crumbs = (Range<u64>, Vec<Extent>);

impl File {
    pub(crate) fn empty() -> Self {
        Self::Inline(Bytes::new())
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Pieces { len, .. } => *len,
        }
    }

    /// A file of these pieces.
    pub(crate) fn of(pieces: impl Into<Arc<[Extent]>>, source: &dyn Source) -> Result<Self, Need> {
        let pieces = pieces.into();
        let len = pieces.iter().map(|extent| extent.len).sum();
        if len <= INLINE {
            return Ok(Self::Inline(gathered(&pieces, source)?));
        }
        if pieces.len() <= FEW {
            return Ok(Self::Pieces { len, top: Top::Few(pieces) });
        }
        Ok(extents::file(&pieces))
    }

    /// The file with other pieces in the place of a part of it. The part may begin at the end.
    pub(crate) fn spliced(
        &self,
        part: Range<u64>,
        new: Vec<Extent>,
        source: &dyn Source,
    ) -> Result<Self, Need> {
        let removed = part.end.min(self.len()).saturating_sub(part.start);
        let added: u64 = new.iter().map(|extent| extent.len).sum();
        let len = self.len() - removed + added;
        match self {
            Self::Inline(bytes) => {
                let whole = Extent::fresh(bytes.clone());
                let before = whole.part(0, part.start);
                let after = whole.part(part.end, whole.len);
                Self::of(before.into_iter().chain(new).chain(after).collect::<Vec<_>>(), source)
            }
            Self::Pieces { .. } if len <= INLINE => {
                let mut pieces = self.extents(0..part.start, source)?;
                pieces.extend(new);
                pieces.extend(self.extents(part.end..self.len(), source)?);
                Self::of(pieces, source)
            }
            Self::Pieces { top, .. } => extents::spliced(top, part, new, source),
        }
    }

    /// The file with new pieces at an offset, over what is there. Many small ones that come to lie
    /// next to each other become one, so that a file that changes in many small places, or grows
    /// line by line, is neither rewritten each time nor a heap of crumbs.
    pub(crate) fn written(
        &self,
        offset: u64,
        new: Vec<Extent>,
        source: &dyn Source,
    ) -> Result<Self, Need> {
        let end = offset.saturating_add(new.iter().map(|extent| extent.len).sum());
        let written = self.spliced(offset..end, new, source)?;
        match written.crumbs(offset..end, source)? {
            None => Ok(written),
            Some((part, crumbs)) => {
                let one = Extent::fresh(gathered(&crumbs, source)?);
                written.spliced(part, vec![one], source)
            }
        }
    }

    /// The file cut, or lengthened with zeros.
    pub(crate) fn resized(&self, len: u64, source: &dyn Source) -> Result<Self, Need> {
        let size = self.len();
        match len.checked_sub(size) {
            Some(0) => Ok(self.clone()),
            Some(more) => self.spliced(size..size, vec![Extent::hole(more)], source),
            None => self.spliced(len..size, Vec::new(), source),
        }
    }

    /// The bytes of a part of the file, if they are in memory in one piece.
    pub(crate) fn at_hand(&self, part: &Range<u64>) -> Option<Bytes> {
        let (bytes, start) = match self {
            Self::Inline(bytes) => (bytes, 0),
            Self::Pieces { top: Top::Few(extents), .. } => match &**extents {
                [Extent { piece: Piece::Fresh(bytes), start, .. }] => (bytes, *start as usize),
                _ => return None,
            },
            Self::Pieces { top: Top::Many(_), .. } => return None,
        };
        let part = start.checked_add(part.start as usize)?..start.checked_add(part.end as usize)?;
        bytes.get(part.clone()).map(|_| bytes.slice(part))
    }

    /// The bytes of a part of the file, which is not long.
    pub(crate) fn bytes(&self, part: Range<u64>, source: &dyn Source) -> Result<Bytes, Need> {
        gathered(&self.extents(part, source)?, source)
    }

    /// The small pieces in and next to a part of the file, and where they are; none if they are
    /// few.
    fn crumbs(&self, part: Range<u64>, source: &dyn Source) -> Result<Option<Crumbs>, Need> {
        let Self::Pieces { .. } = self else { return Ok(None) };
        // A large part has few small pieces, and its neighbours are of no concern.
        if part.end - part.start > SMALL {
            return Ok(None);
        }
        let begin = part.start.saturating_sub(SMALL);
        let mut near = self.extents(begin..part.end.saturating_add(SMALL), source)?;
        // The last and the first may belong to larger pieces, which then stay as they are.
        if part.end.saturating_add(SMALL) < self.len() {
            near.pop();
        }
        let (mut run, mut start, mut end) = (Vec::new(), begin, begin);
        for (index, extent) in near.into_iter().enumerate() {
            let is_hole = matches!(extent.piece, Piece::Hole);
            if (index > 0 || begin == 0) && extent.len < SMALL && !is_hole {
                end += extent.len;
                run.push(extent);
            } else if run.len() < CRUMBS {
                start = end + extent.len;
                end = start;
                run.clear();
            } else {
                break;
            }
        }
        Ok((run.len() >= CRUMBS).then_some((start..end, run)))
    }

    /// The extents that hold a part of the file.
    pub(crate) fn extents(
        &self,
        part: Range<u64>,
        source: &dyn Source,
    ) -> Result<Vec<Extent>, Need> {
        let (mut at, mut found) = (part.start, Vec::new());
        while at < part.end.min(self.len()) {
            let Some(extent) = self.extent_at(at, source)? else { break };
            found.extend(extent.part(0, part.end - at));
            at += extent.len;
        }
        Ok(found)
    }

    /// The rest of the extent that holds this offset; none at the end.
    pub(crate) fn extent_at(
        &self,
        offset: u64,
        source: &dyn Source,
    ) -> Result<Option<Extent>, Need> {
        match self {
            Self::Inline(bytes) => {
                let whole = Extent::fresh(bytes.clone());
                Ok(whole.part(offset, whole.len))
            }
            Self::Pieces { len, .. } if offset >= *len => Ok(None),
            Self::Pieces { top, .. } => extents::at(top, offset, source),
        }
    }
}

/// The bytes of all these extents, which are few.
fn gathered(extents: &[Extent], source: &dyn Source) -> Result<Bytes, Need> {
    let mut all = BytesMut::with_capacity(extents.iter().map(|extent| extent.len as usize).sum());
    for (index, extent) in extents.iter().enumerate() {
        let bytes = extent.bytes(source).inspect_err(|_| {
            let rest = extents.iter().skip(index + 1);
            source.foresee(&mut rest.filter_map(|extent| source.chunk(&extent.piece).err()));
        });
        match bytes? {
            // A lone piece needs no copy, unless it would keep a larger one alive.
            Some(bytes) if extents.len() == 1 && is_whole(extent) => return Ok(bytes),
            Some(bytes) => all.extend_from_slice(&bytes),
            None => all.resize(all.len() + extent.len as usize, 0),
        }
    }
    Ok(all.freeze())
}

/// Whether the extent is all of its piece, so that keeping it keeps nothing else alive.
fn is_whole(extent: &Extent) -> bool {
    match &extent.piece {
        Piece::Fresh(bytes) => bytes.len() as u64 == extent.len,
        Piece::Stored(_) | Piece::Hole => false,
    }
}
