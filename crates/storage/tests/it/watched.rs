//! A store in memory that tells what is done with it, and fails or changes when it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use sandkeep_storage::{
    Capabilities, Domain, Error, ErrorKind, Expected, Listed, MemoryStorage, ObjectKey, Objects,
    Ref, RefKey, Refs, Result, Storage, Swap, Token,
};

/// A store that is watched.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) inner: Arc<dyn Storage>,
    /// Objects that were asked for.
    pub(crate) gets: AtomicU64,
    /// Objects that were stored.
    pub(crate) puts: AtomicU64,
    /// The longest page that was asked for.
    pub(crate) longest_page: AtomicU64,
    /// How many objects, and how many refs, are stored until everything fails.
    pub(crate) objects_left: AtomicU64,
    pub(crate) refs_left: AtomicU64,
    /// What happens each time when objects are asked for.
    pub(crate) meanwhile: Meanwhile,
    /// Bytes that somebody fetched and did not store yet, and the most there ever were.
    pub(crate) under_way: Arc<UnderWay>,
}

/// Bytes on their way between two stores.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    now: AtomicU64,
    pub(crate) most: AtomicU64,
}

type Happening = Box<dyn Fn(Arc<dyn Storage>) -> BoxFuture<'static, ()> + Send + Sync>;

/// What somebody else does in the middle.
#[derive(Default)]
pub(crate) struct Meanwhile(Mutex<Option<Arc<Happening>>>);

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meanwhile")
    }
}

impl Watched {
    pub(crate) fn new() -> Arc<Self> {
        Self::over(Arc::new(MemoryStorage::default()), Arc::default())
    }

    pub(crate) fn over(inner: Arc<dyn Storage>, under_way: Arc<UnderWay>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            gets: AtomicU64::new(0),
            puts: AtomicU64::new(0),
            longest_page: AtomicU64::new(0),
            objects_left: AtomicU64::new(u64::MAX),
            refs_left: AtomicU64::new(u64::MAX),
            meanwhile: Meanwhile::default(),
            under_way,
        })
    }

    pub(crate) fn storage(self: &Arc<Self>) -> Arc<dyn Storage> {
        Arc::clone(self) as Arc<dyn Storage>
    }

    /// Lets something happen whenever objects are asked for.
    pub(crate) fn meanwhile<F>(
        &self,
        happening: impl Fn(Arc<dyn Storage>) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let happening: Happening = Box::new(move |storage| Box::pin(happening(storage)));
        *self.meanwhile.0.lock() = Some(Arc::new(happening));
    }

    pub(crate) fn quiet(&self) {
        *self.meanwhile.0.lock() = None;
    }

    /// How many objects were asked for since the last time.
    pub(crate) fn gets(&self) -> u64 {
        self.gets.swap(0, Ordering::Relaxed)
    }

    /// How many objects were stored since the last time.
    pub(crate) fn puts(&self) -> u64 {
        self.puts.swap(0, Ordering::Relaxed)
    }
}

/// Takes from what is left, or fails.
fn take(left: &AtomicU64, count: u64) -> Result<()> {
    let taken =
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
    taken.map(drop).map_err(|_| Error::new(ErrorKind::Unavailable, "the store went away"))
}

fn bytes<'a>(all: impl IntoIterator<Item = &'a Bytes>) -> u64 {
    all.into_iter().map(|stored| stored.len() as u64).sum()
}

#[async_trait]
impl Objects for Watched {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        Ok(self.get_many(&[*key]).await?.pop().flatten())
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let happening = self.meanwhile.0.lock().clone();
        if let Some(happening) = happening {
            happening(Arc::clone(&self.inner)).await;
        }
        self.gets.fetch_add(keys.len() as u64, Ordering::Relaxed);
        let found = self.inner.get_many(keys).await?;
        let fetched = bytes(found.iter().flatten());
        let now = self.under_way.now.fetch_add(fetched, Ordering::Relaxed) + fetched;
        self.under_way.most.fetch_max(now, Ordering::Relaxed);
        // Others come as far as this, too.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        Ok(found)
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        let stored = bytes(objects.iter().map(|(_, stored)| stored));
        take(&self.objects_left, objects.len() as u64)?;
        self.puts.fetch_add(objects.len() as u64, Ordering::Relaxed);
        self.inner.put_many(objects).await?;
        let less = |now: u64| Some(now.saturating_sub(stored));
        self.under_way.now.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok();
        Ok(())
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.longest_page.fetch_max(limit as u64, Ordering::Relaxed);
        self.inner.list(domain, after, limit).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        self.inner.delete_exact(objects).await
    }
}

#[async_trait]
impl Refs for Watched {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.inner.load(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        take(&self.refs_left, 1)?;
        self.inner.swap(key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.inner.delete_ref(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.longest_page.fetch_max(limit as u64, Ordering::Relaxed);
        self.inner.list_refs(prefix, after, limit).await
    }
}

#[async_trait]
impl Storage for Watched {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        self.put_many(objects).await?;
        self.swap(key, expected, value).await
    }
}
