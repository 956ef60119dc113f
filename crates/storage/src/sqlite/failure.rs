//! What SQLite's errors mean.

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

use crate::{Error, ErrorKind};

impl From<rusqlite::Error> for Error {
    fn from(err: rusqlite::Error) -> Self {
        let Some(failure) = err.sqlite_error() else {
            return Self::new(ErrorKind::Corrupt, "what is stored cannot be read").because(err);
        };
        let (kind, message) = meaning(failure.code, failure.extended_code);
        Self::new(kind, message).because(err)
    }
}

fn meaning(code: ErrorCode, extended: i32) -> (ErrorKind, &'static str) {
    // The second is where SQLite does not tell a full disk from a broken one.
    if code == ErrorCode::DiskFull || extended == SQLITE_IOERR_SHMSIZE {
        return (ErrorKind::Full, "the storage is full");
    }
    if matches!(
        code,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed
    ) {
        return (ErrorKind::Unavailable, "another process holds the storage for too long");
    }
    if matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) {
        return (ErrorKind::Corrupt, "what is stored cannot be read");
    }
    if matches!(code, ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) {
        return (ErrorKind::Io, "the storage may not be accessed");
    }
    (ErrorKind::Io, "the storage failed")
}
