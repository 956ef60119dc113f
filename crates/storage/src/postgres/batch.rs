//! Objects as one statement takes them: a list for each column.

use std::collections::BTreeMap;

use bytes::Bytes;
use tokio_postgres::types::ToSql;

use crate::frame::Generation;
use crate::{ObjectKey, Result};

/// How many bytes of objects, and how many of them, one statement stores, give or take the last.
const MOST_BYTES: usize = 16 << 20;
const MOST_OBJECTS: usize = 16_384;

/// Objects that are fit to be stored, sorted by key, each key once.
pub(super) struct Batch(Vec<(ObjectKey, Generation, Bytes)>);

impl Batch {
    /// The objects, if all are sealed. Of those with one key the last stays.
    pub(super) fn of(objects: Vec<(ObjectKey, Bytes)>) -> Result<Self> {
        let mut sorted = BTreeMap::new();
        for (key, stored) in objects {
            sorted.insert(key, (Generation::of_new(&stored)?, stored));
        }
        let one = |(key, (generation, stored))| (key, generation, stored);
        Ok(Self(sorted.into_iter().map(one).collect()))
    }

    /// What goes into one statement after the other.
    pub(super) fn parts(&self) -> Vec<Part<'_>> {
        let (mut parts, mut size) = (Vec::<Part<'_>>::new(), 0);
        for (key, generation, stored) in &self.0 {
            let begin = size > MOST_BYTES || parts.last().is_none_or(Part::is_full);
            if begin {
                parts.push(Part::default());
                size = 0;
            }
            size += stored.len();
            if let Some(part) = parts.last_mut() {
                part.push(key, generation, stored);
            }
        }
        parts
    }

    /// The same, with the last part, be it empty, for the statement that also sets a ref.
    pub(super) fn parts_and_last(&self) -> (Vec<Part<'_>>, Part<'_>) {
        let mut parts = self.parts();
        let last = parts.pop().unwrap_or_default();
        (parts, last)
    }
}

/// What one statement stores.
#[derive(Default)]
pub(super) struct Part<'a> {
    keys: Keys<'a>,
    generations: Vec<&'a [u8]>,
    frames: Vec<&'a [u8]>,
}

impl<'a> Part<'a> {
    fn push(&mut self, key: &'a ObjectKey, generation: &'a Generation, stored: &'a Bytes) {
        self.keys.push(key);
        self.generations.push(generation.as_bytes());
        self.frames.push(stored);
    }

    fn is_full(&self) -> bool {
        self.frames.len() >= MOST_OBJECTS
    }

    /// The first four values of the statement.
    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        vec![&self.keys.domains, &self.keys.ids, &self.generations, &self.frames]
    }
}

/// The keys of objects, in two columns.
#[derive(Default)]
pub(super) struct Keys<'a> {
    pub(super) domains: Vec<&'a [u8]>,
    pub(super) ids: Vec<&'a [u8]>,
}

impl<'a> Keys<'a> {
    pub(super) fn of(keys: impl Iterator<Item = &'a ObjectKey>) -> Self {
        let mut columns = Self::default();
        keys.for_each(|key| columns.push(key));
        columns
    }

    fn push(&mut self, key: &'a ObjectKey) {
        self.domains.push(&key.domain.0);
        self.ids.push(&key.id.0);
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng as _;

    use super::*;
    use crate::{Domain, ErrorKind, ObjectId, frame};

    fn object(number: u8, content: &[u8]) -> (ObjectKey, Bytes) {
        (ObjectKey { domain: Domain([1; 16]), id: ObjectId([number; 32]) }, frame::seal(content))
    }

    #[test]
    fn objects_are_sorted_and_the_last_of_equals_stays() {
        let last = object(1, b"last");
        let objects = vec![object(2, b"x"), object(1, b"first"), object(0, b"x"), last.clone()];
        let batch = Batch::of(objects).unwrap();
        let ids: Vec<_> = batch.0.iter().map(|(key, ..)| key.id.0[0]).collect();
        assert_eq!(ids, [0, 1, 2]);
        assert_eq!(batch.0[1].2, last.1);
    }

    #[test]
    fn what_is_too_much_for_one_statement_is_parted() {
        let mut noise = vec![0; 7 << 20];
        rand::rng().fill_bytes(&mut noise);
        let batch = Batch::of((0..5).map(|number| object(number, &noise)).collect()).unwrap();
        let lens: Vec<_> = batch.parts().iter().map(|part| part.frames.len()).collect();
        assert_eq!(lens, [3, 2]);
        let (parts, last) = batch.parts_and_last();
        assert_eq!((parts.len(), last.frames.len()), (1, 2));
    }

    #[test]
    fn nothing_is_one_empty_part() {
        let batch = Batch(Vec::new());
        let (parts, last) = batch.parts_and_last();
        assert!(parts.is_empty() && last.frames.is_empty());
    }

    #[test]
    fn what_is_not_sealed_is_refused() {
        let err = Batch::of(vec![(object(0, b"x").0, Bytes::from("plain"))]).map(drop).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidObject);
    }
}
