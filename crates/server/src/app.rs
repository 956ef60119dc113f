//! The state that requests share, and the routes over it.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use engine::{
    ArchiveLimits, Audit, Keys, Limits, MainKind, Registry, RegistryOptions, Retention, Sandbox,
    SandboxKind, SandboxPath, SessionRoom, Sessions, Store,
};
use http::StatusCode;
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;

use crate::auth::{self, Gate};
use crate::faces::AgentServers;
use crate::metrics::Metrics;
use crate::options::{Options, Timeouts, ToolOptions};
use crate::peers::{self, Peers};
use crate::problem::{Class, Problem};
use crate::quota::{self, Quotas};
use crate::{cors, faces, framing, observe, refusals, visit};

/// How many sessions may be open at once, of all and of one key, and how long an unused one is kept.
const SESSIONS: SessionRoom =
    SessionRoom { most: 65_536, each: 4096, idle: Duration::from_hours(7 * 24) };
/// How long a server that ends waits for its audit to be stored.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// One server over its sandboxes.
#[derive(Debug)]
pub struct App {
    pub(crate) registry: Registry,
    pub(crate) keys: Keys,
    pub(crate) audit: Audit,
    pub(crate) quotas: Quotas,
    pub(crate) sessions: Sessions,
    /// The agents' clients that are connected by `/v2`.
    pub(crate) connections: faces::Connections,
    pub(crate) agents: AgentServers,
    /// The clients that speak MCP.
    pub(crate) mcp: faces::Desk,
    /// How much the tools may do.
    pub(crate) tools: ToolOptions,
    pub(crate) working_directory: SandboxPath,
    pub(crate) archive_limits: ArchiveLimits,
    pub(crate) strip_workspace_prefix: bool,
    pub(crate) timeouts: Timeouts,
    pub(crate) most_connections: usize,
    pub(crate) metrics: Metrics,
    pub(crate) gate: Gate,
    pub(crate) peers: Peers,
    /// Asks connections to end after what they are doing, and what would never end to do so.
    pub(crate) ending: CancellationToken,
    /// The origins of pages that may ask.
    pub(crate) origins: Vec<String>,
    cors: CorsLayer,
}

/// Why a server cannot be set up as it was asked to be.
#[derive(Debug, Error)]
#[error("{what} ({hint})")]
pub struct SetupError {
    what: String,
    hint: &'static str,
}

impl SetupError {
    pub(crate) fn new(what: impl Into<String>, hint: &'static str) -> Self {
        Self { what: what.into(), hint }
    }
}

impl App {
    /// A server over one sandbox; others that are made end with it.
    pub fn new(sandbox: Sandbox, options: Options) -> Result<Arc<Self>, SetupError> {
        let kind = MainKind::Apart(SandboxKind::Virtual, Limits::default());
        let made = Registry::new(Store::in_memory(), (sandbox, kind), &RegistryOptions::default());
        let unmade = |_| SetupError::new("the sandboxes cannot be kept", "look into the log");
        Self::over(made.map_err(unmade)?, options)
    }

    /// A server over the sandboxes of a registry. Needs a tokio runtime.
    pub fn over(registry: Registry, options: Options) -> Result<Arc<Self>, SetupError> {
        if options.most_connections == 0 {
            let what = "a server with no room for a connection";
            return Err(SetupError::new(what, "allow at least one connection"));
        }
        let ending = CancellationToken::new();
        Ok(Arc::new(Self {
            gate: Gate::new(&options)?,
            cors: cors::layer(&options.cors)?,
            origins: options.cors.origins,
            keys: Keys::new(registry.store()),
            audit: Audit::new(Some(registry.store()), options.audit, Retention::default()),
            quotas: Quotas::new(options.per_key),
            registry,
            sessions: Sessions::new(SESSIONS),
            connections: faces::Connections::new(options.agents),
            agents: AgentServers::new(),
            mcp: faces::Desk::new(options.mcp, &ending),
            tools: options.tools,
            working_directory: options.working_directory,
            archive_limits: options.archive_limits,
            strip_workspace_prefix: options.strip_workspace_prefix,
            timeouts: options.timeouts,
            most_connections: options.most_connections,
            metrics: Metrics::new(),
            peers: Peers::new(),
            ending,
        }))
    }

    /// Waits until everything that was done is written down, but not for ever.
    pub(crate) async fn write_down(&self) {
        let written = tokio::time::timeout(LAST_WORDS, self.audit.flush()).await;
        match written {
            Ok(Ok(())) => {}
            Ok(Err(err)) => {
                let error = &err as &dyn std::error::Error;
                tracing::error!(error, "the end of the audit is not stored");
            }
            Err(_) => tracing::error!("the end of the audit is not stored: the store is too slow"),
        }
    }

    /// Every route. What is not guarded answers without a token: unknown routes among them.
    pub(crate) fn router(self: &Arc<Self>) -> Router {
        let witness = from_fn_with_state(Arc::clone(self), refusals::note);
        let guard = from_fn_with_state(Arc::clone(self), auth::admit);
        let peers = from_fn_with_state(Arc::clone(self), peers::attend);
        let quota = from_fn_with_state(Arc::clone(self), quota::heed);
        let enter = from_fn_with_state(Arc::clone(self), visit::enter);
        let (router, _) = faces::guarded()
            .route_layer(peers)
            .route_layer(enter)
            .route_layer(quota)
            .route_layer(guard)
            .route_layer(witness)
            .merge(faces::open())
            .fallback(unknown_route)
            .layer(self.cors.clone())
            .layer(CatchPanicLayer::custom(panicked))
            .layer(from_fn(faces::in_its_words))
            .layer(from_fn(framing::insist))
            .layer(from_fn_with_state(Arc::clone(self), observe::observe))
            .with_state(Arc::clone(self))
            .split_for_parts();
        router
    }
}

async fn unknown_route() -> Problem {
    Problem::plain(StatusCode::NOT_FOUND, Class::NOT_FOUND, "endpoint not found")
        .kind("endpoint_not_found")
        .hint("GET /docs lists every endpoint")
}

#[expect(clippy::needless_pass_by_value, reason = "the layer hands over what the panic left")]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    tracing::error!(panic = ?words, "a request broke off inside the server");
    let message = "the request broke off inside the server";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, Class::STREAM_ERROR, message)
        .message(message)
        .kind("io")
        .hint("the server's log says more under this request's x-request-id")
        .into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_500_that_tells_nothing_of_the_server() {
        async fn broken() {
            panic!("secret");
        }
        let routes: Router =
            Router::new().route("/", get(broken)).layer(CatchPanicLayer::custom(panicked));
        let request = Request::get("/").body(Body::empty()).unwrap();
        let response = routes.oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(problem["kind"], "io");
        assert!(!problem.to_string().contains("secret"));
    }
}
