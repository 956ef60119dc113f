//! `/mcp`: the Model Context Protocol over HTTP ("streamable HTTP"), in a sandbox of the caller's.
//!
//! The SDK speaks the protocol. Before it stand the gate that all requests pass, and what it leaves to
//! others: whose a session is, how many there are and for how long, and what else may not grow.

mod answers;
mod audited;
mod desk;
mod owners;
mod sessions;
mod transport;
mod wire;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(super) use audited::operation;
pub(crate) use desk::Desk;

/// Where it all happens.
const ROUTE: &str = "/mcp";

/// Whether a route is one of this face.
pub(super) fn speaks_for(route: &str) -> bool {
    route == ROUTE
}

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(transport::call, transport::listen, transport::close))
}
