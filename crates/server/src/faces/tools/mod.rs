//! `/v1/tools`: file operations as tools, for workflows and for whoever speaks for a model.

mod arguments;
mod audited;
mod calling;
mod failures;
mod listing;
mod naming;
mod queries;
mod wire;

use std::sync::Arc;

use http::Method;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(super) use audited::{operation, subject};
#[cfg(test)]
pub(super) use failures::tests::table;
pub(super) use failures::{Asked, failure_components};
pub(super) use naming::sandbox_in;

/// Where everything of this face lies.
const PREFIX: &str = "/v1/tools";
/// One tool.
const TOOL: &str = "/v1/tools/{name}";

/// Whether a route is one of this face.
pub(super) fn speaks_for(route: &str) -> bool {
    [PREFIX, TOOL].contains(&route)
}

/// Whether such a request calls a tool.
pub(super) fn is_call(route: &str, method: &Method) -> bool {
    route == TOOL && method == Method::POST
}

/// Whether the requests of a route send or fetch files: the content of one may be an argument, and
/// another one's the answer.
pub(super) fn is_transfer(route: &str) -> bool {
    route == TOOL
}

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(listing::list))
        .routes(routes!(listing::show, calling::call))
}
