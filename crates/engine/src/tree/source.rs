//! Where pages and chunks come from when they are not in memory.

use std::sync::Arc;

use bytes::Bytes;
use storage::ObjectId;

use super::extents::ExtentPage;
use super::file::Piece;
use super::page::{Link, Page};
use crate::Error;

/// Something that must be fetched before the work can be done; the work then starts over. Trees
/// are immutable, so nothing is lost, and everything that is pure stays so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Need {
    Page(ObjectId),
    Extents(ObjectId),
    Chunk(ObjectId),
}

impl Need {
    pub(crate) fn id(&self) -> ObjectId {
        match self {
            Self::Page(id) | Self::Extents(id) | Self::Chunk(id) => *id,
        }
    }
}

/// Gives what a store has, if it is at hand.
pub(crate) trait Source: Send + Sync {
    fn stored_page(&self, id: &ObjectId) -> Result<Arc<Page>, Need>;
    fn stored_extents(&self, id: &ObjectId) -> Result<Arc<ExtentPage>, Need>;
    fn stored_chunk(&self, id: &ObjectId) -> Result<Bytes, Need>;

    /// Hears, from work that stops, what it is about to need besides, the nearest first. Who has to
    /// fetch something anyway takes as much of it along as is sensible.
    fn foresee(&self, _following: &mut dyn Iterator<Item = Need>) {}
}

impl dyn Source + '_ {
    /// The page that a link leads to.
    pub(crate) fn page(&self, link: &Link<Page>) -> Result<Arc<Page>, Need> {
        match link {
            Link::Fresh(page) => Ok(Arc::clone(page)),
            Link::Stored(id) => self.stored_page(id),
        }
    }

    /// The page of extents that a link leads to.
    pub(crate) fn extents(&self, link: &Link<ExtentPage>) -> Result<Arc<ExtentPage>, Need> {
        match link {
            Link::Fresh(page) => Ok(Arc::clone(page)),
            Link::Stored(id) => self.stored_extents(id),
        }
    }

    /// The bytes of a piece; none for a hole.
    pub(crate) fn chunk(&self, piece: &Piece) -> Result<Option<Bytes>, Need> {
        match piece {
            Piece::Fresh(bytes) => Ok(Some(bytes.clone())),
            Piece::Stored(id) => self.stored_chunk(id).map(Some),
            Piece::Hole => Ok(None),
        }
    }
}

/// A tree that is wholly in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InMemory;

impl Source for InMemory {
    fn stored_page(&self, id: &ObjectId) -> Result<Arc<Page>, Need> {
        Err(Need::Page(*id))
    }

    fn stored_extents(&self, id: &ObjectId) -> Result<Arc<ExtentPage>, Need> {
        Err(Need::Extents(*id))
    }

    fn stored_chunk(&self, id: &ObjectId) -> Result<Bytes, Need> {
        Err(Need::Chunk(*id))
    }
}

/// Why work on a tree stops: something must be fetched, or it cannot be done.
#[derive(Debug)]
pub(crate) enum Stop {
    Need(Need),
    Failed(Error),
}

impl From<Need> for Stop {
    fn from(need: Need) -> Self {
        Self::Need(need)
    }
}

impl From<Error> for Stop {
    fn from(err: Error) -> Self {
        Self::Failed(err)
    }
}
