//! Bodies that count what passes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::observe::Record;

/// A request's body that counts its bytes.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) body: Body,
    pub(crate) bytes: Arc<AtomicU64>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.bytes.fetch_add(bytes_of(frame.as_ref()), Ordering::Relaxed);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer's body; the record of its request ends with it.
#[derive(Debug)]
pub(crate) struct Measured {
    body: Body,
    /// How long the answer says that it is.
    length: Option<u64>,
    record: Record,
}

impl Measured {
    pub(crate) fn new(body: Body, length: Option<u64>, mut record: Record) -> Self {
        record.complete |= body.is_end_stream();
        Self { length: length.or(body.size_hint().exact()), body, record }
    }
}

impl HttpBody for Measured {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, length, record } = &mut *self;
        // What goes wrong from here on is logged under the request's id.
        let frame = record.span.in_scope(|| Pin::new(&mut *body).poll_frame(cx));
        let frame = ready!(frame);
        record.sent += bytes_of(frame.as_ref());
        // hyper asks for no end behind the last byte of a known length.
        record.complete |= frame.is_none() || body.is_end_stream() || *length == Some(record.sent);
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn bytes_of(frame: Option<&Result<Frame<Bytes>, axum::Error>>) -> u64 {
    let bytes = frame.and_then(|frame| frame.as_ref().ok()).and_then(Frame::data_ref);
    bytes.map_or(0, |bytes| bytes.len() as u64)
}
