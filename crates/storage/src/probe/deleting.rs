//! The proof that nothing is deleted but what was condemned.

use std::sync::Arc;

use crate::{Expected, ObjectId, ObjectKey, Result, Swap, frame};

use super::{Probe, broken, won};

/// How many objects, and how many refs, are deleted while somebody writes them.
const DELETED: u8 = 8;

impl Probe {
    pub(super) async fn a_stale_token_removes_no_object(&self) -> Result<()> {
        if !self.storage.capabilities().exact_delete {
            return Ok(());
        }
        let listed = self.storage.list(Some(self.object.domain), None, 1).await?;
        let stale: Vec<_> = listed.into_iter().map(|object| (object.key, object.token)).collect();
        self.an_object_is_there_at_once().await?;
        let gone = self.storage.delete_exact(&stale).await?;
        if gone > 0 || stale.is_empty() || self.storage.get(&self.object).await?.is_none() {
            return Err(broken("exact-token delete of objects"));
        }
        Ok(())
    }

    /// Each ref is swapped and deleted at once, under the same token: a swap that won is there.
    pub(super) async fn no_ref_is_deleted_after_it_changed(&self) -> Result<()> {
        let created = self.race(DELETED.into(), |probe, lane| async move {
            let key = probe.key(&format!("deleted-{lane}"))?;
            Ok((won(probe.create(&key, "first").await?, "create-if-absent")?, key))
        });
        let created = Arc::new(created.await?);
        let tokens = Arc::clone(&created);
        let outcomes = self.race(2 * usize::from(DELETED), move |probe, racer| {
            let raced = tokens.get(racer / 2).cloned();
            async move {
                let Some((token, key)) = raced else { return Ok(None) };
                if racer % 2 == 0 {
                    probe.storage.delete_ref(&key, &token).await?;
                    return Ok(None);
                }
                let expected = Expected::Token(token);
                let swap = probe.storage.swap(&key, &expected, "second".into()).await?;
                Ok(matches!(swap, Swap::Won(_)).then_some(key))
            }
        });
        let mut winners: Vec<_> = outcomes.await?.into_iter().flatten().collect();
        winners.sort();
        let prefix = format!("{}deleted-", self.prefix());
        let left = self.storage.list_refs(&prefix, None, usize::MAX).await?;
        let left = left.into_iter().filter(|(_, current)| current.value == "second");
        if left.map(|(key, _)| key).eq(winners) {
            return Ok(());
        }
        Err(broken("exact-token delete among racing swaps"))
    }

    /// Each object is deleted under its token while it is written again: it is there.
    pub(super) async fn no_object_is_deleted_after_it_was_written_again(&self) -> Result<()> {
        if !self.storage.capabilities().exact_delete {
            return Ok(());
        }
        let objects = || (0..DELETED).map(|lane| (self.lane(lane), frame::seal(b"deleted")));
        self.storage.put_many(objects().collect()).await?;
        let listed = Arc::new(self.storage.list(Some(self.object.domain), None, usize::MAX).await?);
        let writes: Arc<Vec<_>> = Arc::new(objects().collect());
        let race = self.race(2 * usize::from(DELETED), move |probe, racer| {
            let write = writes.get(racer / 2).cloned();
            let listed = Arc::clone(&listed);
            async move {
                let Some((key, stored)) = write else { return Ok(()) };
                if racer % 2 == 1 {
                    return probe.storage.put_many(vec![(key, stored)]).await;
                }
                let old = listed.iter().filter(|object| object.key == key);
                let old: Vec<_> = old.map(|object| (key, object.token.clone())).collect();
                probe.storage.delete_exact(&old).await.map(drop)
            }
        });
        race.await?;
        let keys: Vec<_> = (0..DELETED).map(|lane| self.lane(lane)).collect();
        if self.storage.get_many(&keys).await?.iter().all(Option::is_some) {
            return Ok(());
        }
        Err(broken("exact-token delete among racing writes"))
    }

    /// The name of one of several objects.
    fn lane(&self, lane: u8) -> ObjectKey {
        ObjectKey { domain: self.object.domain, id: ObjectId([lane; 32]) }
    }
}
