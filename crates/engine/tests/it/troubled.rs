//! A storage to which things happen that happen to storages: answers get lost, others are slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use storage::{
    Capabilities, Domain, Error, ErrorKind, Expected, Listed, ObjectKey, Objects, Ref, RefKey,
    Refs, Result, Storage, Swap, Token,
};
use tokio::sync::Semaphore;
use tokio::task::yield_now;

/// What shall go wrong, and how often yet.
#[derive(Debug, Default)]
pub(crate) struct Trouble {
    /// Commits that happen, and are answered by an error.
    pub(crate) answers_lost: AtomicU64,
    /// Commits that do not happen.
    pub(crate) commits_refused: AtomicU64,
    /// Swaps that happen, and are answered by an error.
    pub(crate) swaps_lost: AtomicU64,
    /// Whether no ref can be reached at all.
    pub(crate) is_away: AtomicBool,
    /// Loads of refs that fail.
    pub(crate) loads_refused: AtomicU64,
    /// Loads of refs that never answer.
    pub(crate) loads_lost: AtomicU64,
    /// Loads of refs whose answers come when they are let in.
    pub(crate) loads_held: AtomicU64,
    /// Objects that come when they are let in.
    pub(crate) gets_held: AtomicU64,
}

/// A storage in front of another.
#[derive(Debug)]
pub(crate) struct Troubled {
    pub(crate) inner: Arc<dyn Storage>,
    pub(crate) trouble: Trouble,
    /// How many commits there were.
    pub(crate) commits: AtomicU64,
    /// How many commits came to the gate.
    pub(crate) waiting: AtomicU64,
    /// How often somebody asked for objects.
    pub(crate) fetches: AtomicU64,
    /// How often somebody loaded a ref.
    pub(crate) loads: AtomicU64,
    /// How many loads that are held back may be answered; each takes one.
    pub(crate) load_gate: Semaphore,
    /// How many commits may begin; each takes one.
    gate: Semaphore,
    /// How many objects that are held back may come; each takes one.
    pub(crate) object_gate: Semaphore,
}

impl Troubled {
    pub(crate) fn new(inner: Arc<dyn Storage>) -> Arc<Self> {
        let (trouble, commits, waiting, fetches, loads) = Default::default();
        let gate = Semaphore::new(Semaphore::MAX_PERMITS);
        let [load_gate, object_gate] = [0, 0].map(Semaphore::new);
        Arc::new(Self {
            inner,
            trouble,
            commits,
            waiting,
            fetches,
            loads,
            load_gate,
            gate,
            object_gate,
        })
    }

    fn reach(&self) -> Result<()> {
        if self.trouble.is_away.load(Ordering::SeqCst) { Err(unavailable()) } else { Ok(()) }
    }

    /// Lets no commit begin until more are let in.
    pub(crate) fn close_gate(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn open_gate(&self) {
        self.gate.add_permits(Semaphore::MAX_PERMITS);
    }
}

/// Whether one more shall go wrong.
fn strikes(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

fn unavailable() -> Error {
    Error::new(ErrorKind::Unavailable, "the connection is gone")
}

#[async_trait]
impl Objects for Troubled {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        yield_now().await;
        if strikes(&self.trouble.gets_held) {
            self.object_gate.acquire().await.unwrap().forget();
        }
        self.inner.get(key).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        self.inner.get_many(keys).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        yield_now().await;
        self.inner.put_many(objects).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.inner.list(domain, after, limit).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        self.inner.delete_exact(objects).await
    }
}

#[async_trait]
impl Refs for Troubled {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.loads.fetch_add(1, Ordering::SeqCst);
        yield_now().await;
        self.reach()?;
        if strikes(&self.trouble.loads_refused) {
            return Err(unavailable());
        }
        if strikes(&self.trouble.loads_lost) {
            std::future::pending::<()>().await;
        }
        let loaded = self.inner.load(key).await;
        if strikes(&self.trouble.loads_held) {
            self.load_gate.acquire().await.unwrap().forget();
        }
        loaded
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.reach()?;
        let swap = self.inner.swap(key, expected, value).await?;
        yield_now().await;
        if strikes(&self.trouble.swaps_lost) {
            return Err(unavailable());
        }
        Ok(swap)
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.reach()?;
        self.inner.delete_ref(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.reach()?;
        self.inner.list_refs(prefix, after, limit).await
    }
}

#[async_trait]
impl Storage for Troubled {
    fn capabilities(&self) -> Capabilities {
        Capabilities { shared: true, ..self.inner.capabilities() }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        self.commits.fetch_add(1, Ordering::SeqCst);
        if strikes(&self.trouble.commits_refused) {
            return Err(unavailable());
        }
        yield_now().await;
        let swap = self.inner.commit(objects, key, expected, value).await?;
        yield_now().await;
        if strikes(&self.trouble.answers_lost) {
            // As long as somebody else may need to commit meanwhile.
            tokio::time::sleep(Duration::from_millis(1)).await;
            return Err(unavailable());
        }
        Ok(swap)
    }
}
