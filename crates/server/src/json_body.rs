//! JSON bodies, gathered whole.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt as _;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::app::App;
use crate::intake;
use crate::problem::{Class, Problem};

/// The longest body that is usually read as JSON: many times what two of the longest paths need.
const USUAL: usize = 64 * 1024;

/// The JSON body of a request as a value. It has at most so many bytes.
#[derive(Debug)]
pub(crate) struct Json<T, const MOST: usize = USUAL>(pub(crate) T);

impl<T: DeserializeOwned, const MOST: usize> FromRequest<Arc<App>> for Json<T, MOST> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        expect_json(request.headers())?;
        let bytes = gather(request.into_body(), app, MOST).await?;
        serde_json::from_slice(&bytes).map(Self).map_err(|err| refuse(&err))
    }
}

/// Refuses a body that does not say that it is JSON.
pub(crate) fn expect_json(headers: &HeaderMap) -> Result<(), Problem> {
    expect(is_json(headers), headers)
}

/// The same, where it must be JSON and nothing that is made of it.
pub(crate) fn expect_plain_json(headers: &HeaderMap) -> Result<(), Problem> {
    expect(essence(headers).is_some_and(|essence| essence == "application/json"), headers)
}

fn expect(is_json: bool, headers: &HeaderMap) -> Result<(), Problem> {
    if !is_json {
        let detail = "Expected request with `Content-Type: application/json`";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Problem::plain(status, Class::MEDIA_TYPE, detail)
            .kind("invalid_argument")
            .hint("send the header `Content-Type: application/json`"));
    }
    intake::refuse_encoded(headers)
}

/// A whole body, of at most so many bytes.
pub(crate) async fn gather(body: Body, app: &App, most: usize) -> Result<Bytes, Problem> {
    let mut body = intake::stream(body, app.timeouts.progress);
    let mut bytes = BytesMut::new();
    let broken = |err: engine::Error| {
        let detail = format!("Failed to buffer the request body: {err}");
        Problem::unreadable(StatusCode::BAD_REQUEST, detail)
            .kind(err.kind().word())
            .hint("send the whole body again")
    };
    while let Some(piece) = body.try_next().await.map_err(broken)? {
        if bytes.len() + piece.len() > most {
            let detail = "Failed to buffer the request body: length limit exceeded";
            let status = StatusCode::PAYLOAD_TOO_LARGE;
            return Err(Problem::plain(status, Class::LIMIT_EXCEEDED, detail)
                .kind("limit_exceeded")
                .hint(format!("send at most {most} bytes of JSON")));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.freeze())
}

/// Whether a body is said to be JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    essence(headers).is_some_and(|essence| {
        let subtype = essence.strip_prefix("application/");
        subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
    })
}

/// What a body is said to be, without parameters.
fn essence(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok())?;
    value.split(';').next().map(|essence| essence.trim().to_ascii_lowercase())
}

fn refuse(err: &serde_json::Error) -> Problem {
    let (status, what) = match err.classify() {
        Category::Syntax | Category::Eof | Category::Io => {
            (StatusCode::BAD_REQUEST, "Failed to parse the request body as JSON")
        }
        Category::Data => (
            StatusCode::UNPROCESSABLE_ENTITY,
            "Failed to deserialize the JSON body into the target type",
        ),
    };
    Problem::unreadable(status, format!("{what}: {err}"))
        .hint("GET /docs shows what the body looks like")
}
