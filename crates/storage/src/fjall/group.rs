//! What is written together.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::database::Database;
use crate::frame::Generation;
use crate::{Expected, ObjectKey, Ref, RefKey, Result, Swap, Token};

/// Changes that go to the disk together, each decided in the light of those before it.
pub(super) struct Group<'a> {
    database: &'a Database,
    objects: BTreeMap<ObjectKey, Option<Sealed>>,
    refs: BTreeMap<RefKey, Option<Ref>>,
}

/// An object that is fit to be stored.
#[derive(Clone)]
pub(super) struct Sealed {
    generation: Generation,
    stored: Bytes,
}

impl Sealed {
    /// The objects, if all are sealed, and how many bytes they are.
    pub(super) fn all(objects: Vec<(ObjectKey, Bytes)>) -> Result<(Vec<(ObjectKey, Self)>, u64)> {
        let size = objects.iter().map(|(_, stored)| stored.len() as u64).sum();
        let sealed = objects.into_iter().map(|(key, stored)| {
            Ok((key, Self { generation: Generation::of_new(&stored)?, stored }))
        });
        Ok((sealed.collect::<Result<_>>()?, size))
    }
}

impl<'a> Group<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        Self { database, objects: BTreeMap::new(), refs: BTreeMap::new() }
    }

    pub(super) fn put(&mut self, objects: Vec<(ObjectKey, Sealed)>) {
        self.objects.extend(objects.into_iter().map(|(key, object)| (key, Some(object))));
    }

    pub(super) fn delete_exact(&mut self, objects: &[(ObjectKey, Token)]) -> Result<u64> {
        let mut gone = 0;
        for (key, token) in objects {
            if self.generation(key)?.is_some_and(|current| current.token() == *token) {
                self.objects.insert(*key, None);
                gone += 1;
            }
        }
        Ok(gone)
    }

    pub(super) fn swap(&mut self, key: RefKey, expected: &Expected, value: Bytes) -> Result<Swap> {
        let current = self.load(&key)?;
        if !expected.matches(current.as_ref()) {
            return Ok(Swap::Lost(current));
        }
        let token = Token::random();
        self.refs.insert(key, Some(Ref { value, token: token.clone() }));
        Ok(Swap::Won(token))
    }

    pub(super) fn delete_ref(&mut self, key: RefKey, token: &Token) -> Result<bool> {
        let is_there = self.load(&key)?.is_some_and(|current| current.token == *token);
        if is_there {
            self.refs.insert(key, None);
        }
        Ok(is_there)
    }

    /// Writes everything, and syncs it.
    ///
    /// Each key is written once, because fjall does not order writes of one key within a batch,
    /// and objects come before refs, because whoever reads meanwhile sees them in this order.
    pub(super) fn commit(self) -> fjall::Result<()> {
        if self.objects.is_empty() && self.refs.is_empty() {
            return Ok(());
        }
        let mut batch = self.database.batch();
        for (key, object) in self.objects {
            match object {
                Some(Sealed { generation, stored }) => batch.put(key, generation, stored),
                None => batch.remove(key),
            }
        }
        for (key, value) in &self.refs {
            match value {
                Some(value) => batch.set_ref(key, value),
                None => batch.remove_ref(key),
            }
        }
        batch.commit()
    }

    fn generation(&self, key: &ObjectKey) -> Result<Option<Generation>> {
        match self.objects.get(key) {
            Some(object) => Ok(object.as_ref().map(|object| object.generation)),
            None => self.database.generation(key),
        }
    }

    fn load(&self, key: &RefKey) -> Result<Option<Ref>> {
        match self.refs.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.database.load(key),
        }
    }
}
