//! `/v1/fs` and `/v1/sessions`: the files of the sandbox, as the `sandbox-agent` client knows them.

mod audited;
pub(super) mod batch;
pub(super) mod entries;
pub(super) mod entry;
mod errors;
pub(super) mod file;
mod listing;
mod patch;
mod paths;
mod queries;
pub(super) mod relocate;
pub(super) mod sessions;
pub(super) mod wire;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

pub(super) use audited::{operation, subject};
pub(super) use errors::{Problems, problem, problem_components, session_problem};
#[cfg(fuzzing)]
pub(crate) use paths::meant;

/// Whether a route is one of this face.
pub(super) fn speaks_for(route: &str) -> bool {
    route.starts_with("/v1/fs/") || route.starts_with("/v1/sessions/")
}

/// Whether the requests of a route send or fetch files or archives.
pub(super) fn is_transfer(route: &str) -> bool {
    route == "/v1/fs/file" || route.ends_with("load-batch")
}

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(entries::entries))
        .routes(routes!(file::read, file::head, file::write, patch::patch))
        .routes(routes!(entry::delete))
        .routes(routes!(entry::mkdir))
        .routes(routes!(relocate::r#move))
        .routes(routes!(relocate::copy))
        .routes(routes!(entry::stat))
        .routes(routes!(batch::upload))
        .routes(routes!(batch::download))
        .routes(routes!(sessions::create))
}
