//! What fuzzing asks of what is kept of a key, and of what a key signs.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{Access, Actor, Claim, Grant, KeyId, KeyRecord, Scope, SecretHash, Signer};
use crate::{Role, SandboxId, SandboxPath, UnixTime};

/// What comes of a record that is read and written again; nothing if it is refused.
pub(crate) fn again(bytes: &Bytes) -> Option<Vec<u8>> {
    KeyRecord::decode(id()?, bytes).ok().map(|record| record.encode())
}

/// Whether a key that is confined to a directory is read as it was written, and a signed address of
/// it too.
pub(crate) fn keeps(path: &SandboxPath) -> bool {
    reads_key(path).unwrap_or(false) && reads_claim(path).unwrap_or(false)
}

fn reads_key(path: &SandboxPath) -> Option<bool> {
    let prefix = Some(path.clone()).filter(|path| !path.is_root());
    let scope = Scope::Only(BTreeSet::from([SandboxId::parse("a").ok()?]));
    let record = KeyRecord {
        id: id()?,
        grant: Grant { role: Role::Viewer, scope, prefix, expires: None },
        label: String::new(),
        created: UnixTime::EPOCH,
        created_by: Actor::Token,
        secret: SecretHash::from_bytes([7; 32]),
    };
    Some(KeyRecord::decode(id()?, &record.encode().into()).ok()? == record)
}

fn reads_claim(path: &SandboxPath) -> Option<bool> {
    let (signer, secret) = (Signer::fixed(), SecretHash::from_bytes([7; 32]));
    let claim = Claim {
        by: Actor::Token,
        sandbox: SandboxId::parse("a").ok()?,
        access: Access::ReadFile,
        path: path.clone(),
        expires: UnixTime { seconds: i64::MAX, nanoseconds: 0 },
    };
    let signed = signer.verify(&signer.sign(&claim, &secret))?;
    Some(signed.claim(&secret)? == claim)
}

fn id() -> Option<KeyId> {
    KeyId::parse("abcdefghij01").ok()
}
