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
        self.bytes.fetch_add(length(frame.as_ref()), Ordering::Relaxed);
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
    record: Record,
}

impl Measured {
    pub(crate) fn new(body: Body, mut record: Record) -> Self {
        record.complete |= body.is_end_stream();
        Self { body, record }
    }
}

impl HttpBody for Measured {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.record.sent += length(frame.as_ref());
        self.record.complete |= frame.is_none() || self.body.is_end_stream();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn length(frame: Option<&Result<Frame<Bytes>, axum::Error>>) -> u64 {
    let bytes = frame.and_then(|frame| frame.as_ref().ok()).and_then(Frame::data_ref);
    bytes.map_or(0, |bytes| bytes.len() as u64)
}
