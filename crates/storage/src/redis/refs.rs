//! Refs: read, swapped, removed and listed.

use bytes::Bytes;
use redis::{Cmd, Value};

use super::RedisStorage;
use super::link::Batch;
use super::listing::{excluded, included, range};
use super::names::Group;
use super::script::{DELETE_REF, Form, SWAP};
use super::{answer, failure};
use crate::page::{self, Start};
use crate::{Error, ErrorKind, Expected, Ref, RefKey, Result, Swap, Token};

/// How many bytes a token has.
const TOKEN: usize = 16;

/// How many refs are read at once.
const REFS: usize = 256;

impl RedisStorage {
    /// The ref now, if there is one.
    pub(super) async fn load_ref(&self, key: &RefKey) -> Result<Option<Ref>> {
        let commands = vec![Cmd::get(self.names.stored_ref(key))];
        let answers = self.link.ask(Batch { group: Group::of_ref(key), commands }).await?;
        stored_ref(answers.into_iter().next().ok_or_else(failure::unexpected)?)
    }

    /// The call that swaps a ref.
    pub(super) fn swap_call(&self, form: Form, key: &RefKey, wish: &Wish) -> Cmd {
        let keys = [self.names.stored_ref(key), self.names.refs(Group::of_ref(key))];
        let expected = match &wish.expected {
            Expected::Absent => Vec::new(),
            Expected::Token(token) => [b"=", token.as_bytes()].concat(),
        };
        let token = wish.token.as_bytes();
        let arguments = [&expected, token, &wish.value, key.as_str().as_bytes()];
        SWAP.call(form, &keys, &arguments)
    }

    /// Removes the ref if it still has this token; says whether it did.
    pub(super) async fn remove_ref(&self, key: &RefKey, token: &Token) -> Result<bool> {
        // No other token was ever told, and the script takes an empty one for a missing ref's.
        if token.as_bytes().len() != TOKEN {
            return Ok(false);
        }
        let group = Group::of_ref(key);
        let keys = [self.names.stored_ref(key), self.names.refs(group)];
        let arguments = [token.as_bytes(), key.as_str().as_bytes()];
        let remove = |form| vec![DELETE_REF.call(form, &keys, &arguments)];
        let gone = self.change(group, remove).await?.pop().ok_or_else(failure::unexpected)?;
        Ok(answer::number(gone)? == 1)
    }

    /// At most `limit` refs whose keys begin with `prefix`, behind `after`.
    pub(super) async fn list_stored_refs(
        &self,
        prefix: &str,
        after: Option<&RefKey>,
        limit: usize,
    ) -> Result<Vec<(RefKey, Ref)>> {
        let Start { key, is_behind } = page::start(prefix, after.map(RefKey::as_str));
        let mut min = if is_behind { excluded(key.as_bytes()) } else { included(key.as_bytes()) };
        let mut found = Vec::new();
        while found.len() < limit {
            let wanted = (limit - found.len()).min(REFS);
            let keys = self.keys_of_refs(prefix, &min, wanted).await?;
            // What went in the meantime is not told, and the page is filled from what follows.
            let refs = self.load_refs(&keys).await?;
            found.extend(keys.iter().cloned().zip(refs).filter_map(|(key, now)| Some((key, now?))));
            match keys.last() {
                Some(last) if keys.len() == wanted => min = excluded(last.as_str().as_bytes()),
                Some(_) | None => break,
            }
        }
        Ok(found)
    }

    /// The first keys of all groups together.
    async fn keys_of_refs(&self, prefix: &str, min: &[u8], limit: usize) -> Result<Vec<RefKey>> {
        // No key has a letter that sorts behind this.
        let max = excluded(&[prefix.as_bytes(), &[0xff]].concat());
        let batches = Group::all_of_refs().map(|group| Batch {
            group,
            commands: vec![range(self.names.refs(group), min, &max, limit)],
        });
        let mut keys = Vec::new();
        for answer in self.link.ask_all(batches.collect()).await?.into_iter().flatten() {
            for name in answer::members(answer)? {
                keys.push(key(&name)?);
            }
        }
        keys.sort_unstable();
        keys.truncate(limit);
        Ok(keys)
    }

    async fn load_refs(&self, keys: &[RefKey]) -> Result<Vec<Option<Ref>>> {
        let batches = keys.iter().map(|key| {
            let commands = vec![Cmd::get(self.names.stored_ref(key))];
            Batch { group: Group::of_ref(key), commands }
        });
        let answers = self.link.ask_all(batches.collect()).await?;
        answers.into_iter().flatten().map(stored_ref).collect()
    }
}

/// What a caller wants of a ref.
pub(super) struct Wish {
    expected: Expected,
    token: Token,
    value: Bytes,
}

impl Wish {
    pub(super) fn new(expected: &Expected, value: Bytes) -> Self {
        Self { expected: expected.clone(), token: Token::random(), value }
    }

    /// How it ended.
    pub(super) fn outcome(self, answer: Option<Value>) -> Result<Swap> {
        match answer {
            Some(Value::Int(1)) => Ok(Swap::Won(self.token)),
            Some(answer) => Ok(Swap::Lost(stored_ref(answer)?)),
            None => Err(failure::unexpected()),
        }
    }
}

/// The token and the value that are stored together.
fn stored_ref(answer: Value) -> Result<Option<Ref>> {
    let Some(stored) = answer::bytes(answer)? else { return Ok(None) };
    if stored.len() < TOKEN {
        return Err(corrupt("a ref is shorter than its token"));
    }
    let mut token = Bytes::from(stored);
    let value = token.split_off(TOKEN);
    Ok(Some(Ref { value, token: Token::new(token) }))
}

fn key(name: &[u8]) -> Result<RefKey> {
    let name = str::from_utf8(name).map_err(|_| corrupt("a ref has a name that is not text"))?;
    RefKey::new(name)
}

fn corrupt(message: &'static str) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}
