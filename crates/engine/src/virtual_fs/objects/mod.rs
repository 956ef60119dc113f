//! Stored pages and chunks: fetched once, checked, kept while there is room.

mod family;
mod flights;
mod kept;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use quick_cache::sync::Cache;
use storage::{ObjectId, Storage};

use crate::tree::{ExtentPage, Need, ObjectKind, Page, Source};
use crate::{Error, ErrorKind, Result};

pub(crate) use self::family::{Family, Secret};
pub(crate) use self::flights::for_one;
use self::flights::{Flights, Landed, Origin};
pub(super) use self::kept::node_weight;
use self::kept::{Kept, Weight};
use super::meaning::meaning;

/// How many bytes an object takes in memory, more or less.
const USUAL: u64 = 2 << 10;

/// How many objects are taken along when one must be fetched: so many at first, and as many as the
/// work has at hand already when it goes on, so that long work, which starts over each time, does
/// not do so too often. A page has some 32 names, of 1 KiB at most with what is in small files, so
/// that these are 4 MiB at most. Chunks are taken along only by who wants all of them at once.
const TAKEN_ALONG: (usize, usize) = (32, 128);

/// What a store keeps in memory.
type Room = Cache<ObjectId, Kept, Weight>;

/// The objects of a store.
#[derive(Debug)]
pub(crate) struct ObjectCache {
    storage: Arc<dyn Storage>,
    kept: Arc<Room>,
    flights: Arc<Flights>,
}

impl ObjectCache {
    /// The objects of a storage, of which so many bytes are kept in memory.
    pub(crate) fn new(storage: Arc<dyn Storage>, bytes: u64) -> Self {
        let objects = usize::try_from(bytes / USUAL).unwrap_or(usize::MAX);
        let kept = Arc::new(Cache::with_weighter(objects, bytes, Weight));
        Self { storage, kept, flights: Arc::default() }
    }

    pub(crate) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// A view for one piece of work: what it needed once stays at hand until it is done.
    pub(crate) fn view(&self) -> View<'_> {
        View { cache: self, pinned: HashMap::new(), foreseen: Mutex::default() }
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
        let stored = self.storage.get(&family.key(id)).await.map_err(meaning)?;
        family.open(id, ObjectKind::Chunk, stored)
    }

    /// Fetches what is needed, and what is needed soon.
    async fn fetch(&self, family: &Family, need: Need, soon: Vec<Need>) -> Landed {
        let (storage, kept) = (Arc::clone(&self.storage), Arc::clone(&self.kept));
        let from = Origin { storage, kept, family: *family };
        self.flights.board(from, need, soon).await
    }
}

/// What one piece of work sees of a store.
#[derive(Debug)]
pub(crate) struct View<'a> {
    cache: &'a ObjectCache,
    pinned: HashMap<ObjectId, Kept>,
    /// What the work is about to need.
    foreseen: Mutex<Vec<Need>>,
}

impl View<'_> {
    /// Fetches what the work needs, so that it can start over, and what it will need then.
    pub(crate) async fn fetch(&mut self, family: &Family, need: Need) -> Result<()> {
        let soon = std::mem::take(self.foreseen.get_mut());
        let landed = self.cache.fetch(family, need, soon).await;
        let came = landed.iter().filter_map(|(id, came)| Some((*id, came.as_ref().ok()?.clone())));
        self.pinned.extend(came);
        match landed.get(&need.id()) {
            Some(Ok(kept)) if kept.is_for(need) => Ok(()),
            Some(Ok(_)) | None => Err(damaged("an object in the store is not what it was")),
            Some(Err(err)) => Err(for_one(err)),
        }
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

    fn foresee(&self, following: &mut dyn Iterator<Item = Need>) {
        let (least, most) = TAKEN_ALONG;
        let most = self.pinned.len().clamp(least, most);
        let mut soon = self.foreseen.lock().clone();
        while soon.len() < most
            && let Some(need) = following.next()
        {
            if !soon.contains(&need) && self.kept(&need.id()).is_none() {
                soon.push(need);
            }
        }
        // Who tells may have been told more on his way, which is further away.
        let mut foreseen = self.foreseen.lock();
        let further = foreseen.drain(..).filter(|need| !soon.contains(need)).collect::<Vec<_>>();
        soon.extend(further);
        soon.truncate(most);
        *foreseen = soon;
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
    use crate::tree::{Body, File, Item, Node, Stamp};

    const KEPT: u64 = 32 << 20;

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
        let cache = ObjectCache::new(Arc::new(MemoryStorage::default()), KEPT);
        for number in 0..2000_usize {
            let id = blake3::hash(&number.to_le_bytes());
            cache.keep(vec![(ObjectId(*id.as_bytes()), page(number))]);
        }
        let held: u64 = cache.kept.iter().map(|_| 64 * (512 + 241)).sum();
        assert!((KEPT / 2..=KEPT).contains(&held), "{held} bytes are held");
    }
}
