//! What fuzzing reaches and nobody else may: bytes that a store keeps.

use bytes::Bytes;

use crate::snapshot::Record;
use crate::tree::{decode_extents, decode_page, encode_extents, encode_page, put_check};
use crate::virtual_fs::{Root, condemned_again};
use crate::{SandboxPath, audit, keys, registry};

/// A kind of bytes that a store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A page of names.
    Page,
    /// A page of extents.
    Extents,
    /// The root of a tree.
    Root,
    /// A snapshot.
    Snapshot,
    /// A sandbox.
    Sandbox,
    /// A key.
    Key,
    /// A batch of the audit.
    Audit,
    /// What a later collection deletes.
    Condemned,
}

impl Stored {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Page,
        Self::Extents,
        Self::Root,
        Self::Snapshot,
        Self::Sandbox,
        Self::Key,
        Self::Audit,
        Self::Condemned,
    ];

    /// What comes of bytes that are read and written again: none if they are refused, and empty if
    /// they are taken but cannot be written.
    pub fn again(self, bytes: &Bytes) -> Option<Vec<u8>> {
        match self {
            Self::Page => Some(encode_page(&decode_page(bytes).ok()?).unwrap_or_default()),
            Self::Extents => Some(encode_extents(&decode_extents(bytes).ok()?).unwrap_or_default()),
            Self::Root => Some(Root::decode(bytes).ok()?.encode().unwrap_or_default()),
            Self::Snapshot => Some(Record::decode(bytes).ok()?.encode().unwrap_or_default()),
            Self::Sandbox => registry::fuzzing::again(bytes),
            Self::Key => keys::fuzzing::again(bytes),
            Self::Audit => audit::fuzzing::again(bytes),
            Self::Condemned => condemned_again(bytes),
        }
    }

    /// Whether the last bytes tell whether the others are right.
    pub fn has_check(self) -> bool {
        match self {
            Self::Page | Self::Extents | Self::Condemned => false,
            Self::Root | Self::Snapshot | Self::Sandbox | Self::Key | Self::Audit => true,
        }
    }
}

/// Ends a record with what tells whether it is right.
pub fn check(record: &mut Vec<u8>) {
    put_check(record);
}

/// Whether every record that can hold a path is read as it was written.
pub fn keeps(path: &SandboxPath) -> bool {
    registry::fuzzing::keeps(path) && keys::fuzzing::keeps(path) && audit::fuzzing::keeps(path)
}
