//! The tree of the last scan: what the next one need not read again.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use storage::{Expected, Ref, RefKey, Swap};

use crate::Result;
use crate::virtual_fs::{Hold, State, Trunk, damaged, meaning};

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

    /// Keeps the tree of a scan; until it leads there, `stored` holds what the scan stored. When
    /// another server scanned meanwhile, its tree is as good.
    pub(super) async fn keep(
        &self,
        trunk: &Trunk,
        state: &Arc<State>,
        known: Known,
        stored: Option<Hold>,
    ) -> Result<()> {
        trunk.shelf.check_age(stored.as_ref())?;
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
        drop(stored);
        Ok(())
    }
}

fn key(trunk: &Trunk) -> Result<RefKey> {
    RefKey::new(&format!("sandboxes/{}/index", trunk.id)).map_err(meaning)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{ErrorKind, Limits, SandboxId, Store};

    #[tokio::test]
    async fn a_scan_that_others_may_have_taken_for_garbage_is_not_kept() {
        let store = Store::shared();
        let id = SandboxId::parse("trial").unwrap();
        let files = store.create(&id, Limits::default()).await.unwrap();
        let (trunk, index) = (files.trunk(), Index::default());
        let keep = async |hours| {
            let known = index.load(trunk).await?;
            let stored = store.begun(Duration::from_hours(hours));
            index.keep(trunk, &trunk.state(), known, stored).await
        };
        assert_eq!(keep(7).await.unwrap_err().kind(), ErrorKind::Timeout);
        assert!(index.load(trunk).await.unwrap().state.is_none());
        keep(5).await.unwrap();
        assert!(index.load(trunk).await.unwrap().state.is_some());
    }
}
