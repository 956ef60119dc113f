//! One storage of two: refs and what is small in one, what is large in another.
//!
//! Pages and small chunks lie with the refs, so that a small commit is one round trip there. What is
//! large is stored elsewhere first, where a gigabyte is cheap and slow.
//!
//! Where an object lies is decided by its sealed size, which another version of the compressor may
//! change. So an object may lie in both, which does no harm, because the bytes under a name are always
//! the same: it is read from where the refs are, and a listing tells that copy alone. A token says
//! whose it is, and removes nothing elsewhere. When the copy that was told is gone, the next listing
//! tells the other one.
//!
//! - `identity`: which two belong together

mod identity;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::{BufMut as _, Bytes, BytesMut};

use crate::address::invalid;
use crate::frame::Generation;
use crate::{
    Capabilities, Domain, Expected, Listed, ObjectKey, Objects, Ref, RefKey, Refs, Result, Storage,
    Swap, Token, probe, url,
};

pub(crate) use self::identity::refuse_part;

/// From how many sealed bytes an object is large.
const LARGE: usize = 16 << 10;

/// Opens both parts of `refs=URL,chunks=URL`.
///
/// The storage of the refs is proven together with the whole, since all that the probe writes is
/// small. What is large would go to the other unproven, so that one is proven here.
pub(crate) async fn open(parts: &str) -> Result<Arc<dyn Storage>> {
    let (refs, chunks) = parts_of(parts)?;
    let (refs, chunks) = tokio::try_join!(url::place(refs), url::place(chunks))?;
    probe(&chunks).await?;
    identity::pair(&*refs, &*chunks).await?;
    Ok(Arc::new(Split { refs, chunks }))
}

fn parts_of(parts: &str) -> Result<(&str, &str)> {
    let both = parts.strip_prefix("refs=").and_then(|rest| rest.split_once(",chunks="));
    let (refs, chunks) =
        both.ok_or_else(|| invalid("split: is followed by refs=URL,chunks=URL"))?;
    let is_of = |scheme| [refs, chunks].map(|url| url.split(':').next() == Some(scheme));
    if is_of("split").contains(&true) {
        return Err(invalid("a part of split: cannot be split again"));
    }
    if matches!(is_of("memory"), [true, false] | [false, true]) {
        return Err(invalid("half of what split: keeps would be gone with the process"));
    }
    if refs == chunks && refs != "memory:" {
        return Err(invalid("both parts of split: are the same"));
    }
    Ok((refs, chunks))
}

/// Two storages that are used as one.
struct Split {
    refs: Arc<dyn Storage>,
    chunks: Arc<dyn Storage>,
}

impl fmt::Debug for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Split").field("refs", &self.refs).field("chunks", &self.chunks).finish()
    }
}

/// Which of the two an object lies in, and the byte that says so in its token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Refs = 0,
    Chunks = 1,
}

/// What goes to each of the two.
struct Halves<T> {
    refs: Vec<T>,
    chunks: Vec<T>,
}

impl<T> Halves<T> {
    fn of(all: impl Iterator<Item = (Part, T)>) -> Self {
        let mut halves = Self { refs: Vec::new(), chunks: Vec::new() };
        for (part, one) in all {
            match part {
                Part::Refs => halves.refs.push(one),
                Part::Chunks => halves.chunks.push(one),
            }
        }
        halves
    }
}

/// The objects by their size, if all of them are sealed.
fn by_size(objects: Vec<(ObjectKey, Bytes)>) -> Result<Halves<(ObjectKey, Bytes)>> {
    for (_, stored) in &objects {
        Generation::of_new(stored)?;
    }
    let part = |stored: &Bytes| if stored.len() < LARGE { Part::Refs } else { Part::Chunks };
    Ok(Halves::of(objects.into_iter().map(|object| (part(&object.1), object))))
}

#[async_trait]
impl Objects for Split {
    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        match self.refs.get(key).await? {
            Some(stored) => Ok(Some(stored)),
            None => self.chunks.get(key).await,
        }
    }

    async fn get_many(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let mut all = self.refs.get_many(keys).await?;
        let missing = all.iter().zip(keys).filter(|(stored, _)| stored.is_none());
        let missing: Vec<_> = missing.map(|(_, key)| *key).collect();
        if !missing.is_empty() {
            let found = self.chunks.get_many(&missing).await?;
            for (gap, stored) in all.iter_mut().filter(|stored| stored.is_none()).zip(found) {
                *gap = stored;
            }
        }
        Ok(all)
    }

    async fn put_many(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        let Halves { refs, chunks } = by_size(objects)?;
        let small = put(&*self.refs, refs);
        tokio::try_join!(small, put(&*self.chunks, chunks))?;
        Ok(())
    }

    async fn list(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let refs = self.refs.list(domain, after, limit);
        let (refs, chunks) = tokio::try_join!(refs, self.chunks.list(domain, after, limit))?;
        // The first of both together are among the first of each.
        Ok(merged(refs, chunks).take(limit).collect())
    }

    async fn delete_exact(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let by_part = objects.iter().filter_map(|(key, token)| {
            let (part, token) = part_of(token)?;
            Some((part, (*key, token)))
        });
        let Halves { refs, chunks } = Halves::of(by_part);
        let small = delete(&*self.refs, &refs);
        let (small, large) = tokio::try_join!(small, delete(&*self.chunks, &chunks))?;
        Ok(small + large)
    }
}

/// Stores what there is to store.
async fn put(storage: &dyn Storage, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
    if objects.is_empty() {
        return Ok(());
    }
    storage.put_many(objects).await
}

async fn delete(storage: &dyn Storage, objects: &[(ObjectKey, Token)]) -> Result<u64> {
    if objects.is_empty() {
        return Ok(0);
    }
    storage.delete_exact(objects).await
}

/// Two sorted listings as one, with every key once: where both have it, that of the refs.
fn merged(refs: Vec<Listed>, chunks: Vec<Listed>) -> impl Iterator<Item = Listed> {
    let (mut refs, mut chunks) = (refs.into_iter().peekable(), chunks.into_iter().peekable());
    std::iter::from_fn(move || {
        let order = match (refs.peek(), chunks.peek()) {
            (Some(small), Some(large)) => small.key.cmp(&large.key),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        if order.is_eq() {
            chunks.next();
        }
        match order {
            Ordering::Less | Ordering::Equal => refs.next().map(|it| told(Part::Refs, it)),
            Ordering::Greater => chunks.next().map(|it| told(Part::Chunks, it)),
        }
    })
}

/// The same object with a token that says where it lies.
fn told(part: Part, mut listed: Listed) -> Listed {
    let inner = listed.token.as_bytes();
    let mut token = BytesMut::with_capacity(1 + inner.len());
    token.put_u8(part as u8);
    token.put_slice(inner);
    listed.token = Token::new(token);
    listed
}

/// Where an object lies and its token there, unless the token is not one of ours.
fn part_of(token: &Token) -> Option<(Part, Token)> {
    let (&first, inner) = token.as_bytes().split_first()?;
    let part = [Part::Refs, Part::Chunks].into_iter().find(|part| *part as u8 == first)?;
    Some((part, Token::new(Bytes::copy_from_slice(inner))))
}

#[async_trait]
impl Refs for Split {
    async fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.refs.load(key).await
    }

    async fn swap(&self, key: &RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        self.refs.swap(key, expected, value).await
    }

    async fn delete_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        self.refs.delete_ref(key, token).await
    }

    async fn list_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        if !identity::KEY.starts_with(prefix) {
            return self.refs.list_refs(prefix, after, limit).await;
        }
        // What makes it one of two is of that storage alone.
        let mut page = self.refs.list_refs(prefix, after, limit.saturating_add(1)).await?;
        page.retain(|(key, _)| key.as_str() != identity::KEY);
        page.truncate(limit);
        Ok(page)
    }
}

#[async_trait]
impl Storage for Split {
    fn capabilities(&self) -> Capabilities {
        let (refs, chunks) = (self.refs.capabilities(), self.chunks.capabilities());
        Capabilities {
            durable: refs.durable && chunks.durable,
            // What is large is there before the ref is.
            one_step_commit: false,
            exact_delete: refs.exact_delete && chunks.exact_delete,
            shared: refs.shared && chunks.shared,
        }
    }

    async fn commit(
        &self,
        objects: Vec<(ObjectKey, Bytes)>,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        let Halves { refs, chunks } = by_size(objects)?;
        put(&*self.chunks, chunks).await?;
        self.refs.commit(refs, key, expected, value).await
    }
}
