//! A state of a tree in a store, for work that may block.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;
use storage::ObjectId;
use tokio::runtime::Handle;

use crate::Result;
use crate::tree::{
    Cursor, Directory, Extent, ExtentPage, Item, Need, ObjectKind, Page, Piece, Source, Stop,
    decode_extents, decode_page,
};
use crate::virtual_fs::{Family, Root, Trunk, damaged, meaning};

/// How many pages stay at hand. Who goes through a whole tree needs each page once, and then its
/// neighbour; the cache that all share would be emptied for nothing.
const AT_HAND: usize = 128;

/// Reads a state. To be used on threads that may block.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) trunk: Arc<Trunk>,
    root: Root,
    pub(super) runtime: Handle,
    at_hand: RwLock<AtHand>,
}

impl Reader {
    /// Reads `root` with the help of the runtime it is called in.
    pub(super) fn new(trunk: Arc<Trunk>, root: Root) -> Self {
        Self { trunk, root, runtime: Handle::current(), at_hand: RwLock::default() }
    }

    pub(super) fn root(&self) -> &Root {
        &self.root
    }

    pub(super) fn family(&self) -> &Family {
        &self.root.family
    }

    /// Does work on trees, fetching what it needs.
    pub(super) fn work<T>(
        &self,
        mut work: impl FnMut(&dyn Source) -> Result<T, Stop>,
    ) -> Result<T> {
        if self.at_hand.read().len() > AT_HAND {
            *self.at_hand.write() = AtHand::default();
        }
        loop {
            // Let go of before anything is fetched.
            let outcome = work(&*self.at_hand.read());
            match outcome {
                Ok(outcome) => return Ok(outcome),
                Err(Stop::Failed(err)) => return Err(err),
                Err(Stop::Need(need)) => self.fetch(need)?,
            }
        }
    }

    pub(super) fn find(&self, dir: &Directory, name: &str) -> Result<Option<Arc<Item>>> {
        self.work(|source| Ok(dir.find(name, source)?))
    }

    pub(super) fn next(&self, cursor: &mut Cursor) -> Result<Option<Arc<Item>>> {
        self.work(|source| Ok(cursor.next(source)?))
    }

    /// The bytes of an extent; none for a hole.
    pub(super) fn bytes(&self, extent: &Extent) -> Result<Option<Bytes>> {
        let chunk = match &extent.piece {
            Piece::Hole => return Ok(None),
            Piece::Fresh(bytes) => bytes.clone(),
            Piece::Stored(id) => self.object(*id, ObjectKind::Chunk)?,
        };
        let start = extent.start as usize;
        let end = start.saturating_add(usize::try_from(extent.len).unwrap_or(usize::MAX));
        if end > chunk.len() {
            return Err(damaged("a chunk in the store is too short"));
        }
        Ok(Some(chunk.slice(start..end)))
    }

    fn fetch(&self, need: Need) -> Result<()> {
        match need {
            Need::Page(id) => {
                let page = decode_page(&self.object(id, ObjectKind::Page)?);
                let page = Arc::new(page.map_err(|err| damaged(err.0))?);
                self.at_hand.write().pages.insert(id, page);
            }
            Need::Extents(id) => {
                let page = decode_extents(&self.object(id, ObjectKind::Extents)?);
                let page = Arc::new(page.map_err(|err| damaged(err.0))?);
                self.at_hand.write().extents.insert(id, page);
            }
            Need::Chunk(id) => {
                let chunk = self.object(id, ObjectKind::Chunk)?;
                self.at_hand.write().chunks.insert(id, chunk);
            }
        }
        Ok(())
    }

    fn object(&self, id: ObjectId, kind: ObjectKind) -> Result<Bytes> {
        let (storage, key) = (self.trunk.shelf.cache.storage(), self.family().key(id));
        let stored = self.runtime.block_on(storage.get(&key)).map_err(meaning)?;
        self.family().open(id, kind, stored)
    }
}

/// What was needed lately.
#[derive(Debug, Default)]
struct AtHand {
    pages: HashMap<ObjectId, Arc<Page>>,
    extents: HashMap<ObjectId, Arc<ExtentPage>>,
    chunks: HashMap<ObjectId, Bytes>,
}

impl AtHand {
    fn len(&self) -> usize {
        self.pages.len() + self.extents.len() + self.chunks.len()
    }
}

impl Source for AtHand {
    fn stored_page(&self, id: &ObjectId) -> Result<Arc<Page>, Need> {
        self.pages.get(id).cloned().ok_or(Need::Page(*id))
    }

    fn stored_extents(&self, id: &ObjectId) -> Result<Arc<ExtentPage>, Need> {
        self.extents.get(id).cloned().ok_or(Need::Extents(*id))
    }

    fn stored_chunk(&self, id: &ObjectId) -> Result<Bytes, Need> {
        self.chunks.get(id).cloned().ok_or(Need::Chunk(*id))
    }
}
