//! What can go wrong with a store.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;

/// The result of a storage operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed operation: what kind, and words that an operator understands.
///
/// The message names no path of the host; the cause is for the log alone. An operation that
/// changes something and fails may have changed it or not, unless its kind says that it cannot
/// have begun ([`InvalidUrl`](ErrorKind::InvalidUrl), [`InvalidKey`](ErrorKind::InvalidKey),
/// [`InvalidObject`](ErrorKind::InvalidObject)).
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
    // Shared, because writes that go to the disk together fail together.
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The URL names no store that could be opened.
    InvalidUrl,
    /// The key cannot name a ref.
    InvalidKey,
    /// The bytes are no sealed object, or more than one may hold.
    InvalidObject,
    /// Another process, or this one, has the store open.
    InUse,
    /// What is stored is not what was written.
    Corrupt,
    /// The store cannot be reached or written for now.
    Unavailable,
    /// There is no room left.
    Full,
    /// The store does not keep a promise on which every write relies.
    Unsafe,
    /// Anything else that the machine could not do.
    Io,
}

impl Error {
    /// An error with words that an operator understands: lower case, no full stop, no host path.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same error with its cause, for the log.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into().into());
        self
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl Error {
    /// What a failure of the operating system means for the storage.
    pub(crate) fn of_io(kind: io::ErrorKind) -> Self {
        if matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return Self::new(ErrorKind::Full, "the storage is full");
        }
        if kind == io::ErrorKind::PermissionDenied {
            return Self::new(ErrorKind::Io, "the storage may not be accessed");
        }
        Self::new(ErrorKind::Io, "the storage failed")
    }
}

impl From<io::Error> for Error {
    fn from(err: io::Error) -> Self {
        Self::of_io(err.kind()).because(err)
    }
}
