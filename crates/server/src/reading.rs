//! The bytes of a file as an answer: whole, a part of them, or none because the client has them.

use std::convert::Infallible;
use std::mem;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use engine::{ByteStream, Content, Entry, Error, ErrorKind, Links, SandboxPath, Span, Workspace};
use futures::TryStreamExt as _;
use http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::browsers::ASK_AGAIN;
use crate::conditions::{Conditions, Verdict, allows_part, validators};
use crate::expectation::unmet;
use crate::problem::{Problem, logged};
use crate::ranges;

/// How many headers the answer to a read has, when everybody on the way has added his.
const ROOM: usize = 16;

/// The headers of a request for bytes. They are taken, since a copy costs more than it may; whoever
/// asks for them is the last to.
#[derive(Debug)]
pub(crate) struct Headers(pub(crate) HeaderMap);

impl<S: Sync> FromRequestParts<S> for Headers {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(mem::take(&mut parts.headers)))
    }
}

/// A request for the bytes of a file.
pub(crate) struct Asking<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) file: &'a SandboxPath,
    pub(crate) headers: &'a HeaderMap,
    /// The part that is wanted, if it is not all.
    pub(crate) part: Option<Span>,
}

impl Asking<'_> {
    /// The answer. It says that the bytes are bytes; a face may say more. Failures of the engine are
    /// told by `failed`.
    pub(crate) async fn answer(
        self,
        failed: impl Fn(Error) -> Problem,
    ) -> Result<Response, Problem> {
        let Self { workspace, file, headers, part } = self;
        let conditions = Conditions::read(headers)?;
        let judged = |entry: &Entry| match conditions.judge(entry) {
            Verdict::Proceed => Ok(None),
            Verdict::NotModified => Ok(Some(not_modified(entry))),
            Verdict::Failed => Err(failed(unmet().on(file))),
        };
        if let Some(span) = part {
            match workspace.read(file, span).await {
                Err(err) if err.kind() == ErrorKind::RangeNotSatisfiable => {
                    let entry = workspace.stat(file, Links::Follow).await.map_err(&failed)?;
                    if let Some(response) = judged(&entry)? {
                        return Ok(response);
                    }
                    if allows_part(headers, &entry) {
                        return Err(with_size(failed(err), entry.size));
                    }
                }
                content => {
                    let content = content.map_err(&failed)?;
                    if let Some(response) = judged(&content.entry)? {
                        return Ok(response);
                    }
                    if allows_part(headers, &content.entry) {
                        return Ok(partial(content));
                    }
                }
            }
        }
        let content = workspace.read(file, Span::Whole).await.map_err(&failed)?;
        Ok(judged(&content.entry)?.unwrap_or_else(|| whole(content)))
    }
}

fn not_modified(entry: &Entry) -> Response {
    (StatusCode::NOT_MODIFIED, ASK_AGAIN, AppendHeaders(validators(entry))).into_response()
}

fn with_size(problem: Problem, size: u64) -> Problem {
    match ranges::unsatisfied(size) {
        Some(value) => problem.header(CONTENT_RANGE, value),
        None => problem,
    }
}

fn whole(content: Content) -> Response {
    content_headers(content).into_response()
}

fn partial(content: Content) -> Response {
    let range = ranges::content_range(&content.range, content.entry.size);
    let range = range.map(|range| (CONTENT_RANGE, range));
    (StatusCode::PARTIAL_CONTENT, AppendHeaders(range), content_headers(content)).into_response()
}

fn content_headers(content: Content) -> Response {
    let length = content.range.end.saturating_sub(content.range.start);
    let told = [
        (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (CONTENT_LENGTH, HeaderValue::from(length)),
        (ACCEPT_RANGES, HeaderValue::from_static("bytes")),
    ];
    let mut headers = HeaderMap::with_capacity(ROOM);
    headers.extend(told.into_iter().chain(ASK_AGAIN).chain(validators(&content.entry)));
    let mut response = Response::new(outgoing(content.body, content.entry.path));
    *response.headers_mut() = headers;
    response
}

/// A body whose failure breaks the answer off and is logged.
pub(crate) fn outgoing(body: ByteStream, path: SandboxPath) -> Body {
    Body::from_stream(body.map_err(move |err| logged(err, &path)))
}
