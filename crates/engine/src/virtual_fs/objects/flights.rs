//! Objects on their way here. Whoever needs one that is on its way waits for it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _, Shared, WeakShared};
use parking_lot::Mutex;
use storage::{ObjectId, ObjectKey, Storage};

use crate::tree::Need;
use crate::{Error, Result};

use super::super::meaning::meaning;
use super::{Family, Kept, Room};

/// What came of each object. One that was taken along may be missing or damaged, which is no
/// concern of those who never get there.
pub(super) type Landed = Arc<HashMap<ObjectId, Result<Kept, Arc<Error>>>>;

/// Some objects that are fetched at once. All who wait for it move it on, so that nobody waits for
/// one who does something else meanwhile; when the last of them goes, it is over.
type Flight = Shared<BoxFuture<'static, Landed>>;

/// The objects that are on their way.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<ObjectId, WeakShared<BoxFuture<'static, Landed>>>>);

impl fmt::Debug for Flights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights").finish_non_exhaustive()
    }
}

impl Flights {
    /// The flight that brings what is needed: one that is under way, or a new one, which takes
    /// along what is needed soon.
    pub(super) fn board(self: &Arc<Self>, from: Origin, need: Need, mut soon: Vec<Need>) -> Flight {
        let mut under_way = self.0.lock();
        if let Some(flight) = under_way.get(&need.id()).and_then(WeakShared::upgrade) {
            return flight;
        }
        soon.retain(|soon| soon.id() != need.id() && !under_way.contains_key(&soon.id()));
        soon.push(need);
        let ids: Vec<ObjectId> = soon.iter().map(Need::id).collect();
        let landing = Landing { flights: Arc::clone(self), ids: ids.clone() };
        let flight = async move {
            let landed = from.fetch(soon).await;
            drop(landing);
            Arc::new(landed)
        };
        let flight = flight.boxed().shared();
        if let Some(weak) = flight.downgrade() {
            under_way.extend(ids.into_iter().map(|id| (id, weak.clone())));
        }
        flight
    }
}

/// Takes objects off the list when they have come, or when nobody waits for them any more.
struct Landing {
    flights: Arc<Flights>,
    ids: Vec<ObjectId>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut under_way = self.flights.0.lock();
        self.ids.iter().for_each(|id| drop(under_way.remove(id)));
    }
}

/// Where a flight begins, and where that which it brings is kept.
pub(super) struct Origin {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) kept: Arc<Room>,
    pub(super) family: Family,
}

impl Origin {
    /// Fetches objects, all at once. What is kept by now, because somebody else was faster, is not
    /// fetched again.
    async fn fetch(&self, needs: Vec<Need>) -> HashMap<ObjectId, Result<Kept, Arc<Error>>> {
        let mut landed = HashMap::with_capacity(needs.len());
        let mut missing = Vec::with_capacity(needs.len());
        for need in needs {
            match self.kept.get(&need.id()) {
                Some(kept) => drop(landed.insert(need.id(), Ok(kept))),
                None => missing.push(need),
            }
        }
        match self.stored(&missing).await.map_err(Arc::new) {
            Ok(stored) => {
                for (need, stored) in missing.into_iter().zip(stored) {
                    let opened = Kept::open(&self.family, need, stored).map_err(Arc::new);
                    if let Ok(kept) = &opened {
                        self.kept.insert(need.id(), kept.clone());
                    }
                    landed.insert(need.id(), opened);
                }
            }
            Err(err) => {
                landed.extend(missing.iter().map(|need| (need.id(), Err(Arc::clone(&err)))));
            }
        }
        landed
    }

    async fn stored(&self, needs: &[Need]) -> Result<Vec<Option<Bytes>>> {
        let keys: Vec<ObjectKey> = needs.iter().map(|need| self.family.key(need.id())).collect();
        match &keys[..] {
            [] => Ok(Vec::new()),
            [only] => Ok(vec![self.storage.get(only).await.map_err(meaning)?]),
            several => self.storage.get_many(several).await.map_err(meaning),
        }
    }
}

/// An error that several wait for, for one of them.
pub(crate) fn for_one(err: &Arc<Error>) -> Error {
    let one = Error::new(err.kind(), err.message().to_owned());
    match std::error::Error::source(&**err) {
        Some(_) => one.because(Arc::clone(err)),
        None => one,
    }
}
