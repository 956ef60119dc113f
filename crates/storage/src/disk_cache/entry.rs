//! One object in a segment.
//!
//! ```text
//! 0..48    key
//! 48..52   length of the sealed bytes, little endian; all ones for an object that was given up
//! 52..56   check of what is before it, little endian
//! 56..64   check of the key and the sealed bytes, little endian
//! 64..     sealed bytes
//! ```
//!
//! Checks are xxh3; the first is its lower half. Nothing is ever synced, so that after a power cut
//! there may be anything: what its check does not confirm is not there.

use bytes::Bytes;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::ObjectKey;

/// How many bytes stand before an object.
pub(super) const HEAD: usize = 64;
const GONE: u32 = u32::MAX;

/// What stands before an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) key: ObjectKey,
    /// How long it is; none if it was given up.
    pub(super) len: Option<u32>,
    check: u64,
}

impl Head {
    pub(super) fn of(key: &ObjectKey, stored: &[u8]) -> Option<Self> {
        let len = u32::try_from(stored.len()).ok().filter(|len| *len != GONE)?;
        Some(Self { key: *key, len: Some(len), check: check(key, stored) })
    }

    pub(super) fn gone(key: &ObjectKey) -> Self {
        Self { key: *key, len: None, check: 0 }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD);
        bytes.extend_from_slice(&self.key.to_bytes());
        bytes.extend_from_slice(&self.len.unwrap_or(GONE).to_le_bytes());
        bytes.extend_from_slice(&own_check(&bytes).to_le_bytes());
        bytes.extend_from_slice(&self.check.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (known, rest) = bytes.split_at_checked(ObjectKey::LEN + 4)?;
        let (own, check) = rest.split_first_chunk()?;
        if u32::from_le_bytes(*own) != own_check(known) {
            return None;
        }
        let (key, len) = known.split_at_checked(ObjectKey::LEN)?;
        let len = u32::from_le_bytes(len.try_into().ok()?);
        let check = u64::from_le_bytes(check.try_into().ok()?);
        Some(Self { key: ObjectKey::from_bytes(key)?, len: (len != GONE).then_some(len), check })
    }
}

/// The object that an entry holds, if it is of this key and as it was written.
pub(super) fn open(key: &ObjectKey, entry: Vec<u8>) -> Option<Bytes> {
    let head = Head::decode(entry.get(..HEAD)?)?;
    let stored = Bytes::from(entry).slice(HEAD..);
    let is_whole = head.key == *key
        && head.len.is_some_and(|len| stored.len() as u64 == u64::from(len))
        && head.check == check(key, &stored);
    is_whole.then_some(stored)
}

fn check(key: &ObjectKey, stored: &[u8]) -> u64 {
    // So that the right bytes behind the wrong key are wrong.
    xxh3_64_with_seed(stored, xxh3_64(&key.to_bytes()))
}

fn own_check(bytes: &[u8]) -> u32 {
    let [a, b, c, d, ..] = xxh3_64(bytes).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Domain, ObjectId};

    fn key(byte: u8) -> ObjectKey {
        ObjectKey { domain: Domain([byte; 16]), id: ObjectId([byte; 32]) }
    }

    #[test]
    fn an_entry_with_any_one_byte_changed_or_missing_is_not_there() {
        let entry = [Head::of(&key(1), b"sealed").unwrap().encode(), b"sealed".to_vec()].concat();
        assert_eq!(open(&key(1), entry.clone()).unwrap(), "sealed");
        for at in 0..entry.len() {
            assert_eq!(open(&key(1), entry[..at].to_vec()), None, "the first {at} bytes");
            let mut changed = entry.clone();
            changed[at] ^= 1;
            assert_eq!(open(&key(1), changed), None, "byte {at}");
        }
        assert_eq!(open(&key(2), entry), None);
    }

    #[test]
    fn an_object_that_was_given_up_is_no_object() {
        let gone = Head::gone(&key(1));
        assert_eq!(Head::decode(&gone.encode()), Some(gone));
        assert_eq!(open(&key(1), gone.encode()), None);
    }
}
