//! What the server says about itself.

mod docs;
mod health;
mod root;
mod telemetry;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// What a request of a route is called in the audit.
pub(super) fn operation(route: &str) -> Option<&'static str> {
    match route {
        "/v1/health" | "/v2/health" => Some("health"),
        "/metrics" => Some("metrics"),
        _ => None,
    }
}

pub(super) fn guarded() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(health::agent_health))
        .routes(routes!(telemetry::metrics))
}

pub(super) fn open() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(root::root))
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(docs::document))
        .routes(routes!(docs::page))
}
