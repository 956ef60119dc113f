//! `/v2`: files and sessions as agents ask for them, by JSON-RPC, and the bytes of files over HTTP.

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

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(super) use audited::operation;
pub(crate) use connections::Connections;

/// Whether a route is one of this face.
pub(super) fn speaks_for(route: &str) -> bool {
    route == transport::RPC || route.starts_with("/v2/fs/")
}

/// Whether the requests of a route send or fetch files or archives.
pub(super) fn is_transfer(route: &str) -> bool {
    route.starts_with("/v2/fs/")
}

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(transport::call, transport::listen, transport::close))
        .routes(routes!(bytes::read, bytes::head, bytes::write))
        .routes(routes!(bytes::upload))
}
