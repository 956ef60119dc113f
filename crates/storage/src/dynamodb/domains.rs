//! Which domains there are: what a listing of all objects goes by.
//!
//! A domain is written down before its first objects are stored, and again every hour by whoever
//! writes to it. So one that nobody has seen for a day and that holds nothing is nobody's any more:
//! it is forgotten by the next listing that comes by, if nobody has seen it since.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use super::DynamoStorage;
use super::age::{is_fresh, is_long_ago, millis};
use super::batch::Change;
use super::layout::{
    Collection, Item, Range, SHARDS, SINCE, SORT, number, number_of, shard_of, take_exactly,
};
use super::table::Condition;
use super::turns::in_turn;
use crate::{Domain, Listed, ObjectKey, Result};

/// How many domains are remembered as written down.
const REMEMBERED: usize = 1 << 16;
/// How many domains are looked up at once.
const PAGE: usize = 16;

/// A domain as it was written down.
#[derive(Clone, Copy)]
struct Known {
    domain: Domain,
    /// When somebody who wrote to it wrote it down, in milliseconds since 1970.
    seen: u64,
}

impl DynamoStorage {
    /// Those domains that were not written down lately.
    pub(super) fn unnoted(&self, domains: impl Iterator<Item = Domain>) -> BTreeSet<Domain> {
        let noted = self.noted.lock();
        domains.filter(|domain| !noted.get(domain).is_some_and(|at| is_fresh(*at))).collect()
    }

    /// What writes down that somebody writes to a domain.
    pub(super) fn note(&self, domain: Domain, now: SystemTime) -> Change {
        Change::Put(self.layout.domain(domain).with([(SINCE, number(millis(now)))]))
    }

    /// Remembers that domains were written down.
    pub(super) fn remember(&self, domains: BTreeSet<Domain>, at: SystemTime) {
        let mut noted = self.noted.lock();
        if noted.len() + domains.len() > REMEMBERED {
            noted.clear();
        }
        noted.extend(domains.into_iter().map(|domain| (domain, at)));
    }

    /// At most `limit` objects of all domains behind a key, in order.
    pub(super) async fn find_in_all(
        &self,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let mut range = after.map_or(Range::behind(None), |after| Range::from(&after.domain.0));
        let mut listed = Vec::new();
        while listed.len() < limit {
            let known = self.known(range).await?;
            let Some(last) = known.last() else { break };
            range = Range::behind(Some(&last.domain.0));
            let left = limit - listed.len();
            listed.extend(
                in_turn(known, left, |known, limit| self.find_in(known, after, limit)).await?,
            );
        }
        Ok(listed)
    }

    async fn find_in(
        &self,
        known: Known,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let after = after.filter(|after| after.domain == known.domain).map(|after| after.id);
        let found = self.find(known.domain, after, limit).await?;
        if found.is_empty() && after.is_none() {
            self.forget(known).await?;
        }
        Ok(found.into_iter().map(|found| found.listed).collect())
    }

    /// Forgets a domain without objects that nobody has written to for long.
    async fn forget(&self, known: Known) -> Result<()> {
        let seen = SystemTime::UNIX_EPOCH + Duration::from_millis(known.seen);
        if !is_long_ago(seen) {
            return Ok(());
        }
        self.sweep(known.domain, None, &[], usize::MAX).await;
        if self.has_no_writes(known.domain).await? {
            let unseen = Condition::Has(SINCE, number(known.seen));
            self.table.delete_if(self.layout.domain(known.domain), unseen).await?;
        }
        Ok(())
    }

    async fn known(&self, range: Range) -> Result<Vec<Known>> {
        let (range, shards) = (&range, shard_of(&range.low)..SHARDS);
        in_turn(shards.collect(), PAGE, async |shard, limit| {
            let partition = self.layout.partition(Collection::Domains, shard);
            let items = self.table.query(partition, range, "sk, s", limit).await?;
            items.into_iter().map(known).collect()
        })
        .await
    }
}

fn known(mut item: Item) -> Result<Known> {
    let domain = Domain(take_exactly(&mut item, SORT)?);
    Ok(Known { domain, seen: number_of(&item, SINCE)? })
}
