//! Large objects: what a listing reads is small, and the bytes lie in parts elsewhere.
//!
//! A query pays for whole items, even if it asks for a few attributes of them, so that listing
//! large items costs as much as reading them; and no item may have more than 400 KB. So the item of
//! a large object is a head alone, at the price of a second round trip for those who read it.
//!
//! Parts belong to one write, which has random bytes for a name, and are never changed: whoever reads
//! has the parts of one write or sees that they are gone, and then looks at the head again. A write is
//! written down before its first part is stored, and forgotten after its parts:
//!
//! - A delete removes the head, then the parts.
//! - Who stores an object again leaves the old parts, because somebody may be reading them.
//! - Who dies in between leaves parts that no head leads to, or none any more.
//!
//! What is left is removed by a listing of the domain that comes more than a day later. A put that is
//! held up gives up long before, so that a write that old whose head is not there will never have one.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use tokio::time::timeout;

use super::DynamoStorage;
use super::age::{is_long_ago, millis};
use super::batch::Change;
use super::layout::{
    Collection, FRAME, Item, PARTS, Range, SINCE, SORT, Write, binary, corrupt, number, number_of,
    take,
};
use super::objects::Found;
use crate::{Domain, ObjectId, ObjectKey, Result};

/// From how many sealed bytes an object is large.
pub(super) const INLINE: usize = 16 << 10;
/// How many bytes a part has: with its key and the names less than the 400 KB of an item.
const PART: usize = 384 << 10;
/// How many parts one request asks for.
const TOGETHER: usize = 4;
/// How long a listing may remove what was left behind, and of how many writes at once.
const SWEEP: Duration = Duration::from_secs(3);
const SWEPT: usize = 100;

/// The parts of an object, and how many bytes they have together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Large {
    pub(super) write: Write,
    pub(super) count: u16,
    pub(super) size: u64,
}

/// A write as it was written down.
struct Noted {
    key: ObjectKey,
    large: Large,
    since: SystemTime,
}

impl Large {
    /// A new write of a sealed object.
    pub(super) fn of(stored: &Bytes) -> Self {
        let count = u16::try_from(stored.len().div_ceil(PART)).unwrap_or(u16::MAX);
        Self { write: Write(rand::random()), count, size: stored.len() as u64 }
    }
}

impl DynamoStorage {
    /// What writes down that an object is being written.
    pub(super) fn note_write(&self, key: &ObjectKey, large: Large, now: SystemTime) -> Change {
        let count = (PARTS, number(large.count.into()));
        Change::Put(self.layout.write(key, large.write).with([count, (SINCE, number(millis(now)))]))
    }

    /// What stores the parts.
    pub(super) fn parts(&self, large: Large, stored: &Bytes) -> impl Iterator<Item = Change> {
        let parts = (0..large.count).zip(stored.chunks(PART));
        parts.map(move |(at, part)| {
            Change::Put(self.layout.part(large.write, at).with([(FRAME, binary(part))]))
        })
    }

    /// The object that the parts are together, unless some are gone.
    pub(super) async fn whole(&self, large: Large) -> Result<Option<Bytes>> {
        let keys = (0..large.count).map(|at| self.layout.part(large.write, at));
        let mut parts = self.table.get_all(keys.clone().collect(), TOGETHER).await?;
        let mut whole = BytesMut::new();
        for key in keys {
            let Some(mut part) = parts.remove(&key) else { return Ok(None) };
            whole.extend_from_slice(&take(&mut part, FRAME)?);
        }
        if whole.len() as u64 != large.size {
            return Err(corrupt());
        }
        Ok(Some(whole.freeze()))
    }

    /// Removes the parts of writes to which no head leads any more, then what was written down of
    /// them.
    pub(super) async fn remove_parts(&self, writes: &[(ObjectKey, Large)]) -> Result<()> {
        let parts = writes.iter().flat_map(|(_, large)| {
            (0..large.count).map(|at| Change::Delete(self.layout.part(large.write, at)))
        });
        self.table.change_all(parts.collect()).await?;
        let noted = writes.iter().map(|(key, large)| self.layout.write(key, large.write));
        self.table.change_all(noted.map(Change::Delete).collect()).await
    }

    /// Removes what was left behind long ago among the objects from one id to the last that was
    /// found, or to the end of the domain if that is not full.
    ///
    /// What takes long or fails is left to the next who comes by: nobody who wants a listing has to
    /// wait for it.
    pub(super) async fn sweep(
        &self,
        domain: Domain,
        after: Option<ObjectId>,
        found: &[Found],
        limit: usize,
    ) {
        match timeout(SWEEP, self.sweep_all(domain, after, found, limit)).await {
            Ok(Ok(())) => {}
            Ok(Err(err)) => {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(error, "what writes left behind is not removed yet");
            }
            Err(_) => tracing::debug!("not all that writes left behind is removed yet"),
        }
    }

    async fn sweep_all(
        &self,
        domain: Domain,
        after: Option<ObjectId>,
        found: &[Found],
        limit: usize,
    ) -> Result<()> {
        let heads: HashMap<_, _> =
            found.iter().filter_map(|it| Some((it.listed.key.id, it.write?))).collect();
        let last = (found.len() >= limit).then(|| found.last()).flatten();
        let last = last.map(|found| found.listed.key.id);
        let mut left = self.writes(domain, after, last).await?;
        left.retain(|noted| {
            heads.get(&noted.key.id) != Some(&noted.large.write) && is_long_ago(noted.since)
        });
        let left: Vec<_> = left.into_iter().map(|noted| (noted.key, noted.large)).collect();
        for writes in left.chunks(SWEPT) {
            self.remove_parts(writes).await?;
        }
        Ok(())
    }

    /// Whether no write of a domain has parts.
    pub(super) async fn has_no_writes(&self, domain: Domain) -> Result<bool> {
        Ok(self.writes(domain, None, None).await?.is_empty())
    }

    /// The writes of the objects of a domain behind an id, up to another one.
    async fn writes(
        &self,
        domain: Domain,
        after: Option<ObjectId>,
        last: Option<ObjectId>,
    ) -> Result<Vec<Noted>> {
        let mut range = Range::behind(None);
        // All writes of an id sort before these.
        if let Some(after) = after {
            range.low = [&after.0[..], &[0xff; 17]].concat();
        }
        if let Some(last) = last {
            range.high = [&last.0[..], &[0xff; 17]].concat();
        }
        let partition = self.layout.partition(Collection::Writes(domain), 0);
        let items = self.table.query(partition, &range, "sk, c, s", usize::MAX).await?;
        items.into_iter().map(|item| noted(domain, item)).collect()
    }
}

fn noted(domain: Domain, mut item: Item) -> Result<Noted> {
    let name = take(&mut item, SORT)?;
    let (id, write) = name.split_first_chunk().ok_or_else(corrupt)?;
    let write = Write(write.try_into().map_err(|_| corrupt())?);
    let count = u16::try_from(number_of(&item, PARTS)?).map_err(|_| corrupt())?;
    let since = SystemTime::UNIX_EPOCH + Duration::from_millis(number_of(&item, SINCE)?);
    let key = ObjectKey { domain, id: ObjectId(*id) };
    Ok(Noted { key, large: Large { write, count, size: 0 }, since })
}
