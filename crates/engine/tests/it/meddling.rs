//! A storage that counts, back-dates, interrupts and fails as a test wants it to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use storage::{
    Capabilities, Domain, Error, ErrorKind, Expected, Listed, MemoryStorage, ObjectKey, Objects,
    Ref, RefKey, Refs, Result, Storage, Swap, Token,
};

/// A storage in memory that does more than it should.
#[derive(Default)]
pub(crate) struct Meddling {
    storage: MemoryStorage,
    reads: AtomicUsize,
    /// How old objects are when they are written, in milliseconds.
    age: AtomicI64,
    is_shared: AtomicBool,
    /// How many more deletes succeed; all of them if it is negative.
    deletes: AtomicI64,
    meanwhile: Mutex<Option<Meanwhile>>,
    before_swap: Mutex<Option<Meanwhile>>,
    after_delete: Mutex<Option<Meanwhile>>,
}

/// What happens while refs are listed, after those up to a key and before the others; or right
/// before the ref of that key is swapped; or right after it was deleted.
struct Meanwhile {
    key: RefKey,
    event: BoxFuture<'static, ()>,
}

impl std::fmt::Debug for Meddling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meddling")
    }
}

impl Meddling {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { deletes: AtomicI64::new(-1), ..Self::default() })
    }

    /// How many objects were read since this was last asked.
    pub(crate) fn reads(&self) -> usize {
        self.reads.swap(0, Ordering::Relaxed)
    }

    /// Lets objects that are written from now on be so old.
    pub(crate) fn set_age(&self, age: Duration) {
        self.age.store(i64::try_from(age.as_millis()).unwrap(), Ordering::Relaxed);
    }

    /// Says that other processes may have it open, too.
    pub(crate) fn share(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
    }

    /// Lets only so many deletes succeed.
    pub(crate) fn fail_after_deletes(&self, count: i64) {
        self.deletes.store(count, Ordering::Relaxed);
    }

    /// Lets something happen once, while refs are listed and those up to `key` have been read.
    pub(crate) fn meanwhile(&self, key: &str, event: impl Future<Output = ()> + Send + 'static) {
        let key = RefKey::new(key).unwrap();
        *self.meanwhile.lock() = Some(Meanwhile { key, event: Box::pin(event) });
    }

    /// Lets something happen once, right before the ref of that key is swapped.
    pub(crate) fn before_swap(&self, key: &str, event: impl Future<Output = ()> + Send + 'static) {
        let key = RefKey::new(key).unwrap();
        *self.before_swap.lock() = Some(Meanwhile { key, event: Box::pin(event) });
    }

    /// Lets something happen once, right after the ref of that key was deleted.
    pub(crate) fn after_delete(&self, key: &str, event: impl Future<Output = ()> + Send + 'static) {
        let key = RefKey::new(key).unwrap();
        *self.after_delete.lock() = Some(Meanwhile { key, event: Box::pin(event) });
    }

    fn aged(&self, objects: Vec<(ObjectKey, Bytes)>) -> Vec<(ObjectKey, Bytes)> {
        let age = u64::try_from(self.age.load(Ordering::Relaxed)).unwrap();
        let aged = |(key, sealed): (ObjectKey, Bytes)| {
            let mut sealed = BytesMut::from(sealed);
            // Bytes 2 to 10 of a sealed object say when it was sealed.
            let millis = u64::from_le_bytes(*sealed[2..].first_chunk().unwrap());
            sealed[2..10].copy_from_slice(&(millis - age).to_le_bytes());
            (key, sealed.freeze())
        };
        objects.into_iter().map(aged).collect()
    }

    fn delete(&self) -> Result<()> {
        match self.deletes.load(Ordering::Relaxed) {
            0 => Err(Error::new(ErrorKind::Unavailable, "no more deletes")),
            1.. => {
                self.deletes.fetch_sub(1, Ordering::Relaxed);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Objects for Meddling {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.storage.get(key).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.reads.fetch_add(keys.len(), Ordering::Relaxed);
        self.storage.get_many(keys).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.storage.put_many(self.aged(objects)).await
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
        self.delete()?;
        self.storage.delete_exact(objects).await
    }
}

#[async_trait]
impl Refs for Meddling {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.storage.load(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        let due = self.before_swap.lock().take_if(|due| due.key == *key);
        if let Some(Meanwhile { event, .. }) = due {
            event.await;
        }
        self.storage.swap(key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.delete()?;
        let is_deleted = self.storage.delete_ref(key, token).await?;
        let due = self.after_delete.lock().take_if(|due| due.key == *key);
        if let Some(Meanwhile { event, .. }) = due {
            event.await;
        }
        Ok(is_deleted)
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let listed = self.storage.list_refs(prefix, after, limit).await?;
        let is_passed = |meanwhile: &Meanwhile| {
            listed.first().is_some_and(|(key, _)| *key <= meanwhile.key)
                && listed.last().is_some_and(|(key, _)| *key > meanwhile.key)
        };
        let Some(Meanwhile { key, event }) = self.meanwhile.lock().take_if(|m| is_passed(m)) else {
            return Ok(listed);
        };
        event.await;
        let mut listed = listed;
        listed.retain(|(listed, _)| *listed <= key);
        let left = limit - listed.len();
        listed.extend(self.storage.list_refs(prefix, Some(&key), left).await?);
        Ok(listed)
    }
}

#[async_trait]
impl Storage for Meddling {
    fn capabilities(&self) -> Capabilities {
        let shared = self.is_shared.load(Ordering::Relaxed);
        Capabilities { shared, ..self.storage.capabilities() }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        self.storage.commit(self.aged(objects), key, expected, value).await
    }
}
