//! Whose objects are whose.

use bytes::Bytes;
use storage::{Domain, ObjectId, ObjectKey, frame};

use crate::Result;
use crate::tree::{Heights, IdKey, ObjectKind};

use super::super::meaning::meaning;
use super::damaged;

/// The secret of a sandbox and its forks, and the keys that come of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) domain: Domain,
    pub(crate) secret: Secret,
    pub(crate) ids: IdKey,
    pub(crate) heights: Heights,
}

/// Bytes that no log may show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) [u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Family {
    /// The family of a domain with this secret. The names of the keys are part of the format.
    pub(crate) fn new(domain: Domain, secret: Secret) -> Self {
        let ids = IdKey(blake3::derive_key("sandkeep 1 object ids", &secret.0));
        let heights = Heights::new(blake3::derive_key("sandkeep 1 name heights", &secret.0));
        Self { domain, secret, ids, heights }
    }

    /// A family of its own.
    pub(crate) fn random() -> Self {
        Self::new(Domain::random(), Secret(rand::random()))
    }

    pub(crate) fn key(&self, id: ObjectId) -> ObjectKey {
        ObjectKey { domain: self.domain, id }
    }

    /// The content of an object that a store gave, which must be what its id says.
    pub(crate) fn open(
        &self,
        id: ObjectId,
        kind: ObjectKind,
        stored: Option<Bytes>,
    ) -> Result<Bytes> {
        let stored = stored.ok_or_else(|| damaged("an object is missing from the store"))?;
        let plain = frame::open(&stored).map_err(meaning)?;
        if self.ids.id(kind, &plain) != id {
            return Err(damaged("an object in the store is not what it was"));
        }
        Ok(plain)
    }
}
