//! `/v2`: files and sessions as agents ask for them, by JSON-RPC, and the bytes of files over HTTP; and
//! `/v1/acp`, the agents themselves.

mod agents;
mod arguments;
mod audited;
mod base64_text;
mod bytes;
mod connections;
mod failures;
mod files;
mod greeting;
mod methods;
mod outbox;
mod prompt;
mod rpc;
mod sessions;
mod stream;
mod transport;
mod wire;

use std::sync::Arc;

use http::Method;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(crate) use agents::AgentServers;
pub(super) use agents::errors::{NotAcceptable, not_acceptable};
pub(super) use agents::{problem_components, speaks_for, subject};
pub(crate) use connections::Connections;
pub(super) use stream::over;

/// Whether the requests of a route are about the files of the caller's own sandbox.
pub(super) fn is_inside(route: &str) -> bool {
    route == transport::RPC || route.starts_with("/v2/fs/")
}

/// Whether the requests of a route send or fetch files or archives.
pub(super) fn is_transfer(route: &str) -> bool {
    route.starts_with("/v2/fs/")
}

/// What a request of a route is called in the audit.
pub(super) fn operation(route: &str, method: &Method) -> Option<&'static str> {
    audited::operation(route, method).or_else(|| agents::operation(route, method))
}

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(transport::call, transport::listen, transport::close))
        .routes(routes!(bytes::read, bytes::head, bytes::write))
        .routes(routes!(bytes::upload))
        .merge(agents::routes())
}

/// What the table of failures says of this face.
#[cfg(test)]
pub(super) fn table() -> String {
    agents::table() + &failures::table()
}
