//! What can go wrong, in the sandbox's terms.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use crate::SandboxPath;

/// The result of an engine operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed operation: what kind, where, and words that a user understands.
///
/// The message never names a host path; the cause is for the log alone.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
    path: Option<Box<SandboxPath>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kinds of failure. Each face says what each means there, without a catch-all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Nothing is there.
    NotFound,
    /// A directory was needed.
    NotADirectory,
    /// A file was needed and a directory is there.
    IsADirectory,
    /// A FIFO, socket or device node, which is never opened.
    NotAFile,
    /// Something is there already.
    AlreadyExists,
    /// Only an empty directory goes without being told to remove all.
    DirectoryNotEmpty,
    /// The path cannot name anything here.
    InvalidPath,
    /// The request contradicts itself, such as a move into itself.
    InvalidArgument,
    /// The path leads out of the sandbox.
    OutsideSandbox,
    /// The operating system refuses.
    PermissionDenied,
    /// The caller's role does not allow it.
    Forbidden,
    /// The file system is mounted read-only.
    ReadOnly,
    /// Links lead to links without end.
    TooManyLinks,
    /// The file would be larger than one file may be.
    FileTooLarge,
    /// The sandbox or the disk has no room left.
    StorageFull,
    /// The sandbox may not hold more files and directories.
    TooManyNodes,
    /// The file is not in the state that the caller expected.
    PreconditionFailed,
    /// The range starts behind the end of the file.
    RangeNotSatisfiable,
    /// Something keeps changing beneath the operation; trying again helps.
    Busy,
    /// Another process holds the file.
    Locked,
    /// The archive is broken or hostile.
    BadArchive,
    /// The request asks for more than one request may.
    LimitExceeded,
    /// The bytes that the caller sends ended early.
    BrokenBody,
    /// The deadline passed.
    Timeout,
    /// This file system cannot do that.
    Unsupported,
    /// The sandbox's directory or store is gone for now.
    Unavailable,
    /// The container of the sandbox does not run; when it does again, so does the sandbox.
    SandboxUnavailable,
    /// The store or a server stopped answering: the change may have happened, or may yet.
    InDoubt,
    /// No sandbox has that id.
    SandboxNotFound,
    /// No session has that id.
    SessionNotFound,
    /// A session has that id already.
    SessionExists,
    /// Anything else the machine could not do.
    Io,
}

impl ErrorKind {
    /// Every kind, in the order of `contract/errors.md`.
    pub const ALL: [Self; 32] = [
        Self::NotFound,
        Self::NotADirectory,
        Self::IsADirectory,
        Self::NotAFile,
        Self::AlreadyExists,
        Self::DirectoryNotEmpty,
        Self::InvalidPath,
        Self::InvalidArgument,
        Self::OutsideSandbox,
        Self::PermissionDenied,
        Self::Forbidden,
        Self::ReadOnly,
        Self::TooManyLinks,
        Self::FileTooLarge,
        Self::StorageFull,
        Self::TooManyNodes,
        Self::PreconditionFailed,
        Self::RangeNotSatisfiable,
        Self::Busy,
        Self::Locked,
        Self::BadArchive,
        Self::LimitExceeded,
        Self::BrokenBody,
        Self::Timeout,
        Self::Unsupported,
        Self::Unavailable,
        Self::SandboxUnavailable,
        Self::InDoubt,
        Self::SandboxNotFound,
        Self::SessionNotFound,
        Self::SessionExists,
        Self::Io,
    ];

    /// The kind as a word of the wire, such as `not_found`.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotADirectory => "not_a_directory",
            Self::IsADirectory => "is_a_directory",
            Self::NotAFile => "not_a_file",
            Self::AlreadyExists => "already_exists",
            Self::DirectoryNotEmpty => "directory_not_empty",
            Self::InvalidPath => "invalid_path",
            Self::InvalidArgument => "invalid_argument",
            Self::OutsideSandbox => "outside_sandbox",
            Self::PermissionDenied => "permission_denied",
            Self::Forbidden => "forbidden",
            Self::ReadOnly => "read_only",
            Self::TooManyLinks => "too_many_links",
            Self::FileTooLarge => "file_too_large",
            Self::StorageFull => "storage_full",
            Self::TooManyNodes => "too_many_nodes",
            Self::PreconditionFailed => "precondition_failed",
            Self::RangeNotSatisfiable => "range_not_satisfiable",
            Self::Busy => "busy",
            Self::Locked => "locked",
            Self::BadArchive => "bad_archive",
            Self::LimitExceeded => "limit_exceeded",
            Self::BrokenBody => "broken_body",
            Self::Timeout => "timeout",
            Self::Unsupported => "unsupported",
            Self::Unavailable => "unavailable",
            Self::SandboxUnavailable => "sandbox_unavailable",
            Self::InDoubt => "in_doubt",
            Self::SandboxNotFound => "sandbox_not_found",
            Self::SessionNotFound => "session_not_found",
            Self::SessionExists => "session_exists",
            Self::Io => "io",
        }
    }

    /// The kind that a word of the wire names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl Error {
    /// An error with words that a user understands: lower case, no full stop, no host path.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), path: None, source: None }
    }

    /// The same error, at this path unless a closer one is known already.
    #[must_use]
    pub fn on(mut self, path: &SandboxPath) -> Self {
        self.path.get_or_insert_with(|| Box::new(path.clone()));
        self
    }

    /// The same error with its cause, for the log.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What went wrong, without the path.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where it went wrong.
    pub fn path(&self) -> Option<&SandboxPath> {
        self.path.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {path}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}
