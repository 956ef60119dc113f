//! Every request gets an id, one line in the log, and its place in the metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method};
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::app::App;
use crate::measured::{Counted, Measured};
use crate::metrics::Finished;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is taken over from a client.
const LONGEST_ID: usize = 128;

/// Follows a request from its headers to the last byte of its answer.
pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
    let mut record = Record::new(app, &request, span.clone());
    let received = Arc::clone(&record.received);
    let request = request.map(|body| Body::new(Counted { body, bytes: received }));
    let mut response = next.run(request).instrument(span).await;
    response.headers_mut().insert(REQUEST_ID, id);
    record.status = Some(response.status().as_u16());
    response.map(|body| Body::new(Measured::new(body, record)))
}

// The id goes into logs, so that only what cannot be mistaken for more than an id is taken over.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let sane = |id: &&HeaderValue| {
        (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
    };
    headers.get(REQUEST_ID).filter(sane).cloned().unwrap_or_else(|| {
        let id = Uuid::now_v7().to_string();
        HeaderValue::try_from(id).unwrap_or_else(|_| HeaderValue::from_static("none"))
    })
}

/// What is known of a request; written down when it is dropped, whatever became of the request.
#[derive(Debug)]
pub(crate) struct Record {
    app: Arc<App>,
    span: Span,
    method: Method,
    route: Option<MatchedPath>,
    began: Instant,
    status: Option<u16>,
    received: Arc<AtomicU64>,
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
            route: request.extensions().get().cloned(),
            began: Instant::now(),
            status: None,
            received: Arc::default(),
            sent: 0,
            complete: request.method() == Method::HEAD,
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let finished = Finished {
            method: &self.method,
            route: self.route.as_ref().map_or("unmatched", MatchedPath::as_str),
            status: self.status,
            took: self.began.elapsed(),
            received: self.received.load(Ordering::Relaxed),
            sent: self.sent,
        };
        self.app.metrics.count(finished);
        let Finished { method, route, status, took, received, sent } = finished;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let complete = self.complete;
        let _entered = self.span.enter();
        tracing::info!(%method, route, status, micros, received, sent, complete, "request");
    }
}
