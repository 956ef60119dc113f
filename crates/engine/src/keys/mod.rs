//! Keys: who may do what in which sandboxes. They are refs `keys/{id}` of a store.
//!
//! - `id`: what a key is called, and who does something
//! - `secret`: the part that only its holder knows, of which the store has a hash
//! - `grant`: what a key allows, and what keys its holder may make
//! - `record`: the bytes that are kept
//! - `known`: what this process remembers of keys, and for how long
//! - `signing`: what a holder may hand on without handing on his key

#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod grant;
mod id;
mod known;
mod record;
mod secret;
mod signing;

use std::sync::Arc;

use bytes::Bytes;
use storage::{Expected, Ref, RefKey, Swap};
use tokio::sync::OnceCell;

use crate::tree::Damaged;
use crate::virtual_fs::{doubtful, meaning, now};
use crate::{Error, ErrorKind, Result, Store};

pub use self::grant::{Grant, Scope};
pub use self::id::{Actor, KeyId};
use self::known::Known;
pub use self::record::KeyRecord;
pub use self::secret::{KeyText, SecretHash};
pub use self::signing::{Access, Claim, Signed, Signer};

const KEYS: &str = "keys/";
/// The most that one list gives.
const MOST: usize = 1000;
/// How many ids are tried. That two keys get one of 62 random bits is a fault of the machine.
const TRIES: usize = 4;

/// The keys of a store. Cheap to clone.
///
/// A key that is revoked is refused at once by this and its clones, and within 5 s by everybody else
/// who has the store open.
#[derive(Clone, Debug)]
pub struct Keys {
    known: Arc<Known>,
    signer: Arc<OnceCell<Signer>>,
}

/// What a new key shall be.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What it allows.
    pub grant: Grant,
    /// What it is called: at most 256 bytes.
    pub label: String,
    /// Who makes it.
    pub created_by: Actor,
}

impl Keys {
    /// The keys that a store has.
    pub fn new(store: &Store) -> Self {
        let known = Known::new(Arc::clone(store.shelf.cache.storage()));
        Self { known: Arc::new(known), signer: Arc::default() }
    }

    /// Makes a key. Its text is told here and never again.
    ///
    /// Whether its maker may do that is for [`Grant::covers`] to say.
    pub async fn create(&self, new: NewKey) -> Result<(Arc<KeyRecord>, KeyText)> {
        let NewKey { grant, label, created_by } = new;
        let (grant, created) = (grant.checked()?, now());
        record::check_label(&label)?;
        for _ in 0..TRIES {
            let (id, secret, text) = KeyText::random()?;
            let (grant, label) = (grant.clone(), label.clone());
            let record = KeyRecord { id, grant, label, created, created_by, secret };
            if self.store(&record).await? {
                self.known.forget(&id);
                return Ok((Arc::new(record), text));
            }
        }
        Err(Error::new(ErrorKind::Io, "no id is left for a key"))
    }

    /// The keys behind `after`, in the order of their ids; at most 1,000 of them. Those that have
    /// expired are among them until they are revoked.
    pub async fn list(&self, after: Option<&KeyId>, limit: usize) -> Result<Vec<KeyRecord>> {
        let after = after.map(key_of).transpose()?;
        let storage = &self.known.storage;
        let refs = storage.list_refs(KEYS, after.as_ref(), limit.min(MOST)).await;
        let decoded = refs.map_err(meaning)?.into_iter().map(|(key, Ref { value, .. })| {
            let id = KeyId::parse(key.as_str().strip_prefix(KEYS).unwrap_or_default())?;
            KeyRecord::decode(id, &value).map_err(|err| unreadable(&id, err))
        });
        decoded.collect()
    }

    /// The key with an id, as the store has it now.
    pub async fn stat(&self, id: &KeyId) -> Result<KeyRecord> {
        let stored = self.known.storage.load(&key_of(id)?).await.map_err(meaning)?;
        let Ref { value, .. } = stored.ok_or_else(|| missing(id))?;
        KeyRecord::decode(*id, &value).map_err(|err| unreadable(id, err))
    }

    /// Takes a key away for good, even one that cannot be read.
    pub async fn revoke(&self, id: &KeyId) -> Result<()> {
        let outcome = self.delete(id).await;
        // Also after an error: the store may have done it.
        self.known.forget(id);
        outcome
    }

    /// The key that somebody presents. None if it is no key, has a wrong secret, was revoked or has
    /// expired. An error means that nobody can tell, so that he must not be let in.
    pub async fn check(&self, presented: &str) -> Result<Option<Arc<KeyRecord>>> {
        let Some((id, secret)) = secret::parse(presented) else { return Ok(None) };
        let found = self.find(&id).await?;
        Ok(found.filter(|record| record.secret == secret))
    }

    /// The key with an id, unless it was revoked or has expired, with the same certainty as
    /// [`check`](Self::check): for those whom a key let in and who stay long.
    pub async fn find(&self, id: &KeyId) -> Result<Option<Arc<KeyRecord>>> {
        let found = self.known.find(id).await?;
        Ok(found.filter(|record| !record.grant.is_expired()))
    }

    /// What signs for everybody who has the store open. It is made once, by whoever is first.
    pub async fn signer(&self) -> Result<&Signer> {
        self.signer.get_or_try_init(|| Signer::load(&*self.known.storage)).await
    }

    /// Keeps a new key; says whether its id was free.
    async fn store(&self, record: &KeyRecord) -> Result<bool> {
        let (key, value) = (key_of(&record.id)?, Bytes::from(record.encode()));
        let swap = self.known.storage.swap(&key, &Expected::Absent, value.clone()).await;
        Ok(match swap.map_err(doubtful)? {
            Swap::Won(_) => true,
            Swap::Lost(now) => now.is_some_and(|now| now.value == value),
        })
    }

    async fn delete(&self, id: &KeyId) -> Result<()> {
        let (key, storage) = (key_of(id)?, &self.known.storage);
        let mut stored = storage.load(&key).await.map_err(meaning)?;
        if stored.is_none() {
            return Err(missing(id));
        }
        while let Some(Ref { token, .. }) = stored {
            if storage.delete_ref(&key, &token).await.map_err(doubtful)? {
                break;
            }
            stored = storage.load(&key).await.map_err(meaning)?;
        }
        Ok(())
    }
}

/// Where a key is kept.
fn key_of(id: &KeyId) -> Result<RefKey> {
    RefKey::new(&format!("{KEYS}{id}")).map_err(meaning)
}

fn missing(id: &KeyId) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no key `{id}`"))
}

fn unreadable(id: &KeyId, err: Damaged) -> Error {
    Error::new(ErrorKind::Io, format!("the key `{id}` cannot be read")).because(err)
}
