//! The bytes that a client sends.

use std::time::Duration;

use axum::body::Body;
use engine::{ByteStream, Error, ErrorKind};
use futures::{StreamExt as _, stream};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;

use crate::problem::{Class, Problem};

/// The body as the engine reads it. One that stalls for longer than `patience` is broken.
pub(crate) fn stream(body: Body, patience: Duration) -> ByteStream {
    stream::unfold(Some(body), move |body| async move {
        let mut body = body?;
        loop {
            let frame = match tokio::time::timeout(patience, body.frame()).await {
                Err(_) => return Some((Err(stalled(patience)), None)),
                Ok(None) => return None,
                Ok(Some(Err(error))) => return Some((Err(broken(error)), None)),
                Ok(Some(Ok(frame))) => frame,
            };
            // Trailers say nothing about a file.
            if let Ok(bytes) = frame.into_data() {
                return Some((Ok(bytes), Some(body)));
            }
        }
    })
    .fuse()
    .boxed()
}

/// Refuses a body that is not the bytes of the file themselves.
pub(crate) fn refuse_encoded(headers: &HeaderMap) -> Result<(), Problem> {
    let plain = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).iter().all(plain) {
        return Ok(());
    }
    let message = "content-encoding is not supported";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Class::MEDIA_TYPE, message)
        .message(message)
        .kind("unsupported")
        .hint("send the bytes as they are, without Content-Encoding"))
}

fn stalled(patience: Duration) -> Error {
    let message = format!("the body stalled: nothing arrived for {} s", patience.as_secs_f32());
    Error::new(ErrorKind::BrokenBody, message)
}

fn broken(error: axum::Error) -> Error {
    Error::new(ErrorKind::BrokenBody, "the body ended early").because(error)
}
