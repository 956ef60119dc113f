//! `/v1/sandboxes`: many sandboxes, and everything that can be done in each of them.

mod archive;
mod as_of;
mod audit;
mod audited;
mod batch;
mod batch_fields;
mod carrying;
mod diff;
mod edit;
mod entry;
mod errors;
mod file;
mod fork;
mod keys;
mod listing;
mod pages;
mod paths;
mod relocate;
mod sandboxes;
mod search;
mod showing;
mod sign;
mod snapshots;
mod watch;
mod wire;
mod writing;

use std::sync::Arc;

use axum::response::Response;
use http::Method;
use utoipa::openapi::{Components, OpenApiBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::app::App;
use crate::caller::Caller;

pub use audit::EventBody;
pub(super) use audited::{operation, subject};
pub(crate) use errors::Refusal;
#[cfg(test)]
pub(super) use errors::tests::table;
pub(super) use errors::{Asked, Described, explain, refusal_components, status};
#[cfg(fuzzing)]
pub(crate) use paths::{of_address, of_text};
pub(super) use writing::created;

/// Where everything in sandboxes lies.
const PREFIX: &str = "/v1/sandboxes";
/// Where everything of this face lies.
const PREFIXES: [&str; 3] = [PREFIX, "/v1/keys", "/v1/audit"];

/// Whether a route is one of this face.
pub(super) fn speaks_for(route: &str) -> bool {
    PREFIXES.iter().any(|prefix| route.starts_with(prefix))
}

/// Whether the requests of a route send or fetch files or archives.
pub(super) fn is_transfer(route: &str) -> bool {
    let words = ["fs/", "fs-archive", "export", "snapshot-import", "snapshots/{snapshot}/export"];
    let rest = route.strip_prefix("/v1/sandboxes/{id}/");
    rest.is_some_and(|rest| words.iter().any(|word| rest.starts_with(word)))
}

/// Whether somebody may send such a request, if he came by a signed address.
pub(super) fn lets_through(caller: &Caller, route: &str, method: &Method) -> bool {
    sign::lets_through(caller, route, method)
}

/// Whether the addresses of a route name a sandbox.
pub(super) fn names_sandbox(route: &str) -> bool {
    route.strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with("/{id}"))
}

/// Whether the requests of a route are about what is in a sandbox.
pub(super) fn is_inside(route: &str) -> bool {
    // Whoever reads the audit of a sandbox may do so when it is gone.
    let rest = route.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix("/{id}/"));
    rest.is_some_and(|rest| rest != "audit")
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
        .routes(routes!(keys::create, keys::list))
        .routes(routes!(keys::show, keys::revoke))
        .routes(routes!(sign::sign))
        .routes(routes!(audit::of_sandbox))
        .routes(routes!(audit::of_server))
        .routes(routes!(audit::of_gate))
        .routes(routes!(relocate::r#move))
        .routes(routes!(relocate::copy))
        .routes(routes!(batch::batch))
        .routes(routes!(snapshots::list, snapshots::create))
        .routes(routes!(snapshots::show, snapshots::delete))
        .routes(routes!(snapshots::restore))
        .routes(routes!(carrying::export))
        .routes(routes!(carrying::export_live))
        .routes(routes!(carrying::import))
        .routes(routes!(fork::fork))
        .routes(routes!(diff::diff))
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
        routes!(edit::edit),
        routes!(watch::watch),
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
