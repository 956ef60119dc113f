//! Stored pages and chunks: fetched once, checked, kept while there is room.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use storage::{Domain, ObjectId, ObjectKey, Storage, frame};

use crate::tree::{
    Body, Child, Directory, Extent, ExtentPage, File, Heights, IdKey, Item, Need, Node, ObjectKind,
    Page, Piece, Source, Top, decode_extents, decode_page,
};
use crate::{Error, ErrorKind, Result};

use super::meaning::meaning;

/// How many bytes of pages and chunks a store keeps in memory.
const KEPT: u64 = 32 << 20;
/// How many objects that is about.
const KEPT_OBJECTS: usize = 16 << 10;

/// The secret of a sandbox and its forks, and the keys that come of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) domain: Domain,
    pub(crate) secret: Secret,
    pub(crate) ids: IdKey,
    pub(crate) heights: Heights,
}

/// Bytes that no log may show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) [u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Family {
    /// The family of a domain with this secret. The names of the keys are part of the format.
    pub(crate) fn new(domain: Domain, secret: Secret) -> Self {
        let ids = IdKey(blake3::derive_key("sandkeep 1 object ids", &secret.0));
        let heights = Heights::new(blake3::derive_key("sandkeep 1 name heights", &secret.0));
        Self { domain, secret, ids, heights }
    }

    /// A family of its own.
    pub(crate) fn random() -> Self {
        Self::new(Domain::random(), Secret(rand::random()))
    }

    pub(crate) fn key(&self, id: ObjectId) -> ObjectKey {
        ObjectKey { domain: self.domain, id }
    }

    /// The content of an object that a store gave, which must be what its id says.
    pub(crate) fn open(
        &self,
        id: ObjectId,
        kind: ObjectKind,
        stored: Option<Bytes>,
    ) -> Result<Bytes> {
        let stored = stored.ok_or_else(|| damaged("an object is missing from the store"))?;
        let plain = frame::open(&stored).map_err(meaning)?;
        if self.ids.id(kind, &plain) != id {
            return Err(damaged("an object in the store is not what it was"));
        }
        Ok(plain)
    }
}

/// An object as the tree wants it.
#[derive(Clone, Debug)]
enum Kept {
    Page(Arc<Page>),
    Extents(Arc<ExtentPage>),
    Chunk(Bytes),
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<ObjectId, Kept> for Weight {
    fn weight(&self, _: &ObjectId, kept: &Kept) -> u64 {
        let held = match kept {
            Kept::Page(page) => match &**page {
                Page::Leaf(items) => items.iter().map(|item| item_weight(item)).sum(),
                Page::Inner { children, .. } => {
                    children.iter().map(|child| size_of::<Child>() + 32 + child.first.len()).sum()
                }
            },
            Kept::Extents(page) => match &**page {
                ExtentPage::Leaf(extents) => extents.len() * size_of::<Extent>(),
                ExtentPage::Inner { children, .. } => children.len() * 48,
            },
            Kept::Chunk(bytes) => bytes.len(),
        };
        held as u64 + 128
    }
}

fn item_weight(item: &Item) -> usize {
    size_of::<Item>() + 64 + item.name.len() + node_weight(&item.node)
}

/// How many bytes a node takes besides itself, without what is beneath it.
pub(super) fn node_weight(node: &Node) -> usize {
    match &node.body {
        Body::File(File::Inline(bytes)) => bytes.len(),
        Body::File(File::Pieces { top: Top::Few(extents), .. }) => {
            extents.iter().map(extent_weight).sum()
        }
        Body::File(File::Pieces { top: Top::Many(_), .. }) => 0,
        Body::Directory(_) => size_of::<Directory>(),
        Body::Symlink(target) => target.len(),
    }
}

fn extent_weight(extent: &Extent) -> usize {
    size_of::<Extent>()
        + match &extent.piece {
            Piece::Fresh(bytes) => bytes.len(),
            Piece::Stored(_) | Piece::Hole => 0,
        }
}

/// The objects of a store.
#[derive(Debug)]
pub(crate) struct ObjectCache {
    storage: Arc<dyn Storage>,
    kept: Cache<ObjectId, Kept, Weight>,
}

impl ObjectCache {
    pub(crate) fn new(storage: Arc<dyn Storage>) -> Self {
        Self { storage, kept: Cache::with_weighter(KEPT_OBJECTS, KEPT, Weight) }
    }

    pub(crate) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// A view for one piece of work: what it needed once stays at hand until it is done.
    pub(crate) fn view(&self) -> View<'_> {
        View { cache: self, pinned: HashMap::new() }
    }

    /// Keeps pages that were just stored.
    pub(crate) fn keep(&self, pages: Vec<(ObjectId, Arc<Page>)>) {
        for (id, page) in pages {
            self.kept.insert(id, Kept::Page(page));
        }
    }

    /// Fetches a chunk for a reader, without keeping it.
    pub(crate) async fn chunk(&self, family: &Family, id: ObjectId) -> Result<Bytes> {
        if let Some(Kept::Chunk(bytes)) = self.kept.get(&id) {
            return Ok(bytes);
        }
        self.fetch_bytes(family, id, ObjectKind::Chunk).await
    }

    /// The content of an object.
    async fn fetch_bytes(&self, family: &Family, id: ObjectId, kind: ObjectKind) -> Result<Bytes> {
        let stored = self.storage.get(&family.key(id)).await.map_err(meaning)?;
        family.open(id, kind, stored)
    }

    async fn fetch(&self, family: &Family, need: Need) -> Result<(ObjectId, Kept)> {
        match need {
            Need::Page(id) => {
                let bytes = self.fetch_bytes(family, id, ObjectKind::Page).await?;
                let page = decode_page(&bytes).map_err(|err| damaged(err.0))?;
                Ok((id, Kept::Page(Arc::new(page))))
            }
            Need::Extents(id) => {
                let bytes = self.fetch_bytes(family, id, ObjectKind::Extents).await?;
                let page = decode_extents(&bytes).map_err(|err| damaged(err.0))?;
                Ok((id, Kept::Extents(Arc::new(page))))
            }
            Need::Chunk(id) => {
                let bytes = self.fetch_bytes(family, id, ObjectKind::Chunk).await?;
                Ok((id, Kept::Chunk(bytes)))
            }
        }
    }
}

/// What one piece of work sees of a store.
#[derive(Debug)]
pub(crate) struct View<'a> {
    cache: &'a ObjectCache,
    pinned: HashMap<ObjectId, Kept>,
}

impl View<'_> {
    /// Fetches what the work needs, so that it can start over.
    pub(crate) async fn fetch(&mut self, family: &Family, need: Need) -> Result<()> {
        let (id, kept) = self.cache.fetch(family, need).await?;
        self.cache.kept.insert(id, kept.clone());
        self.pinned.insert(id, kept);
        Ok(())
    }

    fn kept(&self, id: &ObjectId) -> Option<Kept> {
        self.pinned.get(id).cloned().or_else(|| self.cache.kept.get(id))
    }
}

impl Source for View<'_> {
    fn stored_page(&self, id: &ObjectId) -> Result<Arc<Page>, Need> {
        match self.kept(id) {
            Some(Kept::Page(page)) => Ok(page),
            Some(Kept::Extents(_) | Kept::Chunk(_)) | None => Err(Need::Page(*id)),
        }
    }

    fn stored_extents(&self, id: &ObjectId) -> Result<Arc<ExtentPage>, Need> {
        match self.kept(id) {
            Some(Kept::Extents(page)) => Ok(page),
            Some(Kept::Page(_) | Kept::Chunk(_)) | None => Err(Need::Extents(*id)),
        }
    }

    fn stored_chunk(&self, id: &ObjectId) -> Result<Bytes, Need> {
        match self.kept(id) {
            Some(Kept::Chunk(bytes)) => Ok(bytes),
            Some(Kept::Page(_) | Kept::Extents(_)) | None => Err(Need::Chunk(*id)),
        }
    }
}

/// A store that does not hold what it must.
pub(crate) fn damaged(what: &'static str) -> Error {
    Error::new(ErrorKind::Io, what)
}

#[cfg(test)]
mod tests {
    use storage::MemoryStorage;

    use super::*;
    use crate::UnixTime;
    use crate::tree::Stamp;

    fn page(number: usize) -> Arc<Page> {
        let time = UnixTime { seconds: 0, nanoseconds: 0 };
        let item = |place: usize| {
            let body = Body::File(File::Inline(vec![0; 512].into()));
            let stamp = Stamp::default();
            let node = Node { mode: 0o644, created: time, modified: time, stamp, body };
            Arc::new(Item { name: format!("{number:0>120} {place:0>120}").into(), node })
        };
        Arc::new(Page::Leaf((0..64).map(item).collect::<Vec<_>>().into()))
    }

    #[test]
    fn small_files_and_their_names_take_no_more_room_than_a_cache_has() {
        let cache = ObjectCache::new(Arc::new(MemoryStorage::default()));
        for number in 0..2000_usize {
            let id = blake3::hash(&number.to_le_bytes());
            cache.keep(vec![(ObjectId(*id.as_bytes()), page(number))]);
        }
        let held: u64 = cache.kept.iter().map(|_| 64 * (512 + 241)).sum();
        assert!((KEPT / 2..=KEPT).contains(&held), "{held} bytes are held");
    }
}
