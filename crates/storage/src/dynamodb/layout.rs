//! Where in the table what lies. The layout is permanent.
//!
//! | what | partition | sort key | attributes |
//! |---|---|---|---|
//! | an object | `o`, its domain, shard | its id | `g` generation, `n` size, and `f` frame or `u` write and `c` count of parts |
//! | a part of a large object | `p`, its write | number | `f` bytes |
//! | a write of a large object | `w`, its domain | id, write | `c` count of parts, `s` since when |
//! | a domain | `d`, shard | the domain | `s` seen when |
//! | a ref | `r`, shard | its key | `v` value, `t` token |
//!
//! Every partition begins with the prefix of the store and its length, so that several stores share
//! a table. A shard is one of eight: the first bits of an id or a domain, which are random, so that
//! eight ranges in order are the whole; or a hash of the key of a ref, whose shards are merged.
//!
//! A partition takes some 1,000 small writes a second before the service splits it, so that a family
//! of sandboxes takes 8,000 objects a second from the first moment on, and a store 8,000 swaps, twice
//! what a new table takes. More shards would make every listing dearer.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Domain, Error, ErrorKind, ObjectKey, RefKey, Result};

/// One item of the table.
pub(super) type Item = HashMap<String, AttributeValue>;

pub(super) const PARTITION: &str = "pk";
pub(super) const SORT: &str = "sk";
pub(super) const GENERATION: &str = "g";
pub(super) const SIZE: &str = "n";
pub(super) const FRAME: &str = "f";
pub(super) const WRITE: &str = "u";
pub(super) const PARTS: &str = "c";
pub(super) const SINCE: &str = "s";
pub(super) const VALUE: &str = "v";
pub(super) const TOKEN: &str = "t";

/// How many shards a collection has.
pub(super) const SHARDS: u8 = 8;

/// Items that are listed together.
#[derive(Clone, Copy, Debug)]
pub(super) enum Collection {
    Objects(Domain),
    Writes(Domain),
    Domains,
    Refs,
}

impl Collection {
    /// The shard in which a sort key lies.
    fn shard(self, sort: &[u8]) -> u8 {
        match self {
            Self::Objects(_) | Self::Domains => shard_of(sort),
            Self::Writes(_) => 0,
            Self::Refs => u8::try_from(xxh3_64(sort) % u64::from(SHARDS)).unwrap_or(0),
        }
    }
}

/// The shard of an id or a domain: those of one sort before those of the next.
pub(super) fn shard_of(id: &[u8]) -> u8 {
    id.first().map_or(0, |first| first >> 5)
}

/// The whole key of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    partition: Vec<u8>,
    sort: Vec<u8>,
}

impl Key {
    /// An item that has nothing but its key.
    pub(super) fn into_item(self) -> Item {
        let attributes = [(PARTITION, binary(self.partition)), (SORT, binary(self.sort))];
        attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// An item with this key and these attributes.
    pub(super) fn with<const N: usize>(self, attributes: [(&str, AttributeValue); N]) -> Item {
        let mut item = self.into_item();
        item.extend(attributes.map(|(name, value)| (name.to_owned(), value)));
        item
    }

    /// The key of an item that was read whole.
    pub(super) fn of(item: &Item) -> Result<Self> {
        let part = |name| item.get(name).and_then(|value| value.as_b().ok());
        let (Some(partition), Some(sort)) = (part(PARTITION), part(SORT)) else {
            return Err(corrupt());
        };
        Ok(Self { partition: partition.as_ref().to_vec(), sort: sort.as_ref().to_vec() })
    }
}

/// A write of a large object: 16 random bytes, by which its parts are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write(pub(super) [u8; 16]);

/// How the keys of one store begin.
#[derive(Debug)]
pub(super) struct Layout {
    head: Vec<u8>,
}

impl Layout {
    pub(super) fn of(prefix: &str) -> Self {
        let len = u16::try_from(prefix.len()).unwrap_or(u16::MAX);
        Self { head: [&len.to_be_bytes(), prefix.as_bytes()].concat() }
    }

    pub(super) fn partition(&self, collection: Collection, shard: u8) -> Vec<u8> {
        let (kind, scope) = match &collection {
            Collection::Objects(domain) => (b"o", &domain.0[..]),
            Collection::Writes(domain) => (b"w", &domain.0[..]),
            Collection::Domains => (b"d", &[][..]),
            Collection::Refs => (b"r", &[][..]),
        };
        [&self.head, &kind[..], scope, &[shard]].concat()
    }

    pub(super) fn object(&self, key: &ObjectKey) -> Key {
        self.key(Collection::Objects(key.domain), key.id.0.to_vec())
    }

    pub(super) fn write(&self, key: &ObjectKey, write: Write) -> Key {
        let sort = [&key.id.0[..], &write.0].concat();
        self.key(Collection::Writes(key.domain), sort)
    }

    pub(super) fn domain(&self, domain: Domain) -> Key {
        self.key(Collection::Domains, domain.0.to_vec())
    }

    pub(super) fn reference(&self, key: &RefKey) -> Key {
        self.key(Collection::Refs, key.as_str().as_bytes().to_vec())
    }

    pub(super) fn part(&self, write: Write, number: u16) -> Key {
        let partition = [&self.head, &b"p"[..], &write.0].concat();
        Key { partition, sort: number.to_be_bytes().to_vec() }
    }

    fn key(&self, collection: Collection, sort: Vec<u8>) -> Key {
        Key { partition: self.partition(collection, collection.shard(&sort)), sort }
    }
}

/// Sort keys from one to another, both among them.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) low: Vec<u8>,
    pub(super) high: Vec<u8>,
}

impl Range {
    /// Everything behind a sort key, or from the beginning. No sort key but that of a ref, which is
    /// text, has more than 48 bytes.
    pub(super) fn behind(after: Option<&[u8]>) -> Self {
        // A key cannot be empty, and nothing sorts before a zero.
        let low = after.map_or(vec![0], |after| [after, &[0]].concat());
        Self { low, high: vec![0xff; 49] }
    }

    /// Everything from a sort key on.
    pub(super) fn from(first: &[u8]) -> Self {
        Self { low: first.to_vec(), ..Self::behind(None) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

pub(super) fn binary(bytes: impl Into<Vec<u8>>) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

pub(super) fn number(number: u64) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// Takes an attribute of bytes out of an item.
pub(super) fn take(item: &mut Item, name: &str) -> Result<Bytes> {
    match item.remove(name) {
        Some(AttributeValue::B(bytes)) => Ok(bytes.into_inner().into()),
        _ => Err(corrupt()),
    }
}

/// Takes an attribute of so many bytes out of an item.
pub(super) fn take_exactly<const N: usize>(item: &mut Item, name: &str) -> Result<[u8; N]> {
    take(item, name)?.as_ref().try_into().map_err(|_| corrupt())
}

/// A number in an item.
pub(super) fn number_of(item: &Item, name: &str) -> Result<u64> {
    let number = item.get(name).and_then(|value| value.as_n().ok());
    number.and_then(|number| number.parse().ok()).ok_or_else(corrupt)
}

pub(super) fn corrupt() -> Error {
    Error::new(ErrorKind::Corrupt, "an item of the table is not what was written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObjectId;

    #[test]
    fn an_object_lies_in_the_shard_of_its_first_bits() {
        let key = ObjectKey { domain: Domain([7; 16]), id: ObjectId([0xab; 32]) };
        let found = Layout::of("a/b").object(&key);
        assert_eq!(found.partition, [&b"\0\x03a/bo"[..], &[7; 16], &[0x05]].concat());
        assert_eq!(found.sort, [0xab; 32]);
    }

    #[test]
    fn a_ref_lies_where_it_always_lay() {
        let found = Layout::of("").reference(&RefKey::new("sandboxes/a/root").unwrap());
        assert_eq!(found.partition, b"\0\0r\x01");
        assert_eq!(found.sort, b"sandboxes/a/root");
    }

    #[test]
    fn no_store_sees_the_keys_of_another() {
        let domain = Domain([b'o'; 16]);
        let keys = ["", "o", "a", "a/o"].map(|prefix| Layout::of(prefix).domain(domain));
        for (number, key) in keys.iter().enumerate() {
            assert!(!keys[number + 1..].contains(key));
        }
    }

    #[test]
    fn a_range_begins_behind_what_it_follows() {
        let range = Range::behind(Some(&[0xff; 48]));
        assert!(range.low.as_slice() > &[0xff; 48][..] && !range.is_empty());
        assert!(Range::behind(None).low.as_slice() <= &[0; 32][..]);
    }
}
