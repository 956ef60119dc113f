//! Where the snapshots of one sandbox are kept.

use std::sync::Arc;

use bytes::Bytes;
use storage::{Expected, Ref, RefKey, Swap};

use crate::snapshot::{Record, SnapshotId};
use crate::{Error, ErrorKind, Result};

use super::meaning::{doubtful, meaning};
use super::objects::damaged;
use super::trunk::{State, Trunk};

/// The most that one list gives.
const MOST: usize = 1000;

/// The snapshots of one sandbox: in memory with its tree, or as refs of the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotRefs<'a> {
    trunk: &'a Trunk,
}

impl Trunk {
    pub(crate) fn snapshots(&self) -> SnapshotRefs<'_> {
        SnapshotRefs { trunk: self }
    }
}

impl SnapshotRefs<'_> {
    pub(crate) async fn load(&self, id: &SnapshotId) -> Result<Record> {
        if self.trunk.shelf.is_resident() {
            let kept = self.trunk.kept.lock().get(id).map(|record| Record::clone(record));
            return kept.ok_or_else(|| missing(id));
        }
        Ok(self.stored(id).await?.0)
    }

    /// A snapshot as a state, to be read for as long as it is held.
    pub(crate) async fn state(&self, id: &SnapshotId) -> Result<Arc<State>> {
        if self.trunk.shelf.is_resident() {
            let root = self.load(id).await?.root;
            return Ok(Arc::new(State { root, token: None }));
        }
        let entered = self.trunk.shelf.pins.enter().await;
        let (Record { root, .. }, token) = self.stored(id).await?;
        let state = State { root, token: Some(token) };
        Ok(self.trunk.shelf.pins.hold_seen(state, &entered))
    }

    /// Keeps a snapshot under an id that nobody uses.
    pub(crate) async fn create(&self, id: &SnapshotId, record: Record) -> Result<()> {
        self.trunk.check_there()?;
        if self.trunk.shelf.is_resident() {
            let mut kept = self.trunk.kept.lock();
            if kept.contains_key(id) {
                return Err(exists(id));
            }
            kept.insert(id.clone(), Arc::new(record));
            return Ok(());
        }
        let value = Bytes::from(record.encode().map_err(|err| damaged(err.0))?);
        let (storage, key) = (self.trunk.shelf.cache.storage(), self.key(id)?);
        match storage.swap(&key, &Expected::Absent, value).await.map_err(doubtful)? {
            Swap::Won(token) => {
                // The sandbox may have been removed meanwhile, and must not leave this behind.
                if let Err(err) = self.trunk.check_stored().await {
                    storage.delete_ref(&key, &token).await.map_err(meaning)?;
                    return Err(err);
                }
                Ok(())
            }
            Swap::Lost(_) => Err(exists(id)),
        }
    }

    /// The snapshots behind `after`, in the order of their ids.
    pub(crate) async fn list(
        &self,
        after: Option<&SnapshotId>,
        limit: usize,
    ) -> Result<Vec<(SnapshotId, Record)>> {
        let limit = limit.min(MOST);
        if self.trunk.shelf.is_resident() {
            let kept = self.trunk.kept.lock();
            let behind = kept.iter().filter(|(id, _)| after.is_none_or(|after| *id > after));
            let few = behind.take(limit);
            return Ok(few.map(|(id, record)| (id.clone(), Record::clone(record))).collect());
        }
        let after = after.map(|id| self.key(id)).transpose()?;
        let prefix = prefix(self.trunk);
        let storage = self.trunk.shelf.cache.storage();
        let refs = storage.list_refs(&prefix, after.as_ref(), limit).await.map_err(meaning)?;
        let decoded = refs.into_iter().map(|(key, Ref { value, .. })| {
            let id = SnapshotId::parse(key.as_str().strip_prefix(&prefix).unwrap_or_default())?;
            Ok((id, Record::decode(&value).map_err(|err| damaged(err.0))?))
        });
        decoded.collect()
    }

    pub(crate) async fn delete(&self, id: &SnapshotId) -> Result<()> {
        if self.trunk.shelf.is_resident() {
            let gone = self.trunk.kept.lock().remove(id);
            return gone.map(drop).ok_or_else(|| missing(id));
        }
        let (storage, key) = (self.trunk.shelf.cache.storage(), self.key(id)?);
        // One that cannot be read can still be deleted.
        let stored = storage.load(&key).await.map_err(meaning)?;
        let Ref { token, .. } = stored.ok_or_else(|| missing(id))?;
        let deleted = storage.delete_ref(&key, &token).await.map_err(doubtful)?;
        if deleted { Ok(()) } else { Err(missing(id)) }
    }

    async fn stored(&self, id: &SnapshotId) -> Result<(Record, storage::Token)> {
        let storage = self.trunk.shelf.cache.storage();
        let stored = storage.load(&self.key(id)?).await.map_err(meaning)?;
        let Ref { value, token } = stored.ok_or_else(|| missing(id))?;
        let record = Record::decode(&value).map_err(|err| damaged(err.0))?;
        if record.root.family.domain != self.trunk.state().root.family.domain {
            // Another sandbox may have the id by now, and it is one of its snapshots.
            self.trunk.check_stored().await?;
            let message = format!("the snapshot `{id}` belongs to another family of sandboxes");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        Ok((record, token))
    }

    fn key(&self, id: &SnapshotId) -> Result<RefKey> {
        RefKey::new(&format!("{}{id}", prefix(self.trunk))).map_err(meaning)
    }
}

fn prefix(trunk: &Trunk) -> String {
    format!("sandboxes/{}/snapshots/", trunk.id)
}

fn exists(id: &SnapshotId) -> Error {
    Error::new(ErrorKind::AlreadyExists, format!("a snapshot `{id}` exists"))
}

fn missing(id: &SnapshotId) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no snapshot `{id}`"))
}
