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

/// The engine's error for a store's that was asked to change something. What did not answer may have
/// done it, or do it yet.
pub(crate) fn doubtful(err: storage::Error) -> Error {
    match err.kind() {
        storage::ErrorKind::Unavailable => {
            let message = "the store does not answer; whether the change happened is not known";
            Error::new(ErrorKind::InDoubt, message).because(err)
        }
        storage::ErrorKind::InvalidUrl
        | storage::ErrorKind::InvalidKey
        | storage::ErrorKind::InUse
        | storage::ErrorKind::Full
        | storage::ErrorKind::Unsafe
        | storage::ErrorKind::InvalidObject
        | storage::ErrorKind::Corrupt
        | storage::ErrorKind::Io => meaning(err),
    }
}

impl Error {
    /// The error of somebody who uses a storage itself, in the engine's words.
    pub fn of_storage(err: storage::Error) -> Self {
        meaning(err)
    }
}
