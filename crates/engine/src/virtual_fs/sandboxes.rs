//! Which sandboxes a store has, and taking one away.

use std::sync::Arc;

use storage::{Domain, Ref, RefKey};

use crate::garbage::drop_later;
use crate::snapshot::Record;
use crate::{ErrorKind, Result, SandboxId, UnixTime};

use super::meaning::{doubtful, meaning};
use super::root::Root;
use super::shelf::{Shelf, Store, missing, now, open_trunk, root_key};

/// How many refs are read at a time.
const AT_ONCE: usize = 256;
const SANDBOXES: &str = "sandboxes/";

impl Store {
    /// The ids of at most `limit` sandboxes, of those that come after one of them.
    ///
    /// The order is always the same, and that of the ids as long as none of them goes on with a
    /// hyphen where another one ends.
    pub async fn list(&self, after: Option<&SandboxId>, limit: usize) -> Result<Vec<SandboxId>> {
        if self.shelf.is_resident() {
            return Ok(self.resident_ids(after, limit));
        }
        let storage = self.shelf.cache.storage();
        let (mut ids, mut after) = (Vec::new(), after.map(root_key).transpose()?);
        while ids.len() < limit {
            let page = storage.list_refs(SANDBOXES, after.as_ref(), AT_ONCE).await;
            let page = page.map_err(meaning)?;
            let roots = page.iter().filter_map(|(key, _)| key.as_str().strip_suffix("/root"));
            let names = roots.filter_map(|key| key.strip_prefix(SANDBOXES));
            let left = limit - ids.len();
            for name in names.filter(|name| !name.contains('/')).take(left) {
                ids.push(SandboxId::parse(name)?);
            }
            match page.into_iter().next_back() {
                Some((last, _)) => after = Some(last),
                None => break,
            }
        }
        Ok(ids)
    }

    /// Takes a sandbox away, with all its snapshots. Its forks stay.
    ///
    /// Whoever has it open is told that it is unavailable. What it held is collected later.
    pub async fn remove(&self, id: &SandboxId) -> Result<()> {
        self.remove_sparing(id, "").await
    }

    /// The same, but for one ref of the sandbox, which somebody else takes away.
    pub(crate) async fn remove_sparing(&self, id: &SandboxId, spared: &str) -> Result<()> {
        let spared = format!("{SANDBOXES}{id}/{spared}");
        if self.shelf.is_resident() {
            let trunk = self.resident.lock().remove(id).ok_or_else(|| missing(id))?;
            trunk.remove();
            drop_later(trunk);
            return Ok(());
        }
        let key = root_key(id)?;
        let storage = self.shelf.cache.storage();
        let mut stored = storage.load(&key).await.map_err(meaning)?;
        let identity = stored.as_ref().map(identity).ok_or_else(|| missing(id))?;
        // The root goes last: when this breaks off, the sandbox can still be removed.
        let is_meant = |other: &RefKey| *other != key && other.as_str() != spared;
        self.shelf.remove_refs(id, |other, _| is_meant(other)).await?;
        // Somebody may change the sandbox meanwhile, or remove it and make another of that id.
        while let Some(Ref { token, .. }) = stored.filter(|now| self::identity(now) == identity) {
            if storage.delete_ref(&key, &token).await.map_err(doubtful)? {
                break;
            }
            stored = storage.load(&key).await.map_err(meaning)?;
        }
        let open = self.shelf.open.lock().remove(id);
        open.and_then(|open| open_trunk(&open)).iter().for_each(|trunk| trunk.remove());
        // Snapshots that somebody took meanwhile. Whoever takes one from now on finds the root gone.
        let (domain, gone) = (identity.map(|(domain, _)| domain), now());
        let is_left = |stored: &Ref| match Record::decode(&stored.value) {
            Ok(Record { root, .. }) => Some(root.family.domain) == domain && root.created <= gone,
            Err(_) => false,
        };
        self.shelf.remove_refs(id, |other, stored| is_meant(other) && is_left(stored)).await
    }

    /// Whether there is a sandbox of that id.
    pub(crate) async fn has(&self, id: &SandboxId) -> Result<bool> {
        match self.sandbox(id).await {
            Ok(_) => Ok(true),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(false),
            Err(err) => Err(err),
        }
    }

    fn resident_ids(&self, after: Option<&SandboxId>, limit: usize) -> Vec<SandboxId> {
        let place = |id: &SandboxId| format!("{id}/");
        let after = after.map(place);
        let resident = self.resident.lock();
        let ids = resident.keys().filter(|id| Some(place(id)) > after);
        let mut ids: Vec<_> = ids.cloned().collect();
        ids.sort_by_key(place);
        ids.truncate(limit);
        ids
    }
}

impl Shelf {
    /// Deletes some refs of a sandbox.
    async fn remove_refs(
        self: &Arc<Self>,
        id: &SandboxId,
        is_meant: impl Fn(&RefKey, &Ref) -> bool,
    ) -> Result<()> {
        let (prefix, mut after) = (format!("{SANDBOXES}{id}/"), None);
        let storage = self.cache.storage();
        loop {
            let page = storage.list_refs(&prefix, after.as_ref(), AT_ONCE).await;
            let page = page.map_err(meaning)?;
            for (key, stored) in &page {
                if is_meant(key, stored) {
                    storage.delete_ref(key, &stored.token).await.map_err(meaning)?;
                }
            }
            match page.into_iter().next_back() {
                Some((last, _)) => after = Some(last),
                None => return Ok(()),
            }
        }
    }
}

/// Which sandbox a root belongs to, of all that have the id one after the other; none if the root
/// cannot be read.
fn identity(stored: &Ref) -> Option<(Domain, UnixTime)> {
    Root::decode(&stored.value).ok().map(|root| root.identity())
}
