//! The bytes that a client sends.

use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use engine::{ByteStream, Error, ErrorKind, Result};
use futures::{StreamExt as _, stream};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, StatusCode};
use http_body::Frame;
use http_body_util::BodyExt as _;

use crate::problem::{Class, Problem};

/// The slowest that a long body may come, in bytes a second.
const SLOWEST: f64 = 1024.0;
/// How many times the patience with one pause is the patience with all of them.
const PAUSES: u32 = 4;

/// The body as the engine reads it. One that stalls for longer than `patience` is broken, and so
/// is a long one that drips.
pub(crate) fn stream(body: Body, patience: Duration) -> ByteStream {
    let incoming = Incoming { body, patience, credit: patience * PAUSES };
    stream::unfold(Some(incoming), |incoming| async {
        let mut incoming = incoming?;
        match incoming.next().await? {
            Ok(bytes) => Some((Ok(bytes), Some(incoming))),
            Err(err) => Some((Err(err), None)),
        }
    })
    .fuse()
    .boxed()
}

/// A body with what its client may still let us wait. Each byte earns a little, up to what there
/// was at the beginning, so that a short body may be slow and none can hold a place for ever. The
/// time that the engine takes is not the client's.
struct Incoming {
    body: Body,
    patience: Duration,
    credit: Duration,
}

impl Incoming {
    async fn next(&mut self) -> Option<Result<Bytes>> {
        loop {
            let began = Instant::now();
            let frame = tokio::time::timeout(self.patience.min(self.credit), self.body.frame());
            let frame = match frame.await {
                Err(_) if self.credit < self.patience => return Some(Err(dripping())),
                Err(_) => return Some(Err(stalled(self.patience))),
                Ok(frame) => frame?,
            };
            self.credit = self.credit.saturating_sub(began.elapsed());
            match frame.map(Frame::into_data) {
                Err(error) => return Some(Err(broken(error))),
                Ok(Ok(bytes)) => {
                    self.earn(bytes.len());
                    return Some(Ok(bytes));
                }
                // Trailers say nothing about a file.
                Ok(Err(_)) => {}
            }
        }
    }

    fn earn(&mut self, bytes: usize) {
        #[expect(clippy::cast_precision_loss, reason = "a piece is far shorter than 2^52 bytes")]
        let earned = Duration::from_secs_f64(bytes as f64 / SLOWEST);
        self.credit = (self.credit + earned).min(self.patience * PAUSES);
    }
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

fn dripping() -> Error {
    let message = format!("the body came too slowly: less than {SLOWEST} bytes a second");
    Error::new(ErrorKind::BrokenBody, message)
}

fn broken(error: axum::Error) -> Error {
    Error::new(ErrorKind::BrokenBody, "the body ended early").because(error)
}
