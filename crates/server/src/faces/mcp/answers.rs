//! Answers of the SDK, in the words of the server where they are refusals.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::StreamExt as _;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt as _, BodyStream, Collected, Limited, StreamBody};
use serde_json::json;

use super::desk::Answer;
use super::owners::{InUse, unknown};
use crate::pace::Pace;
use crate::problem::{Class, Problem};

/// How much of a refusal is read.
const LONGEST: usize = 64 * 1024;

/// The answer as the client gets it. What the SDK refuses with a line of text is a problem here.
pub(super) async fn spoken(answer: Answer) -> Result<Answer, Problem> {
    let status = answer.status();
    let is_json = answer
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if status.is_success() || is_json {
        return Ok(answer);
    }
    let (parts, body) = answer.into_parts();
    let text = Limited::new(body, LONGEST).collect().await.map(Collected::to_bytes);
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    // It says what it is in front of what it means.
    let text = text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest);
    match status {
        // Whatever else could be a reason is checked before.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Ok(unread("it is none")),
        StatusCode::NOT_FOUND => Err(unknown()),
        StatusCode::METHOD_NOT_ALLOWED => Err(not_allowed(&parts.headers)),
        status if status.is_client_error() => {
            Err(Problem::plain(status, Class::INVALID_REQUEST, text)
                .kind("invalid_argument")
                .hint("docs/guides/mcp.md shows what clients send"))
        }
        _ => Err(ended()),
    }
}

/// The problem of a session that went while it was asked.
pub(super) fn ended() -> Problem {
    let message = "the session ended while it was asked";
    Problem::plain(StatusCode::SERVICE_UNAVAILABLE, Class::STREAM_ERROR, message)
        .kind("unavailable")
        .hint("begin another session")
        .header(http::header::RETRY_AFTER, HeaderValue::from_static("1"))
}

/// The answer to what is no message.
pub(super) fn unread(why: &str) -> Answer {
    let message = format!("the body is not one message of JSON-RPC 2.0: {why}");
    let error =
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": message}});
    let body = http_body_util::Full::new(Bytes::from(error.to_string())).boxed();
    let mut answer = http::Response::new(body);
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn not_allowed(headers: &HeaderMap) -> Problem {
    let message = "the protocol of 2026-07-28 is spoken by POST alone";
    let allowed = headers.get(ALLOW).cloned().unwrap_or(HeaderValue::from_static("POST"));
    Problem::plain(StatusCode::METHOD_NOT_ALLOWED, Class::INVALID_REQUEST, message)
        .kind("method_not_allowed")
        .hint("send subscriptions/listen by POST to be told what changes")
        .header(ALLOW, allowed)
}

/// The answer, whose body ends when its client has gone: by that the SDK notices it.
pub(super) fn sent(answer: Answer, in_use: Option<InUse>, pace: Option<Arc<Pace>>) -> Response {
    let answer = answer.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _held = &in_use;
            frame
        }))
    });
    ending_with(departure(pace), answer)
}

/// The same answer, whose body ends with something else.
pub(super) fn ending_with(
    end: impl Future<Output = ()> + Send + 'static,
    response: Response,
) -> Response {
    response.map(|body| {
        let frames = BodyStream::new(body).take_until(Box::pin(end));
        Body::new(StreamBody::new(frames))
    })
}

/// Waits until the client goes away.
pub(super) async fn departure(pace: Option<Arc<Pace>>) {
    match pace {
        Some(pace) => pace.departure().await,
        // Only a test asks without a connection.
        None => std::future::pending().await,
    }
}

/// Told to nobody, unless a client closed only its own side.
pub(super) fn departed() -> Problem {
    let message = "the client closed the connection, so the request was cancelled";
    Problem::plain(StatusCode::BAD_REQUEST, Class::INVALID_REQUEST, message)
        .kind("broken_body")
        .hint("keep the connection open in both directions until the answer came")
}
