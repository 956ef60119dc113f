//! Sealed objects on a disk of this machine, in front of a storage that is farther away.
//!
//! Objects never change, so that what was read or written once need not be fetched again. Only
//! objects are kept: refs always come from the storage, and so do listings. What is in the cache
//! may be gone from the storage: whoever wants to know what the storage has asks without a cache.
//!
//! - `dir`: the directory, which one process has at a time
//! - `segment`: the files in it, each filled once and given up as a whole
//! - `entry`: one object in a segment
//! - `notes`: what a segment holds, so that it need not be read through
//! - `pages`: which object is where, and what goes when there is no room
//! - `health`: what happens when the disk fails

mod dir;
mod entry;
mod health;
mod notes;
mod pages;
mod segment;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::RwLock;

use self::dir::Dir;
use self::health::Health;
use self::pages::Pages;
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token, blocking,
};

/// A storage whose objects are kept on a disk of this machine, too.
///
/// The oldest go first when there is no room. A disk that fails fails no caller: it is left alone
/// for a minute, and the storage is asked.
pub struct DiskCache {
    storage: Arc<dyn Storage>,
    kept: Arc<Kept>,
}

/// What is on the disk.
struct Kept {
    /// None when the cache is closed, although somebody who stopped waiting still wants something.
    pages: RwLock<Option<Pages>>,
    health: Health,
}

impl Kept {
    /// What the disk gives, unless it fails.
    fn attempt<T>(&self, work: impl FnOnce(&Pages) -> io::Result<T>) -> Option<T> {
        let pages = self.pages.read();
        let pages = pages.as_ref()?;
        self.health.attempt(|| work(pages))
    }

    fn forget(&self, key: &ObjectKey) {
        let was_there = self.pages.read().as_ref().is_some_and(|pages| pages.forget(key));
        if was_there {
            self.attempt(|pages| pages.note_forgotten(key));
        }
    }
}

impl DiskCache {
    /// The storage with a cache of at most `limit` bytes in a directory, which is made when it is
    /// missing.
    ///
    /// One process has the directory at a time. What is damaged in it is given up. Some 40 bytes of
    /// memory are needed for each object that it holds.
    pub async fn over(
        storage: Arc<dyn Storage>,
        dir: &Path,
        limit: u64,
    ) -> Result<Arc<dyn Storage>> {
        let dir = dir.to_owned();
        let pages = blocking::run(move || Pages::open(Dir::claim(&dir)?, limit)).await?;
        let pages = RwLock::new(Some(pages));
        let kept = Arc::new(Kept { pages, health: Health::default() });
        Ok(Arc::new(Self { storage, kept }))
    }

    /// Those of the objects that are on the disk.
    async fn cached(&self, keys: &[ObjectKey]) -> Vec<Option<Bytes>> {
        let (kept, wanted) = (Arc::clone(&self.kept), keys.to_vec());
        let found = blocking::run(move || {
            let read = |key| kept.attempt(|pages| pages.read(key)).flatten();
            Ok(wanted.iter().map(read).collect())
        })
        .await;
        found.unwrap_or_else(|_| vec![None; keys.len()])
    }

    /// Keeps objects that the storage has.
    async fn keep(&self, objects: Vec<(ObjectKey, Bytes)>) {
        if objects.is_empty() {
            return;
        }
        let kept = Arc::clone(&self.kept);
        let keep = move || {
            for (key, stored) in &objects {
                kept.attempt(|pages| pages.keep(key, stored));
            }
            Ok(())
        };
        // It is the storage that must keep them.
        blocking::run(keep).await.ok();
    }

    /// Gives up objects that the storage has no more, or others than these.
    async fn forget(&self, keys: Vec<ObjectKey>) {
        let kept = Arc::clone(&self.kept);
        let forget = move || {
            keys.iter().for_each(|key| kept.forget(key));
            Ok(())
        };
        blocking::run(forget).await.ok();
    }
}

/// Waits until nobody uses the disk, so that the directory can be opened again at once.
impl Drop for DiskCache {
    fn drop(&mut self) {
        drop(self.kept.pages.write().take());
    }
}

impl fmt::Debug for DiskCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskCache").field("storage", &self.storage).finish_non_exhaustive()
    }
}

#[async_trait]
impl Objects for DiskCache {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        Ok(self.get_many(&[*key]).await?.pop().flatten())
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let mut found = self.cached(keys).await;
        let wanted = keys.iter().zip(&mut found).filter(|(_, found)| found.is_none());
        let (wanted, places): (Vec<ObjectKey>, Vec<_>) =
            wanted.map(|(key, place)| (*key, place)).unzip();
        if wanted.is_empty() {
            return Ok(found);
        }
        let mut new = Vec::new();
        for ((key, place), stored) in
            wanted.iter().zip(places).zip(self.storage.get_many(&wanted).await?)
        {
            new.extend(stored.clone().map(|stored| (*key, stored)));
            *place = stored;
        }
        self.keep(new).await;
        Ok(found)
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.storage.put_many(objects.clone()).await?;
        self.keep(objects).await;
        Ok(())
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.storage.list(domain, after, limit).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let deleted = self.storage.delete_exact(objects).await;
        // After a failure they may be gone or not.
        self.forget(objects.iter().map(|(key, _)| *key).collect()).await;
        deleted
    }
}

#[async_trait]
impl Refs for DiskCache {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.storage.load(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.storage.swap(key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.storage.delete_ref(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.storage.list_refs(prefix, after, limit).await
    }
}

#[async_trait]
impl Storage for DiskCache {
    fn capabilities(&self) -> Capabilities {
        self.storage.capabilities()
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        let swap = self.storage.commit(objects.clone(), key, expected, value).await?;
        self.keep(objects).await;
        Ok(swap)
    }
}
