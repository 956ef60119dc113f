//! Backends that do not keep their promises.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use sandkeep_storage::{
    Capabilities, Domain, Expected, Listed, MemoryStorage, ObjectKey, Objects, Ref, RefKey, Refs,
    Result, Storage, Swap, Token,
};
use tokio::task::yield_now;

/// A store in memory with one defect.
#[derive(Debug)]
pub(crate) struct Broken {
    sound: MemoryStorage,
    defect: Defect,
}

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Nothing.
    None,
    /// It writes whatever the caller expects.
    IgnoresExpectations,
    /// It only checks whether the ref is there.
    IgnoresTokens,
    /// It checks, does something else, and then writes.
    ChecksTooEarly,
    /// It is careful with creates and checks swaps too early.
    ChecksSwapsTooEarly,
    /// It deletes refs whatever the token.
    DeletesAnyRef,
    /// It deletes objects whatever the token.
    DeletesAnyObject,
    /// It checks the token of a ref, does something else, and then deletes.
    DeletesRefsTooEarly,
    /// It checks the token of an object, does something else, and then deletes.
    DeletesObjectsTooEarly,
    /// It does not keep what is stored.
    Forgets,
    /// It never lets anyone win a swap.
    NeverSwaps,
}

impl Broken {
    pub(crate) fn with(defect: Defect) -> Arc<dyn Storage> {
        Arc::new(Self { sound: MemoryStorage::default(), defect })
    }

    /// Writes without looking.
    async fn force(&self, key: &RefKey, value: Bytes) -> Result<Swap> {
        loop {
            let current = self.sound.load(key).await?;
            let expected =
                current.map_or(Expected::Absent, |current| Expected::Token(current.token));
            if let Swap::Won(token) = self.sound.swap(key, &expected, value.clone()).await? {
                return Ok(Swap::Won(token));
            }
        }
    }

    /// Deletes objects without looking.
    async fn delete_any(&self, keys: Vec<ObjectKey>) -> Result<u64> {
        let all = self.sound.list(None, None, usize::MAX).await?;
        let wanted = all.into_iter().filter(|it| keys.contains(&it.key));
        let current: Vec<_> = wanted.map(|listed| (listed.key, listed.token)).collect();
        self.sound.delete_exact(&current).await
    }

    async fn check_too_early(
        &self,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        let current = self.sound.load(key).await?;
        if !expected.matches(current.as_ref()) {
            return Ok(Swap::Lost(current));
        }
        yield_now().await;
        self.force(key, value).await
    }
}

#[async_trait]
impl Objects for Broken {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        self.sound.get(key).await
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        self.sound.get_many(keys).await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        if self.defect == Defect::Forgets {
            return Ok(());
        }
        self.sound.put_many(objects).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        self.sound.list(domain, after, limit).await
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let any = match self.defect {
            Defect::DeletesAnyObject => objects.iter().map(|(key, _)| *key).collect(),
            Defect::DeletesObjectsTooEarly => {
                let listed = self.sound.list(None, None, usize::MAX).await?;
                let is_wanted = |it: &&Listed| objects.contains(&(it.key, it.token.clone()));
                let checked = listed.iter().filter(is_wanted).map(|it| it.key).collect();
                yield_now().await;
                checked
            }
            Defect::None
            | Defect::IgnoresExpectations
            | Defect::IgnoresTokens
            | Defect::ChecksTooEarly
            | Defect::ChecksSwapsTooEarly
            | Defect::DeletesAnyRef
            | Defect::DeletesRefsTooEarly
            | Defect::Forgets
            | Defect::NeverSwaps => return self.sound.delete_exact(objects).await,
        };
        self.delete_any(any).await
    }
}

#[async_trait]
impl Refs for Broken {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.sound.load(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        let is_create = *expected == Expected::Absent;
        let is_there = self.sound.load(key).await?.is_some();
        match self.defect {
            Defect::IgnoresExpectations => self.force(key, value).await,
            Defect::IgnoresTokens if is_there && !is_create => self.force(key, value).await,
            Defect::ChecksTooEarly => self.check_too_early(key, expected, value).await,
            Defect::ChecksSwapsTooEarly if !is_create => {
                self.check_too_early(key, expected, value).await
            }
            Defect::NeverSwaps if !is_create => Ok(Swap::Lost(self.sound.load(key).await?)),
            Defect::None
            | Defect::IgnoresTokens
            | Defect::ChecksSwapsTooEarly
            | Defect::DeletesAnyRef
            | Defect::DeletesAnyObject
            | Defect::DeletesRefsTooEarly
            | Defect::DeletesObjectsTooEarly
            | Defect::Forgets
            | Defect::NeverSwaps => self.sound.swap(key, expected, value).await,
        }
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let deletes_any = match self.defect {
            Defect::DeletesAnyRef => true,
            Defect::DeletesRefsTooEarly => {
                let current = self.sound.load(key).await?;
                yield_now().await;
                Expected::Token(token.clone()).matches(current.as_ref())
            }
            Defect::None
            | Defect::IgnoresExpectations
            | Defect::IgnoresTokens
            | Defect::ChecksTooEarly
            | Defect::ChecksSwapsTooEarly
            | Defect::DeletesAnyObject
            | Defect::DeletesObjectsTooEarly
            | Defect::Forgets
            | Defect::NeverSwaps => false,
        };
        let current = self.sound.load(key).await?.filter(|_| deletes_any);
        let token = current.as_ref().map_or(token, |current| &current.token);
        self.sound.delete_ref(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        self.sound.list_refs(prefix, after, limit).await
    }
}

#[async_trait]
impl Storage for Broken {
    fn capabilities(&self) -> Capabilities {
        self.sound.capabilities()
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
