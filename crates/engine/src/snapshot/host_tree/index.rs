//! The tree of the last scan: what the next one need not read again.

use bytes::Bytes;
use parking_lot::Mutex;
use storage::{Expected, Ref, RefKey, Swap};

use crate::Result;
use crate::virtual_fs::{Root, Trunk, damaged, meaning};

/// Where the tree of the last scan is kept. It is made of the same pages as a snapshot, and every
/// file in it bears a stamp of the state it was read in, so that looking one up is a walk of pages.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The one of a store in memory, which has no ref for it.
    resident: Mutex<Option<Root>>,
}

/// What the index was when a scan began.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) root: Option<Root>,
    expected: Expected,
}

impl Index {
    pub(super) async fn load(&self, trunk: &Trunk) -> Result<Known> {
        if trunk.shelf.is_resident() {
            return Ok(Known { root: self.resident.lock().clone(), expected: Expected::Absent });
        }
        let stored = trunk.shelf.cache.storage().load(&key(trunk)?).await.map_err(meaning)?;
        let Some(Ref { value, token }) = stored else {
            return Ok(Known { root: None, expected: Expected::Absent });
        };
        let domain = trunk.state().root.family.domain;
        let root = Root::decode(&value).ok().filter(|root| root.family.domain == domain);
        if root.is_none() {
            tracing::warn!(sandbox = %trunk.id, "the index cannot be read; every file is");
        }
        Ok(Known { root, expected: Expected::Token(token) })
    }

    /// Keeps the tree of a scan. When another server scanned meanwhile, its tree is as good.
    pub(super) async fn keep(&self, trunk: &Trunk, root: &Root, known: Known) -> Result<()> {
        if trunk.shelf.is_resident() {
            *self.resident.lock() = Some(root.clone());
            return Ok(());
        }
        let value = Bytes::from(root.encode().map_err(|err| damaged(err.0))?);
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
