//! What is known of keys, and for how long that is believed.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _, Shared, WeakShared};
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use storage::{Ref, Storage};
use tokio::time::{Instant, timeout_at};

use crate::virtual_fs::{for_one, meaning};
use crate::{Error, ErrorKind, Result};

use super::{KeyId, KeyRecord, Scope, key_of, unreadable};

/// For how long what was read is believed without another look. Another server may have revoked the
/// key meanwhile.
const FRESH: Duration = Duration::from_secs(2);
/// For how long it is believed when the store does not answer. Never longer: who was shut out must
/// not stay because the store is away.
const LONGEST: Duration = Duration::from_secs(5);
/// How long a look may take. What was fresh when it began is then just not too old.
const PATIENCE: Duration = Duration::from_secs(3);
/// How many keys are remembered, and in how many bytes: one that names 1,024 sandboxes takes 100 KB.
const KEYS: (usize, u64) = (16_384, 32 << 20);
/// How many ids are remembered that no key has. They have a room of their own: whoever guesses
/// pushes out nobody but others who do.
const STRANGERS: usize = 4096;

/// What a process knows of the keys in a store.
pub(super) struct Known {
    pub(super) storage: Arc<dyn Storage>,
    keys: Cache<KeyId, Seen, Weight>,
    strangers: Cache<KeyId, Instant>,
    looks: Mutex<Looks>,
}

/// The looks that are under way, one for each id.
#[derive(Default)]
struct Looks {
    count: u64,
    under_way: HashMap<KeyId, UnderWay>,
}

struct UnderWay {
    number: u64,
    began: Instant,
    look: WeakShared<Landing>,
}

/// All who wait for a look move it on; when the last of them goes, it is over.
type Look = Shared<Landing>;
type Landing = BoxFuture<'static, Result<Seen, Arc<Error>>>;

/// A key as it was, or that there was none.
#[derive(Clone, Debug)]
struct Seen {
    record: Option<Arc<KeyRecord>>,
    /// When the look at it began.
    read: Instant,
}

impl Known {
    pub(super) fn new(storage: Arc<dyn Storage>) -> Self {
        let keys = Cache::with_weighter(KEYS.0, KEYS.1, Weight);
        Self { storage, keys, strangers: Cache::new(STRANGERS), looks: Mutex::default() }
    }

    /// The key with an id, if there is one.
    pub(super) async fn find(self: &Arc<Self>, id: &KeyId) -> Result<Option<Arc<KeyRecord>>> {
        if let Some(record) = self.believed(id) {
            return Ok(record);
        }
        let looked = self.look(*id).await;
        let is_timely = |seen: &Seen| seen.read.elapsed() <= LONGEST;
        match looked {
            Ok(seen) if is_timely(&seen) => Ok(seen.record),
            Ok(_) => Err(no_answer()),
            // Looked up again: it may have been revoked while the store did not answer.
            Err(err) => match self.keys.get(id).filter(is_timely) {
                Some(seen) => Ok(seen.record),
                None => Err(for_one(&err)),
            },
        }
    }

    /// Lets everybody look again. What comes of looks that are under way is not remembered.
    pub(super) fn forget(&self, id: &KeyId) {
        let mut looks = self.looks.lock();
        looks.under_way.remove(id);
        self.keys.remove(id);
        self.strangers.remove(id);
    }

    /// What is believed without a look.
    fn believed(&self, id: &KeyId) -> Option<Option<Arc<KeyRecord>>> {
        let is_fresh = |read: Instant| read.elapsed() < FRESH;
        if let Some(seen) = self.keys.get(id) {
            return is_fresh(seen.read).then_some(seen.record);
        }
        self.strangers.get(id).filter(|read| is_fresh(*read)).map(|_| None)
    }

    /// A look at the store: one that began a moment ago, or a new one.
    fn look(self: &Arc<Self>, id: KeyId) -> Look {
        let mut looks = self.looks.lock();
        let recent = looks.under_way.get(&id).filter(|it| it.began.elapsed() < FRESH);
        if let Some(look) = recent.and_then(|it| it.look.upgrade()) {
            return look;
        }
        looks.count += 1;
        let (number, began) = (looks.count, Instant::now());
        let turn = Turn { known: Arc::clone(self), id, number };
        let look = async move {
            let seen = turn.known.load(id, began).await.map_err(Arc::new);
            turn.remember(&seen);
            seen
        };
        let look = look.boxed().shared();
        if let Some(weak) = look.downgrade() {
            looks.under_way.insert(id, UnderWay { number, began, look: weak });
        }
        look
    }

    async fn load(&self, id: KeyId, began: Instant) -> Result<Seen> {
        let key = key_of(&id)?;
        let loaded = timeout_at(began + PATIENCE, self.storage.load(&key)).await;
        let stored = loaded.map_err(|_| no_answer())?.map_err(meaning)?;
        let record = stored.map(|Ref { value, .. }| KeyRecord::decode(id, &value));
        let record = record.transpose().map_err(|err| unreadable(&id, err))?;
        Ok(Seen { record: record.map(Arc::new), read: began })
    }
}

/// A look's place among those that are under way.
struct Turn {
    known: Arc<Known>,
    id: KeyId,
    number: u64,
}

impl Turn {
    /// Keeps what was seen, unless the key was revoked or somebody looked later.
    fn remember(&self, seen: &Result<Seen, Arc<Error>>) {
        let Ok(seen) = seen else { return };
        // Held to the end: whoever forgets the key does so before this or after it.
        let looks = self.known.looks.lock();
        if looks.under_way.get(&self.id).is_none_or(|it| it.number != self.number) {
            return;
        }
        match &seen.record {
            Some(_) => self.known.keys.insert(self.id, seen.clone()),
            None => {
                self.known.keys.remove(&self.id);
                self.known.strangers.insert(self.id, seen.read);
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let under_way = &mut self.known.looks.lock().under_way;
        if under_way.get(&self.id).is_some_and(|it| it.number == self.number) {
            under_way.remove(&self.id);
        }
    }
}

#[derive(Clone, Debug)]
struct Weight;

impl Weighter<KeyId, Seen> for Weight {
    fn weight(&self, _: &KeyId, seen: &Seen) -> u64 {
        let named = match seen.record.as_deref().map(|record| &record.grant.scope) {
            Some(Scope::Only(ids)) => ids.iter().map(|id| 48 + id.as_str().len()).sum(),
            Some(Scope::All) | None => 0,
        };
        named as u64 + 512
    }
}

fn no_answer() -> Error {
    Error::new(ErrorKind::Unavailable, "the store of keys does not answer")
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("storage", &self.storage).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use storage::MemoryStorage;

    use super::super::secret::KeyText;
    use super::*;

    #[tokio::test]
    async fn guessing_fills_no_memory() {
        let known = Arc::new(Known::new(Arc::new(MemoryStorage::default())));
        for _ in 0..20_000 {
            let (id, ..) = KeyText::random().unwrap();
            assert!(known.find(&id).await.unwrap().is_none());
        }
        assert!(known.strangers.len() <= STRANGERS);
        assert_eq!(known.keys.len(), 0);
        assert_eq!(known.looks.lock().under_way.len(), 0);
    }

    #[tokio::test]
    async fn a_look_that_nobody_waits_for_any_more_leaves_nothing_behind() {
        let known = Arc::new(Known::new(Arc::new(MemoryStorage::default())));
        let (id, ..) = KeyText::random().unwrap();
        drop(known.look(id));
        assert_eq!(known.looks.lock().under_way.len(), 0);
    }
}
