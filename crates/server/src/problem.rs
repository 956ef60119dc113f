//! Errors as clients see them: problem details (RFC 9457) with a kind and a hint.

use std::borrow::Cow;
use std::error::Error as _;

use axum::response::{IntoResponse, Response};
use engine::{Error, ErrorKind, SandboxPath};
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong, in the field order of the wire.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProblemDetails {
    /// Which problem this is: `urn:sandbox-agent:error:` and a word.
    #[schema(example = "urn:sandbox-agent:error:invalid_request")]
    pub(crate) r#type: String,
    /// The problem in a few words.
    #[schema(example = "Invalid Request")]
    pub(crate) title: String,
    /// The HTTP status.
    #[schema(example = 400)]
    pub(crate) status: u16,
    /// What went wrong here.
    #[schema(example = "invalid request: path not found: /home/user/notes.txt")]
    pub(crate) detail: String,
    /// The message alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) details: Option<ProblemMessage>,
    /// The session that the problem is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) session_id: Option<String>,
    /// The agent that the problem is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "mock")]
    pub(crate) agent: Option<String>,
    /// The limit that was exceeded, by the name of its parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "maxBytes")]
    pub(crate) limit: Option<String>,
    /// What the limit is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) max: Option<u64>,
    /// A stable word for programs to match on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "not_found")]
    pub(crate) kind: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) hint: Option<String>,
}

/// The message of a problem.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(crate) struct ProblemMessage {
    /// What went wrong.
    pub(crate) message: String,
}

/// The class of a problem: the word of its type and its title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) word: &'static str,
    pub(crate) title: &'static str,
}

impl Class {
    pub(crate) const INVALID_REQUEST: Self = Self::new("invalid_request", "Invalid Request");
    pub(crate) const NOT_FOUND: Self = Self::new("invalid_request", "Not Found");
    pub(crate) const STREAM_ERROR: Self = Self::new("stream_error", "Stream Error");
    pub(crate) const LIMIT_EXCEEDED: Self = Self::new("limit_exceeded", "Limit Exceeded");
    pub(crate) const PERMISSION_DENIED: Self = Self::new("permission_denied", "Permission Denied");
    pub(crate) const TIMEOUT: Self = Self::new("timeout", "Timeout");
    pub(crate) const TOKEN_INVALID: Self = Self::new("token_invalid", "Token Invalid");
    pub(crate) const SESSION_NOT_FOUND: Self = Self::new("session_not_found", "Session Not Found");
    pub(crate) const SESSION_EXISTS: Self =
        Self::new("session_already_exists", "Session Already Exists");
    pub(crate) const CLIENT_NOT_FOUND: Self = Self::new("client_not_found", "ACP client not found");
    pub(crate) const CONFLICT: Self = Self::new("conflict", "Conflict");
    pub(crate) const NOT_ACCEPTABLE: Self = Self::new("not_acceptable", "Not Acceptable");
    pub(crate) const UNSUPPORTED_AGENT: Self = Self::new("unsupported_agent", "Unsupported Agent");
    pub(crate) const AGENT_NOT_INSTALLED: Self =
        Self::new("agent_not_installed", "Agent Not Installed");
    pub(crate) const MEDIA_TYPE: Self =
        Self::new("unsupported_media_type", "Unsupported Media Type");

    const fn new(word: &'static str, title: &'static str) -> Self {
        Self { word, title }
    }

    /// The type as words, as they begin a detail.
    fn words(self) -> String {
        self.word.replace('_', " ")
    }
}

/// An answer that says what went wrong.
#[derive(Debug)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug)]
struct Parts {
    status: StatusCode,
    details: ProblemDetails,
    headers: HeaderMap,
    message: String,
    path: Option<String>,
    is_refusal: bool,
}

/// What an answer says that is a problem, for faces that say it in other words.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) message: String,
    /// Why, without the path.
    pub(crate) reason: String,
    /// Whether somebody asked for what he may not.
    pub(crate) is_refusal: bool,
    pub(crate) kind: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) hint: Option<String>,
}

impl Problem {
    /// A problem whose detail stands as it is.
    pub(crate) fn plain(status: StatusCode, class: Class, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let message = detail.clone();
        let details = ProblemDetails {
            r#type: format!("urn:sandbox-agent:error:{}", class.word),
            title: class.title.to_owned(),
            status: status.as_u16(),
            detail,
            details: None,
            session_id: None,
            agent: None,
            limit: None,
            max: None,
            kind: None,
            hint: None,
        };
        let headers = HeaderMap::new();
        Self(Box::new(Parts { status, details, headers, message, path: None, is_refusal: false }))
    }

    /// A problem whose detail begins with the words of its type.
    pub(crate) fn new(status: StatusCode, class: Class, message: &str) -> Self {
        let mut problem = Self::plain(status, class, format!("{}: {message}", class.words()));
        message.clone_into(&mut problem.0.message);
        problem
    }

    /// A request that cannot be meant.
    pub(crate) fn invalid_request(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Class::INVALID_REQUEST, message).kind("invalid_argument")
    }

    /// A request that could not be read; the detail stands as it is.
    pub(crate) fn unreadable(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::plain(status, Class::INVALID_REQUEST, detail).kind("invalid_argument")
    }

    pub(crate) fn kind(mut self, word: &str) -> Self {
        self.0.details.kind = Some(word.to_owned());
        self
    }

    /// Says that somebody asked for what he may not, where the kind does not say it.
    pub(crate) fn refusal(mut self) -> Self {
        self.0.is_refusal = true;
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.details.hint = Some(hint.into().into_owned());
        self
    }

    /// Tells the path apart from the message, for faces that do.
    pub(crate) fn path(mut self, path: &str) -> Self {
        self.0.path = Some(path.to_owned());
        self
    }

    /// Repeats the message where programs look for it.
    pub(crate) fn message(mut self, message: &str) -> Self {
        self.0.details.details = Some(ProblemMessage { message: message.to_owned() });
        self
    }

    pub(crate) fn session(mut self, id: &str) -> Self {
        self.0.details.session_id = Some(id.to_owned());
        self
    }

    pub(crate) fn agent(mut self, agent: &str) -> Self {
        self.0.details.agent = Some(agent.to_owned());
        self
    }

    pub(crate) fn limit(mut self, limit: &str, most: u64) -> Self {
        self.0.details.limit = Some(limit.to_owned());
        self.0.details.max = Some(most);
        self
    }

    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.insert(name, value);
        self
    }
}

impl Problem {
    /// The body of the answer.
    pub(crate) fn details(&self) -> &ProblemDetails {
        &self.0.details
    }

    /// What it says, for those who say it in other words.
    pub(crate) fn told(&self) -> Told {
        let Parts { details, message, path, is_refusal, .. } = &*self.0;
        let ProblemDetails { kind, hint, details, .. } = details;
        let spoken = details.as_ref().map_or(message, |details| &details.message);
        let reason = match path {
            Some(path) => spoken.trim_end_matches(&format!(": {path}")),
            None => spoken,
        };
        Told {
            message: message.clone(),
            reason: reason.to_owned(),
            is_refusal: *is_refusal || kind.as_deref().is_some_and(is_refused),
            kind: kind.clone(),
            path: path.clone(),
            hint: hint.clone(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let told = self.told();
        let Parts { status, details, mut headers, .. } = *self.0;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        let mut response = (status, headers, render(&details)).into_response();
        response.extensions_mut().insert(told);
        response
    }
}

impl Told {
    pub(crate) fn is_kind(&self, word: &str) -> bool {
        self.kind.as_deref() == Some(word)
    }

    /// The kind, if it is one of the engine's.
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        self.kind.as_deref().and_then(ErrorKind::from_word)
    }
}

/// Whether a kind says that somebody asked for what he may not.
fn is_refused(kind: &str) -> bool {
    let of_gate = ["token_invalid", "too_many_requests"];
    let of_engine = [ErrorKind::Forbidden, ErrorKind::OutsideSandbox, ErrorKind::PermissionDenied];
    of_gate.contains(&kind) || of_engine.iter().any(|refused| refused.word() == kind)
}

/// Compact JSON. The types of the wire have no maps with odd keys, so that this cannot fail.
pub(crate) fn render<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Faults of the server are logged once, here, with the cause that the client is not told.
pub(crate) fn log_fault(err: &Error) {
    let kind = err.kind().word();
    // Clients choose names: `?` spells the line feeds and escapes that would forge a log.
    let (error, path) = (err.message(), err.path().map(tracing::field::debug));
    let source = || err.source().map(ToString::to_string);
    if matches!(err.kind(), ErrorKind::Io | ErrorKind::Unavailable | ErrorKind::InDoubt) {
        tracing::error!(kind, ?error, path, source = ?source(), "operation failed");
    } else {
        tracing::debug!(kind, ?error, path, source = ?source(), "operation refused");
    }
}

/// A failure in the middle of an answer, which has no other way to be told.
pub(crate) fn logged(err: Error, path: &SandboxPath) -> Error {
    let err = err.on(path);
    log_fault(&err);
    err
}
