//! Objects: stored, read and removed.

use std::collections::BTreeMap;

use bytes::Bytes;
use redis::Cmd;

use super::RedisStorage;
use super::answer;
use super::link::Batch;
use super::names::Group;
use super::script::{DELETE_OBJECTS, Form};
use crate::frame::Generation;
use crate::{Domain, ObjectKey, Result, Token};

/// How many bytes are stored in one step at most. Redis refuses requests of a gigabyte.
const STEP: usize = 256 << 20;

/// How many objects are read or removed in one command, so that others have their turn.
const COMMAND: usize = 128;

/// An object to store.
pub(super) type Object = (ObjectKey, Bytes);

impl RedisStorage {
    /// Stores objects, those of one group in one step.
    pub(super) async fn put(&self, objects: &[Object]) -> Result<()> {
        for objects in steps(objects) {
            if self.link.is_one_server() {
                let group = objects.first().map(|(key, _)| Group::of_domain(key.domain));
                let Some(group) = group else { continue };
                self.change(group, |_| self.puts(objects).into_values().flatten().collect())
                    .await?;
            } else {
                let puts = self.puts(objects).into_iter();
                let puts = puts.map(|(group, puts)| self.change(group, move |_| puts.clone()));
                futures::future::try_join_all(puts).await?;
            }
        }
        Ok(())
    }

    /// The commands that store objects. The domain and the id are listed in the same step, so that
    /// nothing lies where no listing finds it.
    pub(super) fn puts(&self, objects: &[Object]) -> BTreeMap<Group, Vec<Cmd>> {
        let mut puts: BTreeMap<Group, Vec<Cmd>> = BTreeMap::new();
        for (domain, objects) in by_domain(objects, |(key, _)| key.domain) {
            let group = Group::of_domain(domain);
            let commands = puts.entry(group).or_default();
            commands.push(Cmd::zadd(self.names.domains(group), &domain.0, 0));
            let mut ids = redis::cmd("ZADD");
            ids.arg(self.names.ids(domain));
            for (key, _) in &objects {
                ids.arg(0).arg(&key.id.0);
            }
            commands.push(ids);
            let sets =
                objects.iter().map(|(key, stored)| Cmd::set(self.names.object(key), &stored[..]));
            commands.extend(sets);
        }
        puts
    }

    /// The sealed objects, in the order of the keys.
    pub(super) async fn read(&self, keys: &[ObjectKey]) -> Result<Vec<Option<Bytes>>> {
        let mut places = BTreeMap::<Group, Vec<usize>>::new();
        for (place, key) in keys.iter().enumerate() {
            places.entry(Group::of_domain(key.domain)).or_default().push(place);
        }
        let chunks = places
            .iter()
            .flat_map(|(group, places)| places.chunks(COMMAND).map(move |places| (*group, places)));
        let chunks: Vec<_> = chunks.collect();
        let batches = chunks.iter().map(|&(group, places)| {
            let names = places.iter().filter_map(|&place| keys.get(place));
            let names: Vec<_> = names.map(|key| self.names.object(key)).collect();
            Batch { group, commands: vec![Cmd::mget(names)] }
        });
        let answers = self.link.ask_all(batches.collect()).await?;
        let mut found = vec![None; keys.len()];
        for ((_, places), answer) in chunks.into_iter().zip(answers.into_iter().flatten()) {
            for (&place, value) in places.iter().zip(answer::many(answer)?) {
                if let Some(slot) = found.get_mut(place) {
                    *slot = answer::bytes(value)?.map(Bytes::from);
                }
            }
        }
        Ok(found)
    }

    /// Removes each object that still has its token; says how many went.
    pub(super) async fn remove(&self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let mut removals = self.removals(objects);
        let mut gone = 0;
        for form in [Form::Hash, Form::Code] {
            let batches = removals.iter().map(|removal| removal.batch(form)).collect();
            let answers = self.link.ask_all(batches).await?;
            let mut again = Vec::new();
            for (removal, answer) in removals.into_iter().zip(answers.into_iter().flatten()) {
                if answer::is_unknown_script(&answer) {
                    again.push(removal);
                } else {
                    gone += answer::number(answer)?;
                }
            }
            removals = again;
        }
        Ok(gone)
    }

    fn removals(&self, objects: &[(ObjectKey, Token)]) -> Vec<Removal> {
        // No other token was ever told, and the script takes an empty one for a missing object's.
        let tokens = objects.iter().filter(|(_, token)| token.as_bytes().len() == Generation::LEN);
        let mut removals = Vec::new();
        for (domain, objects) in by_domain(tokens, |(key, _)| key.domain) {
            let group = Group::of_domain(domain);
            for objects in objects.chunks(COMMAND) {
                let mut keys = vec![self.names.domains(group), self.names.ids(domain)];
                keys.extend(objects.iter().map(|(key, _)| self.names.object(key)));
                let generations = objects.iter().map(|(_, token)| token.clone()).collect();
                removals.push(Removal { domain, keys, generations });
            }
        }
        removals
    }
}

/// Objects of one domain that are to go.
struct Removal {
    domain: Domain,
    keys: Vec<Vec<u8>>,
    generations: Vec<Token>,
}

impl Removal {
    fn batch(&self, form: Form) -> Batch {
        let generations = self.generations.iter().map(Token::as_bytes);
        let arguments: Vec<_> = std::iter::once(&self.domain.0[..]).chain(generations).collect();
        let call = DELETE_OBJECTS.call(form, &self.keys, &arguments);
        Batch { group: Group::of_domain(self.domain), commands: vec![call] }
    }
}

/// The objects in portions that are stored in one step each.
pub(super) fn steps(objects: &[Object]) -> impl Iterator<Item = &[Object]> {
    let mut size = 0;
    objects.chunk_by(move |(_, before), (_, next)| {
        size += before.len();
        let fits = size + next.len() <= STEP;
        if !fits {
            size = 0;
        }
        fits
    })
}

/// Whatever belongs to domains, sorted by them, in its order within each.
fn by_domain<'a, T: 'a>(
    all: impl IntoIterator<Item = &'a T>,
    domain: impl Fn(&T) -> Domain,
) -> BTreeMap<Domain, Vec<&'a T>> {
    let mut domains: BTreeMap<Domain, Vec<&T>> = BTreeMap::new();
    for each in all {
        domains.entry(domain(each)).or_default().push(each);
    }
    domains
}
