//! One module per protocol, one line each.

mod fs_v1;
mod meta;

use std::collections::BTreeMap;
use std::sync::Arc;

use utoipa::openapi::{RefOr, Response};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// Answers that many routes share, by the names that the description gives them.
pub(crate) fn shared_responses() -> BTreeMap<String, RefOr<Response>> {
    fs_v1::problem_components()
}

/// Routes that ask who is there.
pub(crate) fn guarded() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(fs_v1::routes()).merge(meta::guarded())
}

/// Routes that answer everyone.
pub(crate) fn open() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(meta::open())
}
