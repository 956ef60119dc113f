//! The trees that one store keeps, and those of them that are open.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;
use storage::{Expected, Ref, RefKey, Storage, Swap};

use crate::{Error, ErrorKind, Limits, Result, SandboxId, UnixTime};

use super::VirtualFs;
use super::meaning::meaning;
use super::objects::{Family, ObjectCache, damaged};
use super::pins::{Hold, Pins};
use super::root::Root;
use super::trunk::{State, Trunk};

/// Where virtual trees and snapshots are kept. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) shelf: Arc<Shelf>,
}

#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) cache: ObjectCache,
    /// Who we are in the roots that we write.
    pub(super) writer: u128,
    /// How many commits we made, of all trees: no two of them have the same number.
    pub(super) commits: AtomicU64,
    pub(super) open: Mutex<HashMap<SandboxId, Slot>>,
    pub(super) pins: Arc<Pins>,
    /// The one family of trees in memory, so that all of them can share pages.
    resident: Option<Family>,
}

/// An open tree. One in memory is nowhere else, so it stays open.
#[derive(Debug)]
pub(super) enum Slot {
    Resident(Arc<Trunk>),
    Stored(Weak<Trunk>),
}

impl Slot {
    pub(super) fn trunk(&self) -> Option<Arc<Trunk>> {
        let trunk = match self {
            Self::Resident(trunk) => Some(Arc::clone(trunk)),
            Self::Stored(trunk) => trunk.upgrade(),
        };
        // Another sandbox may have the id of one that was removed.
        trunk.filter(|trunk| trunk.check_there().is_ok())
    }
}

impl Store {
    /// Opens the store at `url`: `memory:` or `file:DIR`.
    pub async fn open(url: &str) -> Result<Self> {
        let storage = storage::open(url).await.map_err(meaning)?;
        Ok(Self::over(storage))
    }

    /// A store whose trees are in memory and end with it.
    pub fn in_memory() -> Self {
        Self::over(Arc::new(storage::MemoryStorage::default()))
    }

    /// A store over a storage that was opened.
    pub fn over(storage: Arc<dyn Storage>) -> Self {
        let resident = (!storage.capabilities().durable).then(Family::random);
        Self::with(storage, resident)
    }

    /// A store that turns every change into objects, even of a storage in memory.
    pub fn flushing(storage: Arc<dyn Storage>) -> Self {
        Self::with(storage, None)
    }

    fn with(storage: Arc<dyn Storage>, resident: Option<Family>) -> Self {
        let (cache, writer) = (ObjectCache::new(storage), rand::random());
        let (commits, open, pins) = (AtomicU64::default(), Mutex::default(), Arc::default());
        Self { shelf: Arc::new(Shelf { cache, writer, commits, open, pins, resident }) }
    }

    /// A new, empty sandbox. One that exists is left as it is.
    pub async fn create(&self, id: &SandboxId, limits: Limits) -> Result<VirtualFs> {
        let family = self.shelf.resident.unwrap_or_else(Family::random);
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
        self.resident.is_some()
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
            let mut open = self.open.lock();
            if open.contains_key(id) {
                return Err(exists(id));
            }
            let state = Arc::new(State { root, token: None });
            let trunk = Arc::new(Trunk::new(id.clone(), Arc::clone(self), state));
            open.insert(id.clone(), Slot::Resident(Arc::clone(&trunk)));
            return Ok(trunk);
        }
        let value = Bytes::from(root.encode().map_err(|err| damaged(err.0))?);
        let swap = self.cache.storage().swap(&root_key(id)?, &Expected::Absent, value).await;
        match swap.map_err(meaning)? {
            Swap::Won(token) => {
                // What is open under that id was removed before.
                let old = self.open.lock().remove(id);
                old.and_then(|slot| slot.trunk()).iter().for_each(|trunk| trunk.remove());
                Ok(self.opened(id, self.hold(State { root, token: Some(token) })))
            }
            Swap::Lost(_) => Err(exists(id)),
        }
    }

    /// The tree of a sandbox that exists.
    pub(crate) async fn trunk(self: &Arc<Self>, id: &SandboxId) -> Result<Arc<Trunk>> {
        if let Some(trunk) = self.open.lock().get(id).and_then(Slot::trunk) {
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
        if let Some(trunk) = open.get(id).and_then(Slot::trunk) {
            return trunk;
        }
        open.retain(|_, slot| slot.trunk().is_some());
        let trunk = Arc::new(Trunk::new(id.clone(), Arc::clone(self), state));
        open.insert(id.clone(), Slot::Stored(Arc::downgrade(&trunk)));
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

fn exists(id: &SandboxId) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("a sandbox `{id}` exists"))
}

pub(super) fn missing(id: &SandboxId) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no sandbox `{id}`"))
}
