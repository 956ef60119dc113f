//! Objects: one item each, or a head and parts if they are large.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use bytes::Bytes;
use futures::stream::{self, TryStreamExt as _};

use super::DynamoStorage;
use super::age::check_fresh;
use super::batch::{AT_ONCE, Change};
use super::large::{INLINE, Large};
use super::layout::{
    Collection, FRAME, GENERATION, Item, PARTS, Range, SHARDS, SIZE, SORT, WRITE, Write, binary,
    corrupt, number, number_of, shard_of, take, take_exactly,
};
use super::table::{Condition, Outcome};
use super::turns::in_turn;
use crate::frame::Generation;
use crate::{Domain, Error, ErrorKind, Listed, ObjectId, ObjectKey, Result, Token};

/// How many heads one request asks for, which is what the service takes.
const TOGETHER: usize = 100;

/// What the item of an object holds of it.
enum Content {
    Whole(Bytes),
    Parts(Large),
}

/// An object as a listing finds it.
pub(super) struct Found {
    pub(super) listed: Listed,
    /// The write whose parts it has, if it is large.
    pub(super) write: Option<Write>,
}

impl DynamoStorage {
    pub(super) async fn object(&self, key: &ObjectKey) -> Result<Option<Bytes>> {
        let mut before = None;
        loop {
            let Some(item) = self.table.get(self.layout.object(key)).await? else {
                return Ok(None);
            };
            let large = match content(item)? {
                Content::Whole(stored) => return Ok(Some(stored)),
                Content::Parts(large) => large,
            };
            if let Some(stored) = self.whole(large).await? {
                return Ok(Some(stored));
            }
            // The parts go after the head: by now there is another one, or none.
            if before == Some(large.write) {
                return Err(Error::new(ErrorKind::Corrupt, "an object has lost its parts"));
            }
            before = Some(large.write);
        }
    }

    pub(super) async fn objects(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let once: BTreeSet<ObjectKey> = keys.iter().copied().collect();
        let items = once.iter().map(|key| self.layout.object(key)).collect();
        let mut items = self.table.get_all(items, TOGETHER).await?;
        let found = once.iter().filter_map(|&key| {
            let item = items.remove(&self.layout.object(&key))?;
            Some(Ok(self.completed(key, item)))
        });
        let found: Vec<_> = found.collect();
        let found = stream::iter(found).try_buffer_unordered(AT_ONCE);
        let found: BTreeMap<_, _> = found.try_collect().await?;
        Ok(keys.iter().map(|key| found.get(key).cloned().flatten()).collect())
    }

    /// An object whose item was read already.
    async fn completed(&self, key: ObjectKey, item: Item) -> Result<(ObjectKey, Option<Bytes>)> {
        let whole = match content(item)? {
            Content::Whole(stored) => Some(stored),
            Content::Parts(large) => self.whole(large).await?,
        };
        match whole {
            Some(stored) => Ok((key, Some(stored))),
            None => Ok((key, self.object(&key).await?)),
        }
    }

    /// Stores objects: what leads to parts of a write that failed before the parts, and parts before
    /// heads, so that a head never leads to what is missing.
    pub(super) async fn put(&self, objects: Vec<(ObjectKey, Bytes)>) -> Result<()> {
        let mut last = BTreeMap::new();
        for (key, stored) in objects {
            last.insert(key, (Generation::of_new(&stored)?, stored));
        }
        let began = SystemTime::now();
        let domains = self.unnoted(last.keys().map(|key| key.domain));
        let mut notes: Vec<_> = domains.iter().map(|domain| self.note(*domain, began)).collect();
        let (mut parts, mut heads) = (Vec::new(), Vec::new());
        for (key, (generation, stored)) in last {
            let item = self.layout.object(&key).with([
                (GENERATION, binary(generation.as_bytes())),
                (SIZE, number(stored.len() as u64)),
            ]);
            if stored.len() < INLINE {
                parts.push(Change::Put(with(item, FRAME, binary(stored))));
            } else {
                let large = Large::of(&stored);
                notes.push(self.note_write(&key, large, began));
                parts.extend(self.parts(large, &stored));
                let head = with(item, WRITE, binary(large.write.0));
                heads.push(Change::Put(with(head, PARTS, number(large.count.into()))));
            }
        }
        self.table.change_all(notes).await?;
        self.remember(domains, began);
        self.table.change_all(parts).await?;
        check_fresh(began)?;
        self.table.change_all(heads).await
    }

    /// At most `limit` objects of a domain behind an id, in order.
    pub(super) async fn find(
        &self,
        domain: Domain,
        after: Option<ObjectId>,
        limit: usize,
    ) -> Result<Vec<Found>> {
        let range = &Range::behind(after.as_ref().map(|id| &id.0[..]));
        let shards = shard_of(&range.low)..SHARDS;
        in_turn(shards.collect(), limit, async |shard, limit| {
            let partition = self.layout.partition(Collection::Objects(domain), shard);
            let items = self.table.query(partition, range, "sk, g, n, u", limit).await?;
            items.into_iter().map(|item| found(domain, item)).collect()
        })
        .await
    }

    pub(super) async fn delete(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let objects = objects.iter().cloned();
        let deletes = objects.map(|(key, token)| Ok(self.delete_one(key, token)));
        let gone = stream::iter(deletes).try_buffer_unordered(AT_ONCE);
        gone.try_fold(0, async |sum, gone| Ok(sum + u64::from(gone))).await
    }

    async fn delete_one(&self, key: ObjectKey, token: Token) -> Result<bool> {
        let is_expected = Condition::Has(GENERATION, binary(token.as_bytes()));
        match self.table.delete_if(self.layout.object(&key), is_expected).await? {
            Outcome::Refused(_) => Ok(false),
            Outcome::Done(None) => Ok(true),
            Outcome::Done(Some(item)) => {
                if let Content::Parts(large) = content(item)? {
                    self.remove_parts(&[(key, large)]).await?;
                }
                Ok(true)
            }
        }
    }
}

fn content(mut item: Item) -> Result<Content> {
    if item.contains_key(FRAME) {
        return Ok(Content::Whole(take(&mut item, FRAME)?));
    }
    let count = u16::try_from(number_of(&item, PARTS)?).map_err(|_| corrupt())?;
    let size = number_of(&item, SIZE)?;
    Ok(Content::Parts(Large { write: Write(take_exactly(&mut item, WRITE)?), count, size }))
}

fn found(domain: Domain, mut item: Item) -> Result<Found> {
    let generation = Generation::from_bytes(take_exactly(&mut item, GENERATION)?);
    let (token, written) = (generation.token(), generation.written());
    let key = ObjectKey { domain, id: ObjectId(take_exactly(&mut item, SORT)?) };
    let size = number_of(&item, SIZE)?;
    let is_large = item.contains_key(WRITE);
    let write = is_large.then(|| take_exactly(&mut item, WRITE)).transpose()?;
    Ok(Found { listed: Listed { key, token, written, size }, write: write.map(Write) })
}

fn with(mut item: Item, name: &str, value: aws_sdk_dynamodb::types::AttributeValue) -> Item {
    item.insert(name.to_owned(), value);
    item
}
