//! The trees that one store keeps, and those of them that are open.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;
use storage::{Expected, Ref, RefKey, Storage, Swap};

use crate::{Error, ErrorKind, Limits, Result, SandboxId, UnixTime};

use super::VirtualFs;
use super::lease;
use super::meaning::{doubtful, meaning};
use super::objects::{Family, ObjectCache, damaged};
use super::options::{DiskCache, StoreOptions};
use super::pins::{Hold, Pins};
use super::root::Root;
use super::trunk::{State, Trunk};

/// Where virtual trees and snapshots are kept. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) shelf: Arc<Shelf>,
    /// Ends with the last of those who could ask for one of them.
    pub(super) resident: Arc<Resident>,
}

/// The trees that are in memory and nowhere else.
pub(super) type Resident = Mutex<HashMap<SandboxId, Arc<Trunk>>>;

#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) cache: ObjectCache,
    /// Who we are in the roots that we write.
    pub(super) writer: u128,
    /// How many commits we made, of all trees: no two of them have the same number.
    pub(super) commits: AtomicU64,
    pub(super) open: Mutex<HashMap<SandboxId, Weak<Trunk>>>,
    pub(super) pins: Arc<Pins>,
    /// How old the state of a tree may be that is shown, where others change it too.
    pub(super) staleness: Option<Duration>,
    /// How other servers reach us.
    pub(super) address: Option<Arc<str>>,
    /// Trees know their shelf, so it must not hold them.
    pub(super) resident: Weak<Resident>,
    /// The one family of trees in memory, so that all of them can share pages.
    family: Option<Family>,
}

/// An open tree that is still there: another sandbox may have the id of one that was removed.
pub(super) fn open_trunk(open: &Weak<Trunk>) -> Option<Arc<Trunk>> {
    open.upgrade().filter(|trunk| trunk.check_there().is_ok())
}

impl Store {
    /// Opens the store at `url`; [`storage::open`] says which there are.
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_with(url, StoreOptions::default()).await
    }

    /// Opens a store to be used in a certain way.
    pub async fn open_with(url: &str, options: StoreOptions) -> Result<Self> {
        if options.address.as_deref().is_some_and(|address| !lease::fits(address)) {
            let message = "the address for other servers is empty, or longer than 255 bytes";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let storage = storage::open(url).await.map_err(meaning)?;
        if storage::is_unfinished_copy(&*storage).await.map_err(meaning)? {
            let message = "the store is the target of a copy that did not finish";
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        let storage = match &options.disk_cache {
            Some(DiskCache { dir, limit }) if storage.capabilities().shared => {
                storage::DiskCache::over(storage, dir, *limit).await.map_err(meaning)?
            }
            Some(_) | None => storage,
        };
        Ok(Self::over_with(storage, options))
    }

    /// A store whose trees are in memory and end with it.
    pub fn in_memory() -> Self {
        Self::over(Arc::new(storage::MemoryStorage::default()))
    }

    /// A store over a storage that was opened.
    pub fn over(storage: Arc<dyn Storage>) -> Self {
        Self::over_with(storage, StoreOptions::default())
    }

    /// The same, to be used in a certain way. A cache on disk is for the caller to put in front.
    pub fn over_with(storage: Arc<dyn Storage>, options: StoreOptions) -> Self {
        let family = (!storage.capabilities().durable).then(Family::random);
        Self::with(storage, family, options)
    }

    /// A store that turns every change into objects, even of a storage in memory.
    pub fn flushing(storage: Arc<dyn Storage>) -> Self {
        Self::with(storage, None, StoreOptions::default())
    }

    fn with(storage: Arc<dyn Storage>, family: Option<Family>, options: StoreOptions) -> Self {
        let resident = Arc::default();
        let shared = storage.capabilities().shared;
        let shelf = Arc::new(Shelf {
            cache: ObjectCache::new(storage, options.memory),
            writer: rand::random(),
            commits: AtomicU64::default(),
            open: Mutex::default(),
            pins: Arc::default(),
            staleness: shared.then_some(options.staleness),
            address: options.address.filter(|_| shared).map(Arc::from),
            resident: Arc::downgrade(&resident),
            family,
        });
        Self { shelf, resident }
    }

    /// A new, empty sandbox. One that exists is left as it is.
    pub async fn create(&self, id: &SandboxId, limits: Limits) -> Result<VirtualFs> {
        let family = self.shelf.family.unwrap_or_else(Family::random);
        let root = Root::new(family, limits, now());
        self.shelf.create(id, root).await.map(VirtualFs::live)
    }

    /// A sandbox that exists.
    pub async fn sandbox(&self, id: &SandboxId) -> Result<VirtualFs> {
        self.shelf.trunk(id).await.map(VirtualFs::live)
    }

    /// A sandbox, made with these limits when it does not exist. One that does keeps its own.
    pub async fn sandbox_or_new(&self, id: &SandboxId, limits: Limits) -> Result<VirtualFs> {
        match self.sandbox(id).await {
            Err(err) if err.kind() == ErrorKind::NotFound => match self.create(id, limits).await {
                Err(err) if err.kind() == ErrorKind::AlreadyExists => self.sandbox(id).await,
                outcome => outcome,
            },
            outcome => outcome,
        }
    }
}

impl Shelf {
    /// Whether trees are kept in memory as they are.
    pub(crate) fn is_resident(&self) -> bool {
        self.family.is_some()
    }

    /// Whether other processes change the trees too.
    pub(crate) fn is_shared(&self) -> bool {
        self.staleness.is_some()
    }

    /// A state that nothing is collected of as long as anybody has it.
    pub(crate) fn hold(&self, state: State) -> Arc<State> {
        if self.is_resident() { Arc::new(state) } else { self.pins.hold(state) }
    }

    /// Begins to store objects that no ref leads to yet: they stay as long as this is held.
    pub(crate) fn begin(&self) -> Option<Hold> {
        (!self.is_resident()).then(|| Hold::Work(self.pins.begin()))
    }

    /// Makes a sandbox whose first state is `root`.
    pub(crate) async fn create(self: &Arc<Self>, id: &SandboxId, root: Root) -> Result<Arc<Trunk>> {
        if self.is_resident() {
            return self.create_resident(id, root);
        }
        let value = Bytes::from(root.encode().map_err(|err| damaged(err.0))?);
        let swap = self.cache.storage().swap(&root_key(id)?, &Expected::Absent, value).await;
        let state = match swap.map_err(doubtful)? {
            Swap::Won(token) => State { root, token: Some(token) },
            // The answer may have got lost, and somebody may have changed what we made.
            Swap::Lost(Some(Ref { value, token })) => match Root::decode(&value) {
                Ok(now) if now.identity() == root.identity() => {
                    State { root: now, token: Some(token) }
                }
                Ok(_) | Err(_) => return Err(exists(id)),
            },
            Swap::Lost(None) => return Err(exists(id)),
        };
        // What is open under that id was removed before.
        let old = self.open.lock().remove(id);
        old.and_then(|open| open_trunk(&open)).iter().for_each(|trunk| trunk.remove());
        Ok(self.opened(id, self.hold(state)))
    }

    fn create_resident(self: &Arc<Self>, id: &SandboxId, root: Root) -> Result<Arc<Trunk>> {
        let resident = self.resident.upgrade().ok_or_else(ended)?;
        match resident.lock().entry(id.clone()) {
            Entry::Occupied(_) => Err(exists(id)),
            Entry::Vacant(place) => {
                let state = Arc::new(State { root, token: None });
                let trunk = Arc::new(Trunk::new(id.clone(), Arc::clone(self), state));
                Ok(Arc::clone(place.insert(trunk)))
            }
        }
    }

    /// The tree of a sandbox that exists.
    pub(crate) async fn trunk(self: &Arc<Self>, id: &SandboxId) -> Result<Arc<Trunk>> {
        if self.is_resident() {
            let resident = self.resident.upgrade().ok_or_else(ended)?;
            return resident.lock().get(id).map(Arc::clone).ok_or_else(|| missing(id));
        }
        if let Some(trunk) = self.open.lock().get(id).and_then(open_trunk) {
            return Ok(trunk);
        }
        let entered = self.pins.enter().await;
        let stored = self.cache.storage().load(&root_key(id)?).await.map_err(meaning)?;
        let Ref { value, token } = stored.ok_or_else(|| missing(id))?;
        let root = Root::decode(&value).map_err(|err| damaged(err.0))?;
        let state = self.pins.hold_seen(State { root, token: Some(token) }, &entered);
        Ok(self.opened(id, state))
    }

    /// The one open tree of a sandbox; whoever was first opened it.
    fn opened(self: &Arc<Self>, id: &SandboxId, state: Arc<State>) -> Arc<Trunk> {
        let mut open = self.open.lock();
        if let Some(trunk) = open.get(id).and_then(open_trunk) {
            return trunk;
        }
        // Each time the table would grow, and not for each tree: there may be thousands.
        if open.len() == open.capacity() {
            open.retain(|_, open| open_trunk(open).is_some());
        }
        let trunk = Arc::new(Trunk::new(id.clone(), Arc::clone(self), state));
        open.insert(id.clone(), Arc::downgrade(&trunk));
        trunk
    }
}

/// Where the root of a sandbox is kept.
pub(crate) fn root_key(id: &SandboxId) -> Result<RefKey> {
    RefKey::new(&format!("sandboxes/{id}/root")).map_err(meaning)
}

/// The time.
pub(crate) fn now() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    UnixTime { seconds, nanoseconds: since.subsec_nanos() }
}

/// A store in memory that nobody has any more.
fn ended() -> Error {
    Error::new(ErrorKind::Unavailable, "the store was closed")
}

fn exists(id: &SandboxId) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("a sandbox `{id}` exists"))
}

pub(super) fn missing(id: &SandboxId) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no sandbox `{id}`"))
}
