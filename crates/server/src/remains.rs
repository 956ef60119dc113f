//! What is left of a request's body when its answer is ready.
//!
//! A connection can serve another request only when the body of this one was taken in to its end.
//! A client that was not told otherwise would send its next request into a closed connection.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::EXPECT;
use http::{HeaderMap, Request};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use parking_lot::Mutex;

/// The most bytes that are taken in only to keep the connection.
const MOST_BYTES: usize = 256 * 1024;
/// The longest that an answer waits for them.
const PATIENCE: Duration = Duration::from_millis(250);

/// The request with a body that can be asked about later.
pub(crate) fn watch(request: Request<Incoming>) -> (Request<Body>, Remains) {
    if request.body().is_end_stream() {
        return (request.map(|_| Body::empty()), Remains(None));
    }
    // To read on would tell a client that waits to be asked that it should send.
    let may_read = !waits_to_be_asked(request.headers());
    let state = Arc::<Mutex<Rest>>::default();
    let remains = Remains(Some(Arc::clone(&state)));
    let watched = |body| Watched { body: Some(body), may_read, broken: false, state };
    let request = request.map(|body| Body::new(watched(body)));
    (request, remains)
}

/// What is left of a body, if there was one.
pub(crate) struct Remains(Option<Arc<Mutex<Rest>>>);

#[derive(Default)]
enum Rest {
    /// Nobody has let go of it yet.
    #[default]
    Held,
    /// It was let go before its end.
    Some(Incoming),
    /// Nothing.
    None,
}

impl Remains {
    /// Takes in what is left, if that is little. Says whether the body is at its end.
    pub(crate) async fn take_in(self) -> bool {
        let Some(state) = self.0 else { return true };
        let rest = mem::take(&mut *state.lock());
        match rest {
            Rest::None => true,
            Rest::Held => false,
            Rest::Some(body) => {
                tokio::time::timeout(PATIENCE, discard(body)).await.unwrap_or_default()
            }
        }
    }
}

async fn discard(mut body: Incoming) -> bool {
    let mut taken = 0;
    while taken <= MOST_BYTES {
        match body.frame().await {
            None => return true,
            Some(Err(_)) => return false,
            Some(Ok(frame)) => taken += frame.data_ref().map_or(0, Bytes::len),
        }
    }
    false
}

fn waits_to_be_asked(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// A body that leaves behind what was not read of it.
struct Watched {
    body: Option<Incoming>,
    may_read: bool,
    broken: bool,
    state: Arc<Mutex<Rest>>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.may_read = true;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(cx));
        self.broken |= matches!(frame, Some(Err(_)));
        if frame.is_none() {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        *self.state.lock() = match self.body.take() {
            Some(body) if body.is_end_stream() => Rest::None,
            Some(body) if self.may_read && !self.broken => Rest::Some(body),
            Some(_) => Rest::Held,
            None => Rest::None,
        };
    }
}
