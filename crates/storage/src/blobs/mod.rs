//! Stores in a bucket of S3, Azure or Google, which any number of machines share.
//!
//! A commit is two rounds: all its objects at once, then the ref on the condition that nobody else
//! changed it. Objects are put whatever is there, never on a condition: a put that is refused
//! because a garbage collector is just removing the name would leave nothing behind.
//!
//! What to know of them:
//!
//! - Google takes about one write a second of one name. A sandbox in `gs://` that is written all the
//!   time makes about one commit a second, with up to a thousand changes in each; `split:` with its
//!   refs elsewhere has no such bound.
//! - A bucket that keeps old versions keeps what the garbage collector removes. Give it a rule that
//!   lets old versions expire.
//! - A bucket that does not know how to remove on a condition is found out when it is opened. It is
//!   safe, but nothing collects its garbage.
//!
//! - `name`: what objects and refs are called
//! - `record`: how a ref is stored
//! - `bucket`: bytes by name, changed on conditions; `sign`: what they are; `listing`: in order
//! - `s3`, `azure`, `google`, `configured`: the three kinds, and what settings they take
//! - `wire`, `failure`: how requests travel, and what goes wrong

mod azure;
mod bucket;
mod configured;
mod failure;
mod google;
mod listing;
mod name;
mod record;
mod s3;
mod sign;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use self::bucket::Bucket;
use self::failure::undecided;
use self::listing::list;
use self::name::Names;
use self::record::Current;
use crate::address::{Address, invalid};
use crate::frame::{self, Generation};
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectId, ObjectKey, Objects, Ref, RefKey, Refs,
    Result, Storage, Swap, Token,
};

/// How many requests one call has under way.
const AT_ONCE: usize = 32;

/// How long a prefix is at most: with the longest key of a ref it is still a name everywhere.
const LONGEST_PREFIX: usize = 400;

/// Opens the store that an address names.
pub(crate) async fn open(address: Address) -> Result<Arc<dyn Storage>> {
    address.check_all_taken()?;
    let (place, prefix) = address.place_and_prefix()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if prefix.len() > LONGEST_PREFIX || !prefix.bytes().all(is_plain) {
        return Err(invalid("a prefix is at most 400 letters, digits, '.', '_', '-' and '/'"));
    }
    let bucket = match address.scheme.as_str() {
        "s3" => s3::connect(&place, &address.settings).await?,
        "az" => azure::connect(&place, &address.settings).await?,
        _ => google::connect(&place, &address.settings).await?,
    };
    let names = Names::under(&prefix);
    // Some servers make a bucket for whoever writes to it, even if its name was mistyped.
    list(&bucket, &names.objects(None), None, 1).await?;
    let removing = Removing::of(&bucket, &names).await?;
    Ok(Arc::new(Blobs { bucket, names, removing }))
}

/// Objects and refs in a bucket.
#[derive(Debug)]
struct Blobs {
    bucket: Bucket,
    names: Names,
    removing: Removing,
}

/// Whether a bucket heeds the condition of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Removing {
    Exact,
    Heedless,
}

impl Removing {
    /// Finds out, with an object that nobody refers to.
    async fn of(bucket: &Bucket, names: &Names) -> Result<Self> {
        let key = ObjectKey { domain: Domain::random(), id: ObjectId(rand::random()) };
        let name = names.object(&key);
        let stale = bucket.put(&name, frame::seal(b"")).await?;
        let token = bucket.put(&name, frame::seal(b"")).await?;
        if !bucket.remove_if(&name, &stale).await? && bucket.remove_if(&name, &token).await? {
            return Ok(Self::Exact);
        }
        bucket.remove(&name).await?;
        tracing::warn!("the bucket cannot remove on a condition: its garbage is not collected");
        Ok(Self::Heedless)
    }
}

impl Blobs {
    async fn put_all(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        for (_, stored) in &objects {
            Generation::of_new(stored)?;
        }
        // Of a key that comes twice the last counts.
        let objects: HashMap<_, _> = objects.into_iter().collect();
        let puts = objects.into_iter().map(|(key, stored)| async move {
            self.bucket.put(&self.names.object(&key), stored).await
        });
        stream::iter(puts).buffer_unordered(AT_ONCE).try_for_each(|_| async { Ok(()) }).await
    }

    async fn current(&self, name: &str) -> Result<Current> {
        Current::of(self.bucket.get(name).await?)
    }

    /// The values of those refs that are still there.
    async fn load_all(&self, keys: Vec<RefKey>) -> Result<Vec<(RefKey, Ref)>> {
        let loads = keys.into_iter().map(|key| async move {
            let current = self.load(&key).await?;
            Ok(current.map(|current| (key, current)))
        });
        let loaded = stream::iter(loads).buffered(AT_ONCE);
        loaded.try_filter_map(|found| async { Ok(found) }).try_collect().await
    }
}

#[async_trait]
impl Objects for Blobs {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        let stored = self.bucket.get(&self.names.object(key)).await?;
        Ok(stored.map(|stored| stored.bytes))
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let gets = keys.iter().copied().map(|key| async move { self.get(&key).await });
        stream::iter(gets).buffered(AT_ONCE).try_collect().await
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        self.put_all(objects).await
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let prefix = self.names.objects(domain);
        let after = after.map(|key| self.names.object(&key));
        let found = list(&self.bucket, &prefix, after.as_deref(), limit).await?;
        let listed = found.into_iter().filter_map(|found| {
            let key = self.names.to_object(&found.location)?;
            let token = sign::of_listed(&found);
            let (written, size) = (found.last_modified.into(), found.size);
            Some(token.map(|token| Listed { key, token, written, size }))
        });
        listed.collect()
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let removals = objects.iter().cloned().map(|(key, token)| async move {
            let name = self.names.object(&key);
            match self.removing {
                Removing::Exact => self.bucket.remove_listed(&name, &token).await,
                Removing::Heedless => self.bucket.remove_seen(&name, &token).await,
            }
        });
        let removed = stream::iter(removals).buffer_unordered(AT_ONCE);
        removed.try_fold(0, |gone, is_gone| async move { Ok(gone + u64::from(is_gone)) }).await
    }
}

#[async_trait]
impl Refs for Blobs {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        Ok(self.current(&self.names.reference(key)).await?.value())
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        let (name, record) = (self.names.reference(key), record::of_value(&value));
        if let Some(token) = self.bucket.put_if(&name, expected, record.clone()).await? {
            return Ok(Swap::Won(token));
        }
        let mut current = self.current(&name).await?;
        if let (Expected::Absent, Current::Removed(token)) = (expected, &current) {
            let removed = Expected::Token(token.clone());
            if let Some(token) = self.bucket.put_if(&name, &removed, record).await? {
                return Ok(Swap::Won(token));
            }
            current = self.current(&name).await?;
        }
        let current = current.value();
        // Buckets also refuse those who come at the same time as another, and then that one fails.
        if expected.matches(current.as_ref()) {
            return Err(undecided());
        }
        Ok(Swap::Lost(current))
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let name = self.names.reference(key);
        match self.removing {
            Removing::Exact => self.bucket.remove_if(&name, token).await,
            Removing::Heedless => {
                let expected = Expected::Token(token.clone());
                let removed = self.bucket.put_if(&name, &expected, record::of_removed()).await?;
                Ok(removed.is_some())
            }
        }
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let Some(prefix) = self.names.references(prefix) else { return Ok(Vec::new()) };
        let mut after = after.map(|key| self.names.reference(key));
        let mut refs = Vec::new();
        loop {
            let wanted = limit - refs.len();
            let found = list(&self.bucket, &prefix, after.as_deref(), wanted).await?;
            let is_last = found.len() < wanted;
            after = found.last().map(|found| found.location.to_string());
            let keys = found.iter().filter_map(|found| self.names.to_ref(&found.location));
            refs.extend(self.load_all(keys.collect()).await?);
            // A page is not short while there are more, else its reader would stop too early.
            if is_last || refs.len() >= limit {
                return Ok(refs);
            }
        }
    }
}

#[async_trait]
impl Storage for Blobs {
    fn capabilities(&self) -> Capabilities {
        let exact_delete = self.removing == Removing::Exact;
        Capabilities { durable: true, one_step_commit: false, exact_delete, shared: true }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        self.put_all(objects).await?;
        self.swap(key, expected, value).await
    }
}
