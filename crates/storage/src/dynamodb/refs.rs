//! Refs: one item each, changed under a condition.

use std::collections::VecDeque;

use bytes::Bytes;
use futures::future::try_join_all;

use super::DynamoStorage;
use super::layout::{Collection, Item, Range, SHARDS, SORT, TOKEN, VALUE, binary, corrupt, take};
use super::table::{Condition, Outcome};
use crate::{Error, ErrorKind, Expected, Ref, RefKey, Result, Swap, Token};

/// How many bytes a ref holds at most: with its key less than the 400 KB of an item.
const LARGEST: usize = 384 << 10;

/// How many refs of a shard are asked for at least.
const FEWEST: usize = 4;

impl DynamoStorage {
    pub(super) async fn reference(&self, key: &RefKey) -> Result<Option<Ref>> {
        self.table.get(self.layout.reference(key)).await?.map(reference).transpose()
    }

    pub(super) async fn set(
        &self,
        key: &RefKey,
        expected: &Expected,
        value: Bytes,
    ) -> Result<Swap> {
        if value.len() > LARGEST {
            let message = "DynamoDB keeps no ref of more than 384 KiB";
            return Err(Error::new(ErrorKind::InvalidObject, message));
        }
        let token = Token::random();
        let attributes = [(VALUE, binary(value)), (TOKEN, binary(token.as_bytes()))];
        let item = self.layout.reference(key).with(attributes);
        match self.table.put_if(item, condition(expected)).await? {
            Outcome::Done(_) => Ok(Swap::Won(token)),
            Outcome::Refused(current) => Ok(Swap::Lost(current.map(reference).transpose()?)),
        }
    }

    pub(super) async fn remove(&self, key: &RefKey, token: &Token) -> Result<bool> {
        let is_expected = condition(&Expected::Token(token.clone()));
        let outcome = self.table.delete_if(self.layout.reference(key), is_expected).await?;
        Ok(matches!(outcome, Outcome::Done(_)))
    }

    /// At most `limit` refs from all shards, in order.
    pub(super) async fn references(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let range = range(prefix, after);
        let mut shards: Vec<_> =
            (0..SHARDS).map(|number| Shard::new(number, range.clone())).collect();
        let mut found = Vec::new();
        // Keys are spread evenly, so that each shard has about its share of them.
        let share = FEWEST.saturating_add(limit.div_ceil(usize::from(SHARDS)));
        while found.len() < limit {
            let dry = shards.iter_mut().filter(|shard| shard.is_dry());
            try_join_all(dry.map(|shard| self.fill(shard, share))).await?;
            let full = shards.iter_mut().filter(|shard| !shard.waiting.is_empty());
            let Some(first) = full.min_by(|a, b| a.next_key().cmp(&b.next_key())) else { break };
            found.extend(first.waiting.pop_front());
        }
        Ok(found)
    }

    async fn fill(&self, shard: &mut Shard, most: usize) -> Result<()> {
        let partition = self.layout.partition(Collection::Refs, shard.number);
        let items = self.table.query(partition, &shard.range, "sk, v, t", most).await?;
        shard.has_more = items.len() >= most;
        shard.waiting = items.into_iter().map(named).collect::<Result<_>>()?;
        if let Some((last, _)) = shard.waiting.back() {
            shard.range.low = [last.as_str().as_bytes(), &[0]].concat();
        }
        Ok(())
    }
}

/// A shard whose refs are taken one by one.
struct Shard {
    number: u8,
    /// What has not been asked for yet.
    range: Range,
    has_more: bool,
    waiting: VecDeque<(RefKey, Ref)>,
}

impl Shard {
    fn new(number: u8, range: Range) -> Self {
        let has_more = !range.is_empty();
        Self { number, range, has_more, waiting: VecDeque::new() }
    }

    fn is_dry(&self) -> bool {
        self.waiting.is_empty() && self.has_more
    }

    fn next_key(&self) -> Option<&RefKey> {
        self.waiting.front().map(|(key, _)| key)
    }
}

/// The sort keys of the refs with a prefix, behind a key.
fn range(prefix: &str, after: Option<&RefKey>) -> Range {
    // What is longer than any key is longer than the service takes.
    let prefix = prefix.as_bytes();
    let prefix = prefix.get(..=RefKey::MAX_LEN).unwrap_or(prefix);
    // Keys are ASCII, so that everything with the prefix sorts before this.
    let high = [prefix, &[0xff]].concat();
    let first = if prefix.is_empty() { vec![0] } else { prefix.to_vec() };
    let behind = after.map(|after| [after.as_str().as_bytes(), &[0]].concat());
    Range { low: behind.map_or(first.clone(), |behind| behind.max(first)), high }
}

fn condition(expected: &Expected) -> Condition {
    match expected {
        Expected::Absent => Condition::Absent,
        Expected::Token(token) => Condition::Has(TOKEN, binary(token.as_bytes())),
    }
}

fn reference(mut item: Item) -> Result<Ref> {
    Ok(Ref { value: take(&mut item, VALUE)?, token: Token::new(take(&mut item, TOKEN)?) })
}

fn named(mut item: Item) -> Result<(RefKey, Ref)> {
    let key = take(&mut item, SORT)?;
    let key = str::from_utf8(&key).map_err(|_| corrupt())?;
    Ok((RefKey::new(key).map_err(|_| corrupt())?, reference(item)?))
}
