//! Where requests are handed to the SDK.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::owners::{InUse, Owners, Place, Session};
use super::sessions::Sessions;
use crate::mcp::Handler;
use crate::options::AgentRoom;
use crate::problem::Problem;
use crate::visit::Visit;

/// What the SDK answers.
pub(super) type Answer = Response<BoxBody<Bytes, std::convert::Infallible>>;

/// The clients that speak MCP over HTTP. Their sessions live in this process alone.
pub(crate) struct Desk {
    service: StreamableHttpService<Handler, Sessions>,
    sessions: Arc<Sessions>,
    owners: Arc<Owners>,
    ending: CancellationToken,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("sessions", &self.owners.count()).finish_non_exhaustive()
    }
}

impl Desk {
    /// One that is open until the server ends.
    pub(crate) fn new(room: AgentRoom, ending: &CancellationToken) -> Self {
        let owners = Arc::new(Owners::new(room));
        let sessions = Arc::new(Sessions::new(Arc::clone(&owners)));
        // Names and origins are checked by the gate, and how long a body is before it is handed over.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_cancellation_token(ending.child_token());
        config.max_request_body_bytes = usize::MAX;
        let handler = || Ok(Handler::by_request());
        let service = StreamableHttpService::new(handler, Arc::clone(&sessions), config);
        Self { service, sessions, owners, ending: ending.clone() }
    }

    /// The session that a request names, if it is the caller's.
    pub(super) fn session(
        &self,
        visit: &Visit,
        headers: &HeaderMap,
    ) -> Result<Option<Arc<Session>>, Problem> {
        let id = named(headers)?;
        id.map(|id| self.owners.find(&visit.owner(), id)).transpose()
    }

    /// A place for a session that the caller is about to open.
    pub(super) fn place(&self, visit: &Visit) -> Result<Place<'_>, Problem> {
        self.owners.place(visit.owner())
    }

    /// Closes a session.
    pub(super) async fn close(&self, id: &str) {
        // One that is gone already is closed.
        self.sessions.close_session(&id.into()).await.ok();
    }

    /// Hands over a request.
    pub(super) async fn hand_over(&self, request: Request<Full<Bytes>>) -> Answer {
        self.service.handle(request).await
    }

    /// Takes note of the session that an answer opens, which ends when nobody uses it any more, or
    /// with the server. An answer of it is under way.
    pub(super) fn opened(&self, place: Place<'_>, visit: &Visit, answer: &Answer) -> Option<InUse> {
        let id: Arc<str> = named(answer.headers()).ok().flatten()?.into();
        place.take(&id);
        let session = self.owners.find(&visit.owner(), &id).ok()?;
        let (sessions, owners) = (Arc::clone(&self.sessions), Arc::clone(&self.owners));
        let ending = self.ending.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = ending.cancelled() => {}
                () = owners.idleness(&id) => {}
            }
            // One that is gone already is closed once more, which does nothing.
            sessions.close_session(&id).await.ok();
        });
        Some(InUse::of(session))
    }
}

/// The session that headers name, if they name one.
pub(super) fn named(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all("mcp-session-id").iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        // What cannot be read is nobody's.
        (Some(value), None) => Ok(Some(value.to_str().unwrap_or_default())),
        (Some(_), Some(_)) => {
            Err(Problem::invalid_request("more than one Mcp-Session-Id")
                .hint("send the header once"))
        }
    }
}
