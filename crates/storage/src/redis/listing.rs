//! Objects in the order of their keys.

use std::iter;

use redis::{Cmd, Value};

use super::RedisStorage;
use super::answer;
use super::link::Batch;
use super::names::Group;
use crate::frame::Generation;
use crate::page::{self, Start};
use crate::{Domain, Error, ErrorKind, Listed, ObjectId, ObjectKey, Result};

/// How many ids are read of a domain at once.
const IDS: usize = 1000;
/// Of how many domains ids are read at once.
const DOMAINS: usize = 32;
/// Of how many groups domains are read at once.
const GROUPS: usize = 64;

/// The id behind which a domain has no objects.
const LAST: ObjectId = ObjectId([0xff; 32]);

impl RedisStorage {
    /// At most `limit` objects behind `after`, of one domain or of all.
    pub(super) async fn list_objects(
        &self,
        domain: Option<Domain>,
        after: Option<ObjectKey>,
        limit: usize,
    ) -> Result<Vec<Listed>> {
        let mut start = page::start(ObjectKey::first(domain), after);
        let mut found = Vec::new();
        while found.len() < limit {
            let domains = self.domains(domain, &start).await?;
            let Some(&last) = domains.last() else { break };
            let wanted = (limit - found.len()).min(IDS);
            let (keys, end) = self.keys(&domains, last, &start, wanted).await?;
            // What went in the meantime is not told, and the page is filled from what follows.
            found.extend(self.heads(&keys).await?);
            start = Start { key: end, is_behind: true };
        }
        Ok(found)
    }

    /// Some domains in which to look next: the one, or those that have objects.
    async fn domains(&self, only: Option<Domain>, start: &Start<ObjectKey>) -> Result<Vec<Domain>> {
        let first = start.key.domain;
        let is_over = start.is_behind && start.key.id == LAST;
        if let Some(domain) = only {
            let is_behind = first > domain || first == domain && is_over;
            return Ok(if is_behind { Vec::new() } else { vec![domain] });
        }
        let min = if is_over { excluded(&first.0) } else { included(&first.0) };
        let mut domains = Vec::new();
        let groups: Vec<_> = (first.0[0]..=u8::MAX).map(Group::Domains).collect();
        for groups in groups.chunks(GROUPS) {
            let batches = groups.iter().map(|&group| {
                let range = range(self.names.domains(group), &min, b"+", DOMAINS);
                Batch { group, commands: vec![range] }
            });
            for answer in self.link.ask_all(batches.collect()).await?.into_iter().flatten() {
                domains.extend(members(answer, Domain)?);
            }
            if domains.len() >= DOMAINS {
                break;
            }
        }
        domains.truncate(DOMAINS);
        Ok(domains)
    }

    /// The first keys of some domains, and up to where these are all that there are.
    async fn keys(
        &self,
        domains: &[Domain],
        last: Domain,
        start: &Start<ObjectKey>,
        limit: usize,
    ) -> Result<(Vec<ObjectKey>, ObjectKey)> {
        let batches = domains.iter().map(|&domain| {
            let goes_on = start.is_behind && start.key.domain == domain;
            let min = if goes_on { excluded(&start.key.id.0) } else { b"-".to_vec() };
            let range = range(self.names.ids(domain), &min, b"+", limit);
            Batch { group: Group::of_domain(domain), commands: vec![range] }
        });
        let answers = self.link.ask_all(batches.collect()).await?;
        let mut keys = Vec::new();
        for (&domain, answer) in domains.iter().zip(answers.into_iter().flatten()) {
            keys.extend(members(answer, ObjectId)?.into_iter().map(|id| ObjectKey { domain, id }));
            // The domain may have more, which comes before all that follows.
            if keys.len() >= limit {
                keys.truncate(limit);
                break;
            }
        }
        let whole = ObjectKey { domain: last, id: LAST };
        let end = keys.last().filter(|_| keys.len() == limit).copied().unwrap_or(whole);
        Ok((keys, end))
    }

    /// What listings tell of objects, without reading them.
    async fn heads(&self, keys: &[ObjectKey]) -> Result<Vec<Listed>> {
        let batches = keys.chunk_by(|one, two| one.domain == two.domain).map(|keys| {
            let commands = keys
                .iter()
                .map(|key| self.names.object(key))
                .flat_map(|name| [Cmd::getrange(&name, 2, 17), Cmd::strlen(&name)]);
            let group = keys.first().map_or(Group::Domains(0), |key| Group::of_domain(key.domain));
            Batch { group, commands: commands.collect() }
        });
        let answers = self.link.ask_all(batches.collect()).await?;
        let mut answers = answers.into_iter().flatten();
        let pairs = iter::from_fn(|| Some((answers.next()?, answers.next()?)));
        let listed = keys.iter().zip(pairs).map(|(key, (head, len))| listed(*key, head, len));
        listed.filter_map(Result::transpose).collect()
    }
}

/// An object as a listing tells it, if it is still there.
///
/// Between the two questions it may have gone, or have come back: who finds it half there says that
/// it is not, as he might have a moment ago.
fn listed(key: ObjectKey, generation: Value, len: Value) -> Result<Option<Listed>> {
    let (generation, size) = (answer::bytes(generation)?, answer::number(len)?);
    let generation = generation.unwrap_or_default();
    if generation.is_empty() || size == 0 {
        return Ok(None);
    }
    let generation = generation.try_into();
    let generation =
        generation.map_err(|_| Error::new(ErrorKind::Corrupt, "an object ends within its head"))?;
    let generation = Generation::from_bytes(generation);
    Ok(Some(Listed { key, token: generation.token(), written: generation.written(), size }))
}

/// The members of a sorted set between two bounds, in the order of their bytes.
pub(super) fn range(set: Vec<u8>, min: &[u8], max: &[u8], limit: usize) -> Cmd {
    let mut range = redis::cmd("ZRANGEBYLEX");
    range.arg(set).arg(min).arg(max).arg("LIMIT").arg(0).arg(limit);
    range
}

/// The bound from which on members are wanted.
pub(super) fn included(member: &[u8]) -> Vec<u8> {
    [b"[", member].concat()
}

/// The bound behind which, or before which, members are wanted.
pub(super) fn excluded(member: &[u8]) -> Vec<u8> {
    [b"(", member].concat()
}

/// What the members of a set mean, all of which have the same length.
fn members<T, const LEN: usize>(answer: Value, meaning: fn([u8; LEN]) -> T) -> Result<Vec<T>> {
    let foreign = || Error::new(ErrorKind::Corrupt, "redis holds a key that is not of this store");
    let member = |bytes: Vec<u8>| bytes.try_into().map(meaning).map_err(|_| foreign());
    answer::members(answer)?.into_iter().map(member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: ObjectKey = ObjectKey { domain: Domain([1; 16]), id: ObjectId([2; 32]) };

    fn told(generation: &[u8], len: i64) -> Result<Option<Listed>> {
        listed(KEY, Value::BulkString(generation.to_vec()), Value::Int(len))
    }

    #[test]
    fn what_goes_or_comes_back_while_it_is_looked_at_is_not_told() {
        assert_eq!(told(&[], 0).unwrap(), None);
        assert_eq!(told(&[7; 16], 0).unwrap(), None);
        assert_eq!(told(&[], 100).unwrap(), None);
        assert_eq!(told(&[7; 16], 100).unwrap().unwrap().size, 100);
    }

    #[test]
    fn what_ends_within_its_head_is_corrupt() {
        assert_eq!(told(&[7; 5], 7).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}
