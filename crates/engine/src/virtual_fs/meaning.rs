//! What a store says, in the engine's words.

use crate::{Error, ErrorKind};

/// The engine's error for a store's.
pub(crate) fn meaning(err: storage::Error) -> Error {
    let kind = match err.kind() {
        storage::ErrorKind::InvalidUrl | storage::ErrorKind::InvalidKey => {
            ErrorKind::InvalidArgument
        }
        storage::ErrorKind::InUse => ErrorKind::Locked,
        storage::ErrorKind::Full => ErrorKind::StorageFull,
        storage::ErrorKind::Unavailable => ErrorKind::Unavailable,
        storage::ErrorKind::Unsafe => ErrorKind::Unsupported,
        storage::ErrorKind::InvalidObject
        | storage::ErrorKind::Corrupt
        | storage::ErrorKind::Io => ErrorKind::Io,
    };
    let message = err.to_string();
    Error::new(kind, message).because(err)
}

impl Error {
    /// The error of somebody who uses a storage itself, in the engine's words.
    pub fn of_storage(err: storage::Error) -> Self {
        meaning(err)
    }
}
