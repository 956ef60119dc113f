//! Which refs copies may have written. It is noted before the first of them is, so that whoever
//! goes on with a copy can tell them from what somebody else wrote.

use std::collections::HashSet;

use bytes::{BufMut as _, Bytes, BytesMut};
use xxhash_rust::xxh3::Xxh3Default;

use crate::{Domain, ObjectId, ObjectKey, RefKey, Result, Storage, frame};

/// How many refs one object of a ledger notes.
const ENTRIES: usize = 1 << 16;
/// How many bytes note one.
const ENTRY: usize = size_of::<u128>();
/// How many objects a ledger has at most, for 65 million refs.
const OBJECTS: usize = 1000;

/// Refs with their values, as objects of a domain of their own.
#[derive(Default)]
pub(super) struct Ledger {
    pub(super) domain: Option<Domain>,
    entries: HashSet<u128>,
}

impl Ledger {
    /// What was noted in a domain; nothing if there is none.
    pub(super) async fn read(storage: &dyn Storage, domain: Option<Domain>) -> Result<Self> {
        let mut entries = HashSet::new();
        if domain.is_some() {
            for object in storage.list(domain, None, OBJECTS).await? {
                let stored = storage.get(&object.key).await?;
                let plain = stored.map(|stored| frame::open(&stored)).transpose()?;
                let (noted, _) = plain.as_deref().unwrap_or_default().as_chunks::<ENTRY>();
                entries.extend(noted.iter().map(|entry| u128::from_le_bytes(*entry)));
            }
        }
        Ok(Self { domain, entries })
    }

    /// Notes these refs, in a domain that nobody has yet.
    pub(super) async fn write<'a>(
        storage: &dyn Storage,
        refs: impl Iterator<Item = (&'a RefKey, &'a Bytes)>,
    ) -> Result<Self> {
        let entries: HashSet<_> = refs.map(|(key, value)| entry(key, value)).collect();
        let domain = Domain::random();
        let all: Vec<_> = entries.iter().copied().collect();
        for (number, part) in (0_u64..).zip(all.chunks(ENTRIES)) {
            let mut plain = BytesMut::with_capacity(part.len() * ENTRY);
            part.iter().for_each(|entry| plain.put_u128_le(*entry));
            let key = ObjectKey { domain, id: id(number) };
            storage.put_many(vec![(key, frame::seal(&plain))]).await?;
        }
        Ok(Self { domain: Some(domain), entries })
    }

    /// Whether a copy may have written the ref as it is.
    pub(super) fn knows(&self, key: &RefKey, value: &Bytes) -> bool {
        self.entries.contains(&entry(key, value))
    }

    /// Whether no copy has written a ref yet.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes what was noted.
    pub(super) async fn remove(self, storage: &dyn Storage) -> Result<()> {
        if self.domain.is_some() {
            let listed = storage.list(self.domain, None, OBJECTS).await?;
            let all: Vec<_> = listed.into_iter().map(|it| (it.key, it.token)).collect();
            storage.delete_exact(&all).await?;
        }
        Ok(())
    }
}

/// What tells a ref with its value from all others. No key holds a zero.
fn entry(key: &RefKey, value: &Bytes) -> u128 {
    let mut hash = Xxh3Default::new();
    hash.update(key.as_str().as_bytes());
    hash.update(&[0]);
    hash.update(value);
    hash.digest128()
}

fn id(number: u64) -> ObjectId {
    let mut id = [0; 32];
    id.iter_mut().zip(number.to_be_bytes()).for_each(|(at, byte)| *at = byte);
    ObjectId(id)
}
