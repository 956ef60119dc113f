//! One round through the families of a store.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use storage::{Domain, Listed, ObjectId, ObjectKey, Ref, RefKey, Storage};

use crate::Result;

use super::super::meaning::meaning;
use super::super::shelf::Shelf;
use super::condemned::{self, Sentence};
use super::mark::{Marked, Marking, mark_from};
use super::roots::{Beginnings, Roots, time_of};
use super::{Collected, Manner, open};

/// How many objects are listed at a time.
pub(super) const LISTED: usize = 1000;
/// How many refs of condemned objects are read at a time.
pub(super) const READ: usize = 16;

/// One round. Whoever closes the store meanwhile ends it.
pub(super) struct Round {
    pub(super) shelf: Weak<Shelf>,
    pub(super) manner: Manner,
    pub(super) grace: Duration,
    pub(super) now: SystemTime,
    /// What was written since then is left alone.
    pub(super) horizon: SystemTime,
}

/// The grace of what was condemned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grace {
    Waiting,
    Over,
    /// It was condemned in the future, by a clock that was wrong. It is condemned anew.
    Unknown,
}

impl Round {
    pub(super) async fn run(&self, roots: &Roots) -> Result<Collected> {
        let mut collected = Collected::default();
        for domain in self.domains().await? {
            if self.is_waiting(domain).await? {
                collected.waiting += 1;
                continue;
            }
            match (self.marked(domain, roots.of(domain)).await?, self.manner) {
                (Some(marked), Manner::Earnest) => {
                    self.delete(domain, &marked, &mut collected).await?;
                    let seen = collected.objects;
                    self.condemn(domain, &marked, &mut collected).await?;
                    if collected.objects > seen {
                        self.note_look(domain).await?;
                    }
                }
                (Some(marked), Manner::Rehearsal) => {
                    self.rehearse(domain, &marked, &mut collected).await?;
                }
                (None, _) => collected.unreadable += 1,
            }
        }
        Ok(collected)
    }

    pub(super) fn storage(&self) -> Result<Arc<dyn Storage>> {
        Ok(Arc::clone(open(&self.shelf)?.cache.storage()))
    }

    /// Every family of which there is an object, or was one.
    async fn domains(&self) -> Result<BTreeSet<Domain>> {
        let mut domains: BTreeSet<_> =
            condemned::domains(&*self.storage()?).await?.into_iter().collect();
        let mut after = None;
        loop {
            let next = self.storage()?.list(None, after, 1).await.map_err(meaning)?;
            let Some(Listed { key: ObjectKey { domain, .. }, .. }) = next.first() else {
                return Ok(domains);
            };
            domains.insert(*domain);
            after = Some(ObjectKey { domain: *domain, id: ObjectId([0xff; 32]) });
        }
    }

    /// Whether somebody looked at a family less than the grace ago. Until that is over there is
    /// nothing to do for it.
    async fn is_waiting(&self, domain: Domain) -> Result<bool> {
        let prefix = condemned::prefix(domain);
        let first = self.storage()?.list_refs(&prefix, None, 1).await.map_err(meaning)?;
        Ok(first.first().is_some_and(|(key, _)| self.grace_of(&prefix, key) == Grace::Waiting))
    }

    pub(super) fn grace_of(&self, prefix: &str, key: &RefKey) -> Grace {
        let time = time_of(key.as_str().strip_prefix(prefix).unwrap_or_default());
        match time.and_then(|time| self.now.duration_since(time).ok()) {
            Some(age) if age >= self.grace => Grace::Over,
            Some(_) => Grace::Waiting,
            None => Grace::Unknown,
        }
    }

    /// What something leads to; none if that cannot be told.
    async fn marked(
        &self,
        domain: Domain,
        beginnings: Option<&Beginnings>,
    ) -> Result<Option<Marked>> {
        let Some(beginnings) = beginnings else { return Ok(Some(Marked::default())) };
        match mark_from(beginnings, || self.storage()).await? {
            Marking::Done(marked) => Ok(Some(marked)),
            Marking::Unreadable(err) => {
                let error = &err as &dyn std::error::Error;
                tracing::error!(%domain, error, "a family of sandboxes is damaged");
                Ok(None)
            }
        }
    }

    /// Deletes what was condemned long enough ago and is still not marked.
    async fn delete(
        &self,
        domain: Domain,
        marked: &Marked,
        collected: &mut Collected,
    ) -> Result<()> {
        let prefix = condemned::prefix(domain);
        let mut after = None;
        loop {
            let page = self.storage()?.list_refs(&prefix, after.as_ref(), READ).await;
            let page = page.map_err(meaning)?;
            if page.is_empty() {
                return Ok(());
            }
            for (key, Ref { value, token }) in page {
                match self.grace_of(&prefix, &key) {
                    Grace::Waiting => return Ok(()),
                    Grace::Unknown => {}
                    Grace::Over => {
                        let mut doomed = condemned::decode(&value).unwrap_or_default();
                        doomed.retain(|sentence| !marked.has(&sentence.id));
                        self.delete_exact(domain, &doomed, collected).await?;
                    }
                }
                self.storage()?.delete_ref(&key, &token).await.map_err(meaning)?;
                after = Some(key);
            }
        }
    }

    async fn delete_exact(
        &self,
        domain: Domain,
        doomed: &[Sentence],
        collected: &mut Collected,
    ) -> Result<()> {
        let (storage, exact) = (self.storage()?, condemned::exact(domain, doomed));
        let gone = storage.delete_exact(&exact).await.map_err(meaning)?;
        collected.deleted += gone;
        let mut sizes: Vec<u64> = doomed.iter().map(|sentence| sentence.size).collect();
        if gone < exact.len() as u64 {
            // Some were written again, or gone before.
            let keys: Vec<_> = exact.iter().map(|(key, _)| *key).collect();
            let left = storage.get_many(&keys).await.map_err(meaning)?;
            let absent = sizes.iter().zip(&left).filter(|(_, left)| left.is_none());
            sizes = absent.map(|(size, _)| *size).collect();
        }
        let gone = usize::try_from(gone).unwrap_or(usize::MAX);
        collected.freed += sizes.iter().take(gone).sum::<u64>();
        Ok(())
    }

    /// Condemns what is not marked and was written before the horizon.
    async fn condemn(
        &self,
        domain: Domain,
        marked: &Marked,
        collected: &mut Collected,
    ) -> Result<()> {
        let (mut sentences, mut after) = (Vec::new(), None);
        loop {
            let page = self.storage()?.list(Some(domain), after, LISTED).await.map_err(meaning)?;
            after = page.last().map(|listed| listed.key);
            for Listed { key, token, written, size } in page {
                collected.objects += 1;
                if marked.has(&key.id) {
                    collected.live += 1;
                } else if written < self.horizon {
                    sentences.push(Sentence { id: key.id, token, size });
                }
            }
            let whole = if after.is_none() { 1 } else { condemned::TOGETHER };
            while sentences.len() >= whole {
                let rest = sentences.split_off(sentences.len().min(condemned::TOGETHER));
                condemned::write(&*self.storage()?, domain, self.now, &sentences).await?;
                collected.condemned += sentences.len() as u64;
                collected.condemned_bytes += sentences.iter().map(|it| it.size).sum::<u64>();
                sentences = rest;
            }
            if after.is_none() {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
    }

    /// Lets others know that a family of which nothing was condemned was looked at, so that they
    /// leave it alone until the grace is over. The next look takes that away again.
    async fn note_look(&self, domain: Domain) -> Result<()> {
        // Without a grace nobody waits.
        if self.grace.is_zero() || self.is_waiting(domain).await? {
            return Ok(());
        }
        condemned::write(&*self.storage()?, domain, self.now, &[]).await
    }
}
