//! Failures before and beside the tools, in the words of a tool's result.

use std::collections::BTreeMap;
use std::time::Instant;

use axum::response::{IntoResponse as _, Response};
use engine::ErrorKind;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, StatusCode, Uri};
use tools::{Metadata, ToolResult};
use utoipa::openapi::RefOr;
use utoipa::{IntoResponses, ToSchema as _};

use super::PREFIX;
use super::naming::spelled_in;
use super::wire::ToolAnswer;
use crate::faces::sandboxes_v1::Described;
use crate::faces::spelled;
use crate::problem::{Told, render};

/// A request for something of this face.
#[derive(Debug)]
pub(crate) struct Asked {
    tool: String,
    since: Instant,
}

impl Asked {
    /// What an address asks for, if it is one of this face or pretends to be.
    pub(in crate::faces) fn of(uri: &Uri) -> Option<Self> {
        let rest = uri.path().strip_prefix(PREFIX)?;
        if !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        let name = spelled_in(uri).as_deref().and_then(spelled).unwrap_or_default();
        Some(Self { tool: name.to_string(), since: Instant::now() })
    }

    /// An answer, with failures in the words of this face.
    pub(in crate::faces) fn in_our_words(self, response: Response) -> Response {
        let told = response.extensions().get::<Told>().cloned();
        let told = match told {
            Some(told) => told,
            None if response.status() == StatusCode::METHOD_NOT_ALLOWED => wrong_method(),
            None => return response,
        };
        let (mut parts, _) = response.into_parts();
        let body = render(&self.result(told));
        parts.headers.remove(CONTENT_LENGTH);
        parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        (parts, body).into_response()
    }

    fn result(self, told: Told) -> ToolResult {
        let Self { tool, since } = self;
        let retryable = told.is_kind("too_many_requests")
            || told.kind().is_some_and(|kind| {
                matches!(
                    kind,
                    ErrorKind::Busy
                        | ErrorKind::Timeout
                        | ErrorKind::Unavailable
                        | ErrorKind::SandboxUnavailable
                )
            });
        let Told { reason, kind, path, hint, .. } = told;
        let said = match &path {
            Some(path) => format!("{reason}: {path}"),
            None => reason,
        };
        let error = match &hint {
            Some(hint) => format!("{said} ({hint})"),
            None => said,
        };
        let metadata = Metadata {
            tool,
            duration_ms: since.elapsed().as_secs_f64() * 1000.0,
            kind: Some(kind.unwrap_or_else(|| ErrorKind::InvalidArgument.word().to_owned())),
            path,
            hint,
            retryable: Some(retryable),
            ..Metadata::default()
        };
        let text = error.clone();
        ToolResult { success: false, data: None, error: Some(error), metadata, text, kind: None }
    }
}

fn wrong_method() -> Told {
    let message = "the method is not allowed here";
    Told {
        message: message.to_owned(),
        reason: message.to_owned(),
        is_refusal: false,
        kind: Some("method_not_allowed".to_owned()),
        path: None,
        hint: Some("GET shows a tool or lists them, POST calls one".to_owned()),
    }
}

/// The failures of every route, for the description of the interface.
pub(super) struct Failures;

impl IntoResponses for Failures {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        FAILURES.references()
    }
}

/// What the description keeps of the failures, once for all routes.
pub(in crate::faces) fn failure_components() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
    FAILURES.components(&ToolAnswer::name())
}

const FAILURES: Described = Described { component: "ToolFailure", called: "failure" };

#[cfg(test)]
pub(in crate::faces) mod tests {
    use std::fmt::Write as _;

    use crate::faces::sandboxes_v1::{Asked, status};

    use super::*;

    /// This face's part of the table as it is committed.
    pub(in crate::faces) fn table() -> String {
        let mut text = String::from(
            "\n## /v1/tools\n\nEvery failed request is answered as a tool that fails: `success` is \
             false, `data` null, `error` the words with the hint, and `metadata` has `kind`, `hint`, \
             `retryable`, and `path` where one is to blame. The statuses are those of \
             `/v1/sandboxes`; where there are two, the first is for tools that only look. Beside \
             these: `tool_not_found` (404), `method_not_allowed` (405), `limit_exceeded` as 413 for \
             a body that is too long.\n\n| kind | status | hint |\n|---|---|---|\n",
        );
        for kind in ErrorKind::ALL {
            let (look, any) = (status(kind, Asked::Look), status(kind, Asked::Any));
            let code = match look == any {
                true => any.as_str().to_owned(),
                false => format!("{}, {}", look.as_str(), any.as_str()),
            };
            writeln!(text, "| `{}` | {code} | {} |", kind.word(), tools::hint(kind)).unwrap();
        }
        text
    }
}
