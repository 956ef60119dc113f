//! What each kind of failure is called here. `contract/errors.md` is this table.

use std::collections::BTreeMap;

use engine::{Error, ErrorKind};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema as _};

use super::paths::Place;
use crate::problem::{Class, Problem, ProblemDetails, log_fault};
use crate::visit::Visit;

/// What a request wanted, where that decides what a failure is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The bytes of a file.
    Bytes,
    /// The entries of a directory.
    Listing,
    /// Something to be at another place.
    Destination,
    /// Many files as one archive.
    Archive,
    /// Anything else.
    Any,
}

/// The problem that a failure is, with paths as the client spelled them.
pub(super) fn explain(app: &Visit, err: &Error, asked: Asked, places: &[&Place]) -> Problem {
    spell(err, asked, spoken_path(app, err, places).as_deref())
}

/// The problem that a failure is, whatever was asked.
pub(in crate::faces) fn problem(err: &Error) -> Problem {
    spell(err, Asked::Any, None)
}

fn spell(err: &Error, asked: Asked, path: Option<&str>) -> Problem {
    log_fault(err);
    let kind = err.kind();
    let with_path = |words: &str| match path {
        Some(path) => format!("{words}: {path}"),
        None => words.to_owned(),
    };
    if let Some(phrase) = phrase(kind, asked) {
        return finish(Problem::invalid_request(&with_path(phrase)), kind);
    }
    let (status, class) = status(kind);
    let message = with_path(err.message());
    let problem = Problem::new(status, class, &message);
    if class == Class::INVALID_REQUEST {
        return finish(problem, kind);
    }
    finish(problem.message(&message), kind)
}

/// The problem of a session that is not there, or is there already.
pub(in crate::faces) fn session_problem(err: &Error, id: &str) -> Problem {
    let kind = err.kind();
    let (status, class) = status(kind);
    let about_session = matches!(kind, ErrorKind::SessionNotFound | ErrorKind::SessionExists);
    if about_session {
        return finish(Problem::plain(status, class, err.message()).session(id), kind);
    }
    if kind == ErrorKind::InvalidArgument {
        return finish(Problem::invalid_request(err.message()), kind);
    }
    finish(Problem::new(status, class, err.message()).message(err.message()), kind)
}

/// The status and the class of every kind.
fn status(kind: ErrorKind) -> (StatusCode, Class) {
    use StatusCode as S;
    match kind {
        ErrorKind::NotFound | ErrorKind::NotAFile | ErrorKind::OutsideSandbox => {
            (S::BAD_REQUEST, Class::INVALID_REQUEST)
        }
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::AlreadyExists
        | ErrorKind::DirectoryNotEmpty => (S::CONFLICT, Class::STREAM_ERROR),
        ErrorKind::InvalidPath
        | ErrorKind::InvalidArgument
        | ErrorKind::TooManyLinks
        | ErrorKind::BadArchive
        | ErrorKind::BrokenBody => (S::BAD_REQUEST, Class::STREAM_ERROR),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnly => (S::FORBIDDEN, Class::STREAM_ERROR),
        ErrorKind::Forbidden => (S::FORBIDDEN, Class::PERMISSION_DENIED),
        ErrorKind::FileTooLarge => (S::PAYLOAD_TOO_LARGE, Class::STREAM_ERROR),
        ErrorKind::StorageFull | ErrorKind::TooManyNodes => {
            (S::INSUFFICIENT_STORAGE, Class::STREAM_ERROR)
        }
        ErrorKind::PreconditionFailed => (S::PRECONDITION_FAILED, Class::STREAM_ERROR),
        ErrorKind::RangeNotSatisfiable => (S::RANGE_NOT_SATISFIABLE, Class::STREAM_ERROR),
        ErrorKind::Busy
        | ErrorKind::Unavailable
        | ErrorKind::SandboxUnavailable
        | ErrorKind::InDoubt => (S::SERVICE_UNAVAILABLE, Class::STREAM_ERROR),
        ErrorKind::Locked => (S::LOCKED, Class::STREAM_ERROR),
        ErrorKind::LimitExceeded => (S::BAD_REQUEST, Class::LIMIT_EXCEEDED),
        ErrorKind::Timeout => (S::GATEWAY_TIMEOUT, Class::TIMEOUT),
        ErrorKind::Unsupported => (S::NOT_IMPLEMENTED, Class::STREAM_ERROR),
        ErrorKind::SandboxNotFound => (S::NOT_FOUND, Class::NOT_FOUND),
        ErrorKind::SessionNotFound => (S::NOT_FOUND, Class::SESSION_NOT_FOUND),
        ErrorKind::SessionExists => (S::CONFLICT, Class::SESSION_EXISTS),
        ErrorKind::Io => (S::INTERNAL_SERVER_ERROR, Class::STREAM_ERROR),
    }
}

/// The words that clients match on. With them the problem is always a 400 `invalid_request`.
fn phrase(kind: ErrorKind, asked: Asked) -> Option<&'static str> {
    match (kind, asked) {
        (ErrorKind::NotFound, _) => Some("path not found"),
        (ErrorKind::NotADirectory, Asked::Listing) => Some("path is not a directory"),
        // Here the engine's own words say more.
        (ErrorKind::NotAFile, Asked::Archive) => None,
        (ErrorKind::IsADirectory, Asked::Bytes) | (ErrorKind::NotAFile, _) => {
            Some("path is not a file")
        }
        (ErrorKind::AlreadyExists, Asked::Destination) => Some("destination already exists"),
        _ => None,
    }
}

/// What the client can do next.
fn hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "list the parent directory to see what is there",
        ErrorKind::NotADirectory => "choose a path whose parents are directories",
        ErrorKind::IsADirectory => "name a file, or list the directory",
        ErrorKind::NotAFile => "only regular files can be read and written",
        ErrorKind::AlreadyExists => "choose another name, or allow what is there to be replaced",
        ErrorKind::DirectoryNotEmpty => "send `recursive=true` to remove everything in it",
        ErrorKind::InvalidPath => {
            "a name has at most 255 bytes, a path at most 4096, and neither holds a NUL"
        }
        ErrorKind::InvalidArgument => "change the request; sending it again will not help",
        ErrorKind::OutsideSandbox => "use a path inside the sandbox",
        ErrorKind::PermissionDenied => "the server's user may not do this; change the permissions",
        ErrorKind::Forbidden => "ask with a token whose role allows it",
        ErrorKind::ReadOnly => "the file system is mounted read-only",
        ErrorKind::TooManyLinks => "remove the links that lead to each other",
        ErrorKind::FileTooLarge => "send a smaller file, or raise --max-file-size",
        ErrorKind::StorageFull => "remove something first, or raise --max-total-size",
        ErrorKind::TooManyNodes => "remove something first, or raise --max-nodes",
        ErrorKind::PreconditionFailed => "read the file again and decide anew",
        ErrorKind::RangeNotSatisfiable => "the header content-range says how long the file is",
        ErrorKind::Busy => "try again in a second",
        ErrorKind::Locked => "another process holds the file; try again when it let go",
        ErrorKind::BadArchive => "send an uncompressed tar archive of files and directories",
        ErrorKind::LimitExceeded => "ask for less at once",
        ErrorKind::BrokenBody => "send the whole body again",
        ErrorKind::Timeout => "try again, or ask for less at once",
        ErrorKind::Unsupported => "this sandbox cannot do that",
        ErrorKind::Unavailable => "the sandbox is away for now; try again later",
        ErrorKind::SandboxUnavailable => {
            "start its container; the sandbox is there again when it runs"
        }
        ErrorKind::InDoubt => {
            "look before you repeat it; if-match and if-none-match make a write safe to repeat"
        }
        ErrorKind::SandboxNotFound => "GET /v1/sandboxes lists those that you may see",
        ErrorKind::SessionNotFound => "open it with POST /v1/sessions/{id}",
        ErrorKind::SessionExists => "use it as it is, or choose another id",
        ErrorKind::Io => "the server's log says more under this request's x-request-id",
    }
}

fn finish(problem: Problem, kind: ErrorKind) -> Problem {
    let problem = problem.kind(kind.word()).hint(hint(kind));
    // Whoever repeats by himself what may have happened might do it twice.
    if status(kind).0 == StatusCode::SERVICE_UNAVAILABLE && kind != ErrorKind::InDoubt {
        return problem.header(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    problem
}

/// The failing path as the client would spell it.
fn spoken_path(app: &Visit, err: &Error, places: &[&Place]) -> Option<String> {
    let path = err.path()?;
    if let Some(place) = places.iter().find(|place| place.path == *path) {
        return Some(place.shown.clone());
    }
    let above = places.iter().filter(|place| path.starts_with(&place.path));
    if let Some(place) = above.max_by_key(|place| place.path.depth()) {
        return path.strip(&place.path).map(|rest| place.shown_child(rest));
    }
    // What is missing is what was asked for, even if a parent is missing already.
    let beneath = places.iter().find(|place| place.path.starts_with(path));
    match beneath {
        Some(place) if err.kind() == ErrorKind::NotFound => Some(place.shown.clone()),
        Some(_) | None => Some(app.workspace.sandbox().outward(path)),
    }
}

/// The problems of every route, for the description of the interface.
pub(in crate::faces) struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let named = described().into_keys().map(|status| {
            let reference = RefOr::Ref(Ref::from_response_name(component(status)));
            (status.as_str().to_owned(), reference)
        });
        named.collect()
    }
}

/// What the description keeps of the problems, once for all routes.
pub(in crate::faces) fn problem_components() -> BTreeMap<String, RefOr<Response>> {
    let components = described()
        .into_iter()
        .map(|(status, kinds)| (component(status), RefOr::T(problem_response(&kinds.join(", ")))));
    components.collect()
}

fn described() -> BTreeMap<StatusCode, Vec<&'static str>> {
    let mut kinds: BTreeMap<StatusCode, Vec<&str>> = BTreeMap::new();
    for (status, kind) in [
        (StatusCode::UNAUTHORIZED, "token_invalid"),
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported"),
        (StatusCode::UNPROCESSABLE_ENTITY, "invalid_argument"),
        (StatusCode::TOO_MANY_REQUESTS, "too_many_requests"),
    ] {
        kinds.entry(status).or_default().push(kind);
    }
    for kind in ErrorKind::ALL {
        kinds.entry(status(kind).0).or_default().push(kind.word());
    }
    kinds
}

fn component(status: StatusCode) -> String {
    format!("Problem{}", status.as_str())
}

fn problem_response(kinds: &str) -> Response {
    let schema = Ref::from_schema_name(ProblemDetails::name());
    ResponseBuilder::new()
        .description(format!("A problem of kind {kinds}"))
        .content("application/problem+json", ContentBuilder::new().schema(Some(schema)).build())
        .build()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const HEAD: &str = "\
# What each kind of failure means on the wire

Where nothing else is said, a failed request is answered with problem details (RFC 9457, `application/problem+json`): \
`type`, `title`, `status`, `detail`, then `details.message` or `sessionId`, then `kind` and \
`hint`. The type is `urn:sandbox-agent:error:` and the word below. Programs match on `kind`.

Four phrases are answered with 400 `invalid_request` whatever the table says, because clients \
match on them: `path not found` (always), `path is not a directory` (of a listing), `path is not \
a file` (of a read, and of a FIFO, socket or device) and `destination already exists` (of a move \
or copy).

A test of the server asserts this table.

## /v1/fs

| kind | status | type | title | hint |
|---|---|---|---|---|
";

    /// The table as it is committed.
    fn table() -> String {
        let mut text = String::from(HEAD);
        for kind in ErrorKind::ALL {
            let (status, class) = status(kind);
            let code = status.as_u16();
            let (word, Class { word: suffix, title }) = (kind.word(), class);
            writeln!(text, "| `{word}` | {code} | `{suffix}` | {title} | {} |", hint(kind))
                .unwrap();
        }
        text + &crate::faces::sandboxes_v1::table()
            + &crate::faces::acp::table()
            + &crate::faces::tools::table()
            + &crate::mcp::table()
    }

    #[test]
    fn the_committed_table_says_what_the_code_does() {
        let committed = include_str!("../../../../../contract/errors.md");
        assert!(committed == table(), "contract/errors.md should be:\n{}", table());
    }

    #[test]
    fn the_phrases_that_clients_match_on_are_kept() {
        assert_eq!(phrase(ErrorKind::NotFound, Asked::Any), Some("path not found"));
        assert_eq!(phrase(ErrorKind::IsADirectory, Asked::Bytes), Some("path is not a file"));
        assert_eq!(phrase(ErrorKind::IsADirectory, Asked::Any), None);
        assert_eq!(
            phrase(ErrorKind::AlreadyExists, Asked::Destination),
            Some("destination already exists")
        );
    }
}
