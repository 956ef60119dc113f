//! `/v1/sandboxes`: many sandboxes, and everything that can be done in each of them.

mod archive;
mod batch;
mod entry;
mod errors;
mod file;
mod listing;
mod paths;
mod relocate;
mod sandboxes;
mod search;
mod showing;
mod snapshots;
mod wire;
mod writing;

use std::sync::Arc;

use axum::response::Response;
use utoipa::openapi::{Components, OpenApiBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::app::App;

pub(crate) use errors::Refusal;
pub(super) use errors::refusal_components;
#[cfg(test)]
pub(super) use errors::tests::table;

/// Where everything of this face lies.
const PREFIX: &str = "/v1/sandboxes";

/// Whether a route is one of this face.
pub(super) fn speaks_for(route: &str) -> bool {
    route.starts_with(PREFIX)
}

/// Whether the requests of a route are about what is in a sandbox.
pub(super) fn is_inside(route: &str) -> bool {
    route.strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with("/{id}/"))
}

/// An answer, with failures in the words of this face.
pub(super) fn in_our_words(response: Response) -> Response {
    errors::in_our_words(response)
}

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(sandboxes::create, sandboxes::list))
        .routes(routes!(sandboxes::show, sandboxes::change, sandboxes::delete))
        .routes(routes!(entry::stats))
        .routes(routes!(relocate::r#move))
        .routes(routes!(relocate::copy))
        .routes(routes!(batch::batch))
        .routes(routes!(snapshots::list, snapshots::create))
        .routes(routes!(snapshots::show, snapshots::delete))
        .routes(routes!(snapshots::restore))
        .routes(routes!(snapshots::export))
        .routes(routes!(snapshots::export_live))
        .routes(routes!(snapshots::import))
        .routes(routes!(snapshots::fork))
        .routes(routes!(snapshots::diff))
        .merge(files())
}

/// Routes whose last part is a path of any number of names, or of none.
fn files() -> OpenApiRouter<Arc<App>> {
    let bytes = routes!(file::read, file::head, file::write, file::patch, file::delete);
    [
        bytes,
        routes!(listing::list),
        routes!(entry::stat),
        routes!(entry::mkdir),
        routes!(entry::read_link, entry::link),
        routes!(entry::chmod),
        routes!(entry::truncate),
        routes!(archive::pack, archive::unpack),
        routes!(search::search),
    ]
    .into_iter()
    .map(with_path)
    .fold(OpenApiRouter::new(), OpenApiRouter::merge)
}

/// What is described as `/word/{path}` is routed for every path, the root by both of its spellings.
fn with_path(route: UtoipaMethodRouter<Arc<App>>) -> OpenApiRouter<Arc<App>> {
    let (schemas, paths, methods) = route;
    let described = paths.paths.keys().next().cloned().unwrap_or_default();
    let word = described.strip_suffix("/{path}").unwrap_or(&described).to_owned();
    let mut components = Components::new();
    components.schemas.extend(schemas);
    let description = OpenApiBuilder::new().paths(paths).components(Some(components)).build();
    OpenApiRouter::with_openapi(description)
        .route(&word, methods.clone())
        .route(&format!("{word}/"), methods.clone())
        .route(&format!("{word}/{{*path}}"), methods)
}
