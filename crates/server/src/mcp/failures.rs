//! What went wrong, in the codes of the protocol.
//!
//! A tool that fails is a result, which a model reads and acts on. These are for the programs around
//! it: resources that are not there, requests that cannot be meant.

use ::tools::hint;
use engine::{Error, ErrorKind, Sandbox};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

/// The error that a failure of the engine is.
pub(super) fn error(err: &Error, sandbox: &Sandbox) -> ErrorData {
    let path = err.path().map(|path| sandbox.outward(path));
    let message = match &path {
        Some(path) => format!("{}: {path}", err.message()),
        None => err.message().to_owned(),
    };
    let kind = err.kind();
    let data = json!({"kind": kind.word(), "path": path, "hint": hint(kind)});
    ErrorData::new(code(kind), message, Some(data))
}

/// The code of a kind of failure.
pub(super) fn code(kind: ErrorKind) -> ErrorCode {
    match kind {
        ErrorKind::NotFound | ErrorKind::SandboxNotFound | ErrorKind::SessionNotFound => {
            ErrorCode::RESOURCE_NOT_FOUND
        }
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::NotAFile
        | ErrorKind::AlreadyExists
        | ErrorKind::DirectoryNotEmpty
        | ErrorKind::InvalidPath
        | ErrorKind::InvalidArgument
        | ErrorKind::OutsideSandbox
        | ErrorKind::TooManyLinks
        | ErrorKind::FileTooLarge
        | ErrorKind::RangeNotSatisfiable
        | ErrorKind::PreconditionFailed
        | ErrorKind::BadArchive
        | ErrorKind::LimitExceeded
        | ErrorKind::Unsupported
        | ErrorKind::SessionExists => ErrorCode::INVALID_PARAMS,
        ErrorKind::PermissionDenied
        | ErrorKind::Forbidden
        | ErrorKind::ReadOnly
        | ErrorKind::StorageFull
        | ErrorKind::TooManyNodes
        | ErrorKind::BrokenBody => ErrorCode::INVALID_REQUEST,
        ErrorKind::Busy
        | ErrorKind::Locked
        | ErrorKind::Timeout
        | ErrorKind::Unavailable
        | ErrorKind::SandboxUnavailable
        | ErrorKind::InDoubt
        | ErrorKind::Io => ErrorCode::INTERNAL_ERROR,
    }
}

/// The error of a request that was cancelled. Nobody waits for it.
pub(super) fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}
