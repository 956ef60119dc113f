//! A store in memory, gone with the process.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::RwLock;

use crate::frame::Generation;
use crate::page;
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token,
};

/// Objects and refs in sorted maps.
#[derive(Default)]
pub struct MemoryStorage {
    objects: RwLock<BTreeMap<ObjectKey, Bytes>>,
    refs: RwLock<BTreeMap<RefKey, Ref>>,
}

impl fmt::Debug for MemoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStorage").finish_non_exhaustive()
    }
}

#[async_trait]
impl Objects for MemoryStorage {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        Ok(self.objects.read().get(key).cloned())
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let objects = self.objects.read();
        Ok(keys.iter().map(|key| objects.get(key).cloned()).collect())
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        for (_, stored) in &objects {
            Generation::of_new(stored)?;
        }
        self.objects.write().extend(objects);
        Ok(())
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let start = page::start(ObjectKey::first(domain), after).bound();
        let objects = self.objects.read();
        let of_domain = |key: &ObjectKey| domain.is_none_or(|domain| key.domain == domain);
        let found = objects.range((start, Bound::Unbounded));
        found.take_while(|(key, _)| of_domain(key)).take(limit).map(listed).collect()
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let mut kept = self.objects.write();
        let mut gone = 0;
        for (key, token) in objects {
            if let Some(stored) = kept.get(key)
                && Generation::of(stored)?.token() == *token
            {
                kept.remove(key);
                gone += 1;
            }
        }
        Ok(gone)
    }
}

fn listed((key, stored): (&ObjectKey, &Bytes)) -> Result<Listed> {
    let generation = Generation::of(stored)?;
    let (token, written) = (generation.token(), generation.written());
    Ok(Listed { key: *key, token, written, size: stored.len() as u64 })
}

#[async_trait]
impl Refs for MemoryStorage {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        Ok(self.refs.read().get(key).cloned())
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        let mut refs = self.refs.write();
        let current = refs.get(key);
        if !expected.matches(current) {
            return Ok(Swap::Lost(current.cloned()));
        }
        let token = Token::random();
        refs.insert(key.clone(), Ref { value, token: token.clone() });
        Ok(Swap::Won(token))
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let mut refs = self.refs.write();
        let is_there = refs.get(key).is_some_and(|current| current.token == *token);
        if is_there {
            refs.remove(key);
        }
        Ok(is_there)
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let refs = self.refs.read();
        let start = page::start(prefix, after.map(RefKey::as_str)).bound();
        let found = refs.range::<str, _>((start, Bound::Unbounded));
        let matching = found.take_while(|(key, _)| key.as_str().starts_with(prefix)).take(limit);
        Ok(matching.map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

#[async_trait]
impl Storage for MemoryStorage {
    fn capabilities(&self) -> Capabilities {
        Capabilities { durable: false, one_step_commit: true, exact_delete: true, shared: false }
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
