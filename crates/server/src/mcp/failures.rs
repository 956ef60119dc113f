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

/// What `contract/errors.md` says of these codes.
#[cfg(test)]
pub(crate) fn table() -> String {
    use std::fmt::Write as _;

    let mut text = String::from(
        "\n## /mcp\n\nOver HTTP as `/v1/fs`, and beyond that `session_not_found` (404), `not_acceptable` (406), \
         `method_not_allowed` (405) and `too_many_requests` (429). A tool that fails is a result with \
         `isError`, in the words of `/v1/tools`. A resource that fails is an error of JSON-RPC with the \
         code below, and `kind`, `path` and `hint` in its `data`; to clients of 2026-07-28, -32002 is \
         -32602. What is no JSON is -32700, what is no message -32600, a method that is not there \
         -32601, a tool that is not there -32602.\n\n| kind | code | hint |\n|---|---|---|\n",
    );
    for kind in ErrorKind::ALL {
        writeln!(text, "| `{}` | {} | {} |", kind.word(), code(kind).0, hint(kind)).unwrap();
    }
    text
}
