//! A storage that is far away: every question takes its time, and is counted.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use storage::{
    Capabilities, Domain, Expected, Listed, MemoryStorage, ObjectKey, Objects, Ref, RefKey, Refs,
    Result, Storage, Swap, Token,
};
use tokio::time::{Instant, sleep};

/// How long a question and its answer are on their way. Clocks stand still while anybody works, so
/// that the time that passed tells how often somebody waited.
const WAY: Duration = Duration::from_millis(5);

/// A storage in memory, far away.
#[derive(Debug, Default)]
pub(crate) struct Distant {
    storage: MemoryStorage,
    commits: AtomicU64,
    /// How often each object was fetched.
    fetched: Mutex<HashMap<ObjectKey, u64>>,
}

/// What was asked of a storage.
pub(crate) struct Asked {
    /// How many round trips it took, one after the other. Those that go side by side are one.
    pub(crate) waits: u128,
    pub(crate) commits: u64,
    /// How many objects were fetched, those that were fetched twice counted twice.
    pub(crate) objects: u64,
    /// Which they were.
    pub(crate) keys: Vec<ObjectKey>,
    /// How often the one was fetched that was fetched most often.
    pub(crate) most_often: u64,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { waits, commits, objects, most_often, .. } = self;
        write!(f, "{waits} waits, {commits} commits, {objects} objects, one {most_often} times")
    }
}

impl Distant {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What some work asks.
    pub(crate) async fn asked<T>(&self, work: impl Future<Output = T>) -> (T, Asked) {
        self.fetched.lock().clear();
        let (begin, commits) = (Instant::now(), self.commits.load(Ordering::SeqCst));
        let outcome = work.await;
        let waits = begin.elapsed().as_millis() / WAY.as_millis();
        let commits = self.commits.load(Ordering::SeqCst) - commits;
        let fetched = self.fetched.lock();
        let objects = fetched.values().sum();
        let most_often = fetched.values().max().copied().unwrap_or_default();
        let keys = fetched.keys().copied().collect();
        (outcome, Asked { waits, commits, objects, keys, most_often })
    }

    /// Loses objects.
    pub(crate) async fn lose(&self, keys: &[ObjectKey]) {
        let listed = self.storage.list(None, None, usize::MAX).await.unwrap();
        let lost = listed.into_iter().filter(|listed| keys.contains(&listed.key));
        let lost: Vec<_> = lost.map(|listed| (listed.key, listed.token)).collect();
        assert_eq!(self.storage.delete_exact(&lost).await.unwrap(), keys.len() as u64);
    }

    async fn travel(&self, keys: &[ObjectKey]) {
        for key in keys {
            *self.fetched.lock().entry(*key).or_default() += 1;
        }
        sleep(WAY).await;
    }
}

#[async_trait]
impl Objects for Distant {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        self.travel(&[*key]).await;
        self.storage.get(key).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.travel(keys).await;
        self.storage.get_many(keys).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.travel(&[]).await;
        self.storage.put_many(objects).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.travel(&[]).await;
        self.storage.list(domain, after, limit).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        self.travel(&[]).await;
        self.storage.delete_exact(objects).await
    }
}

#[async_trait]
impl Refs for Distant {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.travel(&[]).await;
        self.storage.load(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.travel(&[]).await;
        self.storage.swap(key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.travel(&[]).await;
        self.storage.delete_ref(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.travel(&[]).await;
        self.storage.list_refs(prefix, after, limit).await
    }
}

#[async_trait]
impl Storage for Distant {
    fn capabilities(&self) -> Capabilities {
        Capabilities { durable: true, shared: true, ..self.storage.capabilities() }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        self.commits.fetch_add(1, Ordering::SeqCst);
        self.travel(&[]).await;
        self.storage.commit(objects, key, expected, value).await
    }
}
