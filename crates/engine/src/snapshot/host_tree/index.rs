//! The tree of the last scan: what the next one need not read again.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use storage::{Expected, Ref, RefKey, Swap};

use crate::Result;
use crate::virtual_fs::{State, Trunk, damaged, meaning};

/// Where the tree of the last scan is kept. It is made of the same pages as a snapshot, and every
/// file in it bears a stamp of the state it was read in, so that looking one up is a walk of pages.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The one of a store in memory, which has no ref for it.
    resident: Mutex<Option<Arc<State>>>,
}

/// What the index was when a scan began.
#[derive(Debug)]
pub(super) struct Known {
    /// Held, since a scan takes over what did not change.
    pub(super) state: Option<Arc<State>>,
    expected: Expected,
}

impl Index {
    pub(super) async fn load(&self, trunk: &Trunk) -> Result<Known> {
        if trunk.shelf.is_resident() {
            return Ok(Known { state: self.resident.lock().clone(), expected: Expected::Absent });
        }
        let Some((state, token)) = trunk.state_behind(&key(trunk)?).await? else {
            return Ok(Known { state: None, expected: Expected::Absent });
        };
        if state.is_none() {
            tracing::warn!(sandbox = %trunk.id, "the index cannot be read; every file is");
        }
        Ok(Known { state, expected: Expected::Token(token) })
    }

    /// Forgets what was scanned.
    pub(super) async fn forget(&self, trunk: &Trunk) -> Result<()> {
        *self.resident.lock() = None;
        let (storage, key) = (trunk.shelf.cache.storage(), key(trunk)?);
        if let Some(Ref { token, .. }) = storage.load(&key).await.map_err(meaning)? {
            storage.delete_ref(&key, &token).await.map_err(meaning)?;
        }
        Ok(())
    }

    /// Keeps the tree of a scan. When another server scanned meanwhile, its tree is as good.
    pub(super) async fn keep(&self, trunk: &Trunk, state: &Arc<State>, known: Known) -> Result<()> {
        if trunk.shelf.is_resident() {
            *self.resident.lock() = Some(Arc::clone(state));
            return Ok(());
        }
        let value = Bytes::from(state.root.encode().map_err(|err| damaged(err.0))?);
        let key = key(trunk)?;
        let swap = trunk.shelf.cache.storage().swap(&key, &known.expected, value);
        match swap.await.map_err(meaning)? {
            Swap::Won(_) => {}
            Swap::Lost(_) => tracing::debug!(sandbox = %trunk.id, "another server scanned too"),
        }
        Ok(())
    }
}

fn key(trunk: &Trunk) -> Result<RefKey> {
    RefKey::new(&format!("sandboxes/{}/index", trunk.id)).map_err(meaning)
}
