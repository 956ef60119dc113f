//! What each kind of failure is called here. `contract/errors.md` is this table.

use std::collections::BTreeMap;

use axum::response::{IntoResponse as _, Response};
use engine::{Error, ErrorKind, SandboxPath};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::problem::{Class, Problem, Told, log_fault, render};

/// What went wrong.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(crate) struct Refusal {
    /// What went wrong, in words.
    #[schema(example = "path not found: notes/today.txt")]
    pub(crate) error: String,
    /// A stable word for programs to match on.
    #[schema(example = "not_found")]
    pub(crate) kind: String,
    /// The path that it went wrong at, with which `error` ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "notes/today.txt")]
    pub(crate) path: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) hint: Option<String>,
}

/// What a request wanted, where that decides what a failure is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::faces) enum Asked {
    /// To see what is at one path.
    Look,
    /// Anything else.
    Any,
}

/// The problem that a failure is.
pub(in crate::faces) fn explain(err: &Error) -> Problem {
    explain_asked(err, Asked::Any)
}

/// The problem that a failure of somebody is who only wanted to look.
pub(super) fn explain_look(err: &Error) -> Problem {
    explain_asked(err, Asked::Look)
}

fn explain_asked(err: &Error, asked: Asked) -> Problem {
    log_fault(err);
    let kind = err.kind();
    let path = err.path().map(shown);
    let message = match path {
        Some(path) => format!("{}: {path}", err.message()),
        None => err.message().to_owned(),
    };
    let problem = Problem::plain(status(kind, asked), Class::INVALID_REQUEST, message);
    let mut problem = problem.kind(kind.word()).hint(hint(kind));
    if let Some(path) = path {
        problem = problem.path(path);
    }
    // Whoever repeats by himself what may have happened might do it twice.
    if status(kind, asked) == StatusCode::SERVICE_UNAVAILABLE && kind != ErrorKind::InDoubt {
        return problem.header(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    problem
}

/// A path as it is written here: relative to the root of the sandbox.
pub(super) fn shown(path: &SandboxPath) -> &str {
    match path.as_str().trim_start_matches('/') {
        "" => ".",
        rest => rest,
    }
}

/// The status of every kind.
pub(in crate::faces) fn status(kind: ErrorKind, asked: Asked) -> StatusCode {
    use StatusCode as S;
    match kind {
        ErrorKind::NotFound | ErrorKind::SandboxNotFound | ErrorKind::SessionNotFound => {
            S::NOT_FOUND
        }
        ErrorKind::NotADirectory | ErrorKind::IsADirectory => match asked {
            Asked::Look => S::BAD_REQUEST,
            Asked::Any => S::CONFLICT,
        },
        // What this kind of sandbox cannot do, another one can: it is no fault of the server.
        ErrorKind::AlreadyExists
        | ErrorKind::DirectoryNotEmpty
        | ErrorKind::SessionExists
        | ErrorKind::Unsupported => S::CONFLICT,
        ErrorKind::NotAFile
        | ErrorKind::InvalidPath
        | ErrorKind::InvalidArgument
        | ErrorKind::TooManyLinks
        | ErrorKind::BadArchive
        | ErrorKind::LimitExceeded
        | ErrorKind::BrokenBody => S::BAD_REQUEST,
        ErrorKind::OutsideSandbox
        | ErrorKind::PermissionDenied
        | ErrorKind::ReadOnly
        | ErrorKind::Forbidden => S::FORBIDDEN,
        ErrorKind::FileTooLarge => S::PAYLOAD_TOO_LARGE,
        ErrorKind::StorageFull | ErrorKind::TooManyNodes => S::INSUFFICIENT_STORAGE,
        ErrorKind::PreconditionFailed => S::PRECONDITION_FAILED,
        ErrorKind::RangeNotSatisfiable => S::RANGE_NOT_SATISFIABLE,
        ErrorKind::Busy
        | ErrorKind::Unavailable
        | ErrorKind::SandboxUnavailable
        | ErrorKind::InDoubt => S::SERVICE_UNAVAILABLE,
        ErrorKind::Locked => S::LOCKED,
        ErrorKind::Timeout => S::GATEWAY_TIMEOUT,
        ErrorKind::Io => S::INTERNAL_SERVER_ERROR,
    }
}

/// What the client can do next.
fn hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "list the parent directory to see what is there",
        ErrorKind::NotADirectory => "choose a path whose parents are directories",
        ErrorKind::IsADirectory => "name a file, or list the directory with fs-list",
        ErrorKind::NotAFile => "only regular files can be read and written",
        ErrorKind::AlreadyExists => "choose another name, or allow what is there to be replaced",
        ErrorKind::DirectoryNotEmpty => "remove what is in it first, or all of it at once",
        ErrorKind::InvalidPath => {
            "a name has at most 255 bytes, a path at most 4096, and neither holds a NUL"
        }
        ErrorKind::InvalidArgument => "change the request; sending it again will not help",
        ErrorKind::OutsideSandbox => "use a path inside the sandbox, without `..`",
        ErrorKind::PermissionDenied => "the server's user may not do this; change the permissions",
        ErrorKind::Forbidden => "ask with a key whose role allows it",
        ErrorKind::ReadOnly => "snapshots and read-only file systems cannot be changed",
        ErrorKind::TooManyLinks => "remove the links that lead to each other",
        ErrorKind::FileTooLarge => "send a smaller file, or raise the sandbox's limit `file_size`",
        ErrorKind::StorageFull => "remove something first, or raise the limit `total_size`",
        ErrorKind::TooManyNodes => "remove something first, or raise the limit `nodes`",
        ErrorKind::PreconditionFailed => "read the file again and decide anew",
        ErrorKind::RangeNotSatisfiable => "the header content-range says how long the file is",
        ErrorKind::Busy => "try again in a second",
        ErrorKind::Locked => "another process holds the file; try again when it let go",
        ErrorKind::BadArchive => "send a whole archive of files and directories",
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

/// An answer that is a problem, in the words of this face.
pub(super) fn in_our_words(response: Response) -> Response {
    let Some(Told { message, kind, path, hint, .. }) = response.extensions().get::<Told>().cloned()
    else {
        return response;
    };
    let (mut parts, _) = response.into_parts();
    let kind = kind.unwrap_or_else(|| "invalid_argument".to_owned());
    let error = match parts.status {
        StatusCode::UNAUTHORIZED => "auth: unauthorized".to_owned(),
        // Told before this face saw the request, and by it: the words are the same.
        _ if kind == ErrorKind::SandboxNotFound.word() => "sandbox: not found".to_owned(),
        _ => message,
    };
    let body = render(&Refusal { error, kind, path, hint });
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    (parts, body).into_response()
}

/// The refusals of every route, for the description of the interface.
pub(super) struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        REFUSALS.references()
    }
}

/// What the description keeps of the refusals, once for all routes.
pub(in crate::faces) fn refusal_components() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
    REFUSALS.components(&Refusal::name())
}

const REFUSALS: Described = Described { component: "Refusal", called: "refusal" };

/// How failures stand in the description: once for each status, and by name at every route.
pub(in crate::faces) struct Described {
    /// How the names of the components begin.
    pub(in crate::faces) component: &'static str,
    /// What a failure is called there.
    pub(in crate::faces) called: &'static str,
}

impl Described {
    /// The name of each status, for one route.
    pub(in crate::faces) fn references(
        &self,
    ) -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let named = described().into_keys().map(|status| {
            let reference = RefOr::Ref(Ref::from_response_name(self.name(status)));
            (status.as_str().to_owned(), reference)
        });
        named.collect()
    }

    /// What those names stand for: bodies of this schema.
    pub(in crate::faces) fn components(
        &self,
        schema: &str,
    ) -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let response = |kinds: &[&str]| {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema)));
            ResponseBuilder::new()
                .description(format!("A {} of kind {}", self.called, kinds.join(", ")))
                .content("application/json", content.build())
                .build()
        };
        let described = described().into_iter();
        described.map(|(status, kinds)| (self.name(status), RefOr::T(response(&kinds)))).collect()
    }

    fn name(&self, status: StatusCode) -> String {
        format!("{}{}", self.component, status.as_str())
    }
}

/// The kinds of every status.
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
        for asked in [Asked::Any, Asked::Look] {
            let words = kinds.entry(status(kind, asked)).or_default();
            if !words.contains(&kind.word()) {
                words.push(kind.word());
            }
        }
    }
    kinds
}

#[cfg(test)]
pub(in crate::faces) mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// This face's part of the table as it is committed.
    pub(in crate::faces) fn table() -> String {
        let mut text = String::from(
            "\n## /v1/sandboxes\n\nEvery failed request is answered with `error`, `kind` and \
             `hint` as `application/json`, and with `path` where one is to blame. A directory in place of a file, or a file in place of a \
             directory, is 400 for whoever only looks and 409 for whoever changes something. A \
             removal of what is not there is a success.\n\n\
             | kind | status | hint |\n|---|---|---|\n",
        );
        for kind in ErrorKind::ALL {
            let (code, word) = (status(kind, Asked::Any).as_u16(), kind.word());
            writeln!(text, "| `{word}` | {code} | {} |", hint(kind)).unwrap();
        }
        text
    }
}
