//! One module per protocol, one line each.

mod fs_v1;
mod meta;

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::Error;
use utoipa::openapi::{RefOr, Response};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::problem::Problem;

/// Answers that many routes share, by the names that the description gives them.
pub(crate) fn shared_responses() -> BTreeMap<String, RefOr<Response>> {
    fs_v1::problem_components()
}

/// The problem that a failure is before any face saw the request.
pub(crate) fn problem(err: &Error) -> Problem {
    fs_v1::problem(err)
}

/// Which sandbox the requests of a route are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// None.
    None,
    /// The caller's own: the one that he may see, or that of the server.
    Own,
    /// The one that the path names as `{id}`.
    ById,
}

/// Which sandbox the requests of a route are about. Each face speaks for its own routes.
pub(crate) fn named(route: &str) -> Named {
    if fs_v1::speaks_for(route) { Named::Own } else { Named::None }
}

/// Routes that ask who is there.
pub(crate) fn guarded() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(fs_v1::routes()).merge(meta::guarded())
}

/// Routes that answer everyone.
pub(crate) fn open() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(meta::open())
}
