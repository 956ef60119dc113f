//! A storage whose connections outlive the runtime that asks it.
//!
//! Every promise runs on a runtime of its own, and connections end with the one on which they were
//! made. Opening the storage for each promise would prove it 500 times over, at 50 writes each.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use storage::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token,
};
use tokio::runtime::Runtime;
use tokio_util::task::AbortOnDropHandle;

/// A storage with a runtime for all that it does.
pub(crate) struct Lasting {
    storage: Arc<dyn Storage>,
    runtime: Runtime,
}

impl Lasting {
    pub(crate) fn open(url: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let storage = runtime.block_on(storage::open(url)).unwrap();
        Self { storage, runtime }
    }

    /// Lets the storage's own runtime do something, unless the caller leaves before.
    async fn there<T, F>(&self, work: impl FnOnce(Arc<dyn Storage>) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let task = self.runtime.spawn(work(Arc::clone(&self.storage)));
        match AbortOnDropHandle::new(task).await {
            Ok(outcome) => outcome,
            Err(err) => resume_unwind(err.into_panic()),
        }
    }
}

impl fmt::Debug for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lasting").field(&self.storage).finish()
    }
}

#[async_trait]
impl Objects for Lasting {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        let key = *key;
        self.there(|storage| async move { storage.get(&key).await }).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let keys = keys.to_vec();
        self.there(|storage| async move { storage.get_many(&keys).await }).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.there(|storage| async move { storage.put_many(objects).await }).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.there(move |storage| async move { storage.list(domain, after, limit).await }).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let objects = objects.to_vec();
        self.there(|storage| async move { storage.delete_exact(&objects).await }).await
    }
}

#[async_trait]
impl Refs for Lasting {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        let key = key.clone();
        self.there(|storage| async move { storage.load(&key).await }).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        let (key, expected) = (key.clone(), expected.clone());
        self.there(|storage| async move { storage.swap(&key, &expected, value).await }).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let (key, token) = (key.clone(), token.clone());
        self.there(|storage| async move { storage.delete_ref(&key, &token).await }).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        let list = move |storage: Arc<dyn Storage>| async move {
            storage.list_refs(&prefix, after.as_ref(), limit).await
        };
        self.there(list).await
    }
}

#[async_trait]
impl Storage for Lasting {
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
        let (key, expected) = (key.clone(), expected.clone());
        let commit = |storage: Arc<dyn Storage>| async move {
            storage.commit(objects, &key, &expected, value).await
        };
        self.there(commit).await
    }
}
