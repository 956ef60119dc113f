//! A durable store in a directory of this machine, for one process: the embedded database fjall.
//!
//! - `place`: the directory, and who may use it
//! - `database`, `record`: what is kept in it, and how
//! - `slot`: where the database is open, or for a moment is not
//! - `writer`: the one thread that writes; what waits is written and synced together
//! - `group`: what is written together
//! - `journal`: what a power cut may leave behind

mod database;
mod failure;
mod group;
mod journal;
mod place;
mod record;
mod slot;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use self::database::Database;
use self::group::Sealed;
use self::slot::Slot;
use self::writer::Writer;
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token, blocking,
};

/// Objects and refs in a fjall database.
///
/// Dropping it waits until what was begun is on the disk, so that the store can be opened again at
/// once.
pub(crate) struct FjallStorage {
    // Stops before the slot is closed.
    writer: Writer,
    slot: Arc<Slot>,
}

impl FjallStorage {
    /// Opens the store in a directory, which is made when it is missing.
    pub(crate) async fn open(dir: PathBuf) -> Result<Self> {
        blocking::run(move || {
            let slot = Arc::new(Slot::open(&dir)?);
            Ok(Self { writer: Writer::start(Arc::clone(&slot))?, slot })
        })
        .await
    }

    async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Database) -> Result<T> + Send + 'static,
    {
        let slot = Arc::clone(&self.slot);
        blocking::run(move || slot.read(work)).await
    }
}

impl Drop for FjallStorage {
    fn drop(&mut self) {
        self.writer.stop();
        self.slot.close();
    }
}

impl fmt::Debug for FjallStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallStorage").finish_non_exhaustive()
    }
}

#[async_trait]
impl Objects for FjallStorage {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        let key = *key;
        self.read(move |database| database.object(&key)).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let keys = keys.to_vec();
        self.read(move |database| keys.iter().map(|key| database.object(key)).collect()).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        let (objects, size) = Sealed::all(objects)?;
        self.writer
            .write(size, move |group| {
                group.put(objects);
                Ok(())
            })
            .await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.read(move |database| database.list(domain, after, limit)).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let objects = objects.to_vec();
        self.writer.write(0, move |group| group.delete_exact(&objects)).await
    }
}

#[async_trait]
impl Refs for FjallStorage {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        let key = key.clone();
        self.read(move |database| database.load(&key)).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.commit(Vec::new(), key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let (key, token) = (key.clone(), token.clone());
        self.writer.write(0, move |group| group.delete_ref(key, &token)).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        self.read(move |database| database.list_refs(&prefix, after.as_ref(), limit)).await
    }
}

#[async_trait]
impl Storage for FjallStorage {
    fn capabilities(&self) -> Capabilities {
        Capabilities { durable: true, one_step_commit: true, exact_delete: true, shared: false }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        let (objects, size) = Sealed::all(objects)?;
        let size = size + (key.as_str().len() + value.len()) as u64;
        let (key, expected) = (key.clone(), expected.clone());
        self.writer
            .write(size, move |group| {
                group.put(objects);
                group.swap(key, &expected, value)
            })
            .await
    }
}
