//! Every request gets an id, one line in the log, and its place in the metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::header::{CONTENT_LENGTH, HeaderName};
use http::{HeaderMap, HeaderValue, Method};
use http_body::Body as _;
use tracing::Span;
use uuid::{Builder, Uuid};

use crate::app::App;
use crate::measured::{Counted, Measured};
use crate::metrics::{Finished, Route};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over from a client.
const LONGEST_ID: usize = 128;

/// A request that is followed from its headers to the last byte of its answer.
#[derive(Debug)]
pub(crate) struct Followed {
    id: HeaderValue,
    record: Record,
}

/// Begins to follow a request.
pub(crate) fn follow(app: Arc<App>, mut request: Request) -> (Request, Followed) {
    let id = request_id(request.headers());
    // Whoever answers, and whoever it is passed on to, calls it by the same id.
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
    let mut record = Record::new(app, &request, span);
    if !request.body().is_end_stream() {
        let bytes = Arc::clone(record.received.insert(Arc::default()));
        request = request.map(|body| Body::new(Counted { body, bytes }));
    }
    (request, Followed { id, record })
}

impl Followed {
    /// What is logged within it is logged under the request's id.
    pub(crate) fn span(&self) -> Span {
        self.record.span.clone()
    }

    /// The answer, which bears the id and is counted while it goes out.
    pub(crate) fn answered(self, mut response: Response) -> Response {
        let Self { id, mut record } = self;
        response.headers_mut().insert(REQUEST_ID, id);
        record.status = Some(response.status().as_u16());
        let length = response.headers().get(CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        response.map(|body| Body::new(Measured::new(body, length, record)))
    }
}

/// The id of a request that was seen by now.
pub(crate) fn id_in(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(REQUEST_ID)?.to_str().ok().map(Arc::from)
}

// The id goes into logs, so that only what cannot be mistaken for more than an id is taken over.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let sane = |id: &&HeaderValue| {
        (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
    };
    headers.get(REQUEST_ID).filter(sane).cloned().unwrap_or_else(|| {
        let mut text = Uuid::encode_buffer();
        let id = next_id().hyphenated().encode_lower(&mut text);
        HeaderValue::try_from(&*id).unwrap_or_else(|_| HeaderValue::from_static("none"))
    })
}

// Ids have to differ, not to be secret: only the part that tells servers apart is random.
fn next_id() -> Uuid {
    static SERVER: LazyLock<u64> = LazyLock::new(|| Uuid::new_v4().as_u64_pair().0);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let pair = Uuid::from_u64_pair(*SERVER, NEXT.fetch_add(1, Ordering::Relaxed));
    Builder::from_custom_bytes(pair.into_bytes()).into_uuid()
}

/// What is known of a request; written down when it is dropped, whatever became of the request.
#[derive(Debug)]
pub(crate) struct Record {
    app: Arc<App>,
    pub(crate) span: Span,
    method: Method,
    route: Route,
    began: Instant,
    status: Option<u16>,
    /// Of a body, if there is one.
    received: Option<Arc<AtomicU64>>,
    /// Bytes of the answer's body.
    pub(crate) sent: u64,
    /// Whether the answer was sent to its end.
    pub(crate) complete: bool,
}

impl Record {
    fn new(app: Arc<App>, request: &Request, span: Span) -> Self {
        Self {
            app,
            span,
            method: request.method().clone(),
            route: Route(request.extensions().get::<MatchedPath>().cloned()),
            began: Instant::now(),
            status: None,
            received: None,
            sent: 0,
            complete: request.method() == Method::HEAD,
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let finished = Finished {
            method: &self.method,
            route: &self.route,
            status: self.status,
            took: self.began.elapsed(),
            received: self.received.as_ref().map_or(0, |bytes| bytes.load(Ordering::Relaxed)),
            sent: self.sent,
        };
        self.app.metrics.count(finished);
        // To enter a span costs something also when nobody hears what is said in it.
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let Finished { method, route, status, took, received, sent } = finished;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let (route, complete) = (route.as_str(), self.complete);
        let _entered = self.span.enter();
        tracing::debug!(%method, route, status, micros, received, sent, complete, "request");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_that_differ_in_their_last_half() {
        let [one, other] = [next_id(), next_id()];
        assert_ne!(one, other);
        assert_eq!(one.as_u64_pair().0, other.as_u64_pair().0);
        assert_eq!((one.get_version_num(), one.get_variant()), (8, uuid::Variant::RFC4122));
    }
}
