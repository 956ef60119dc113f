//! The state that requests share, and the routes over it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::handler::Handler as _;
use engine::{
    ArchiveLimits, Audit, Keys, Limits, MainKind, Registry, RegistryOptions, Retention, Sandbox,
    SandboxKind, SandboxPath, SessionRoom, Sessions, Store,
};
use http::StatusCode;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::auth::Gate;
use crate::cors::Pages;
use crate::faces;
use crate::faces::AgentServers;
use crate::metrics::Metrics;
use crate::options::{Options, Timeouts, ToolOptions};
use crate::passage::Passage;
use crate::peers::Peers;
use crate::problem::{Class, Problem};
use crate::quota::Quotas;

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
    /// What they are told.
    pub(crate) cors: Pages,
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
            cors: Pages::new(&options.cors)?,
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
        let open = Passage::open(self);
        let (router, _) = faces::guarded()
            .route_layer(Passage::guarded(self))
            .merge(faces::open().route_layer(open.clone()))
            .fallback(unknown_route.layer(open))
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
