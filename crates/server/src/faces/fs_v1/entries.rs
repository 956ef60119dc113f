//! `GET /v1/fs/entries`.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use engine::Page;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, HeaderName};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::errors::{Asked, Problems, explain};
use super::listing;
use super::wire::{FsEntriesQuery, FsEntry};
use crate::browsers::ASK_AGAIN;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::Visit;

/// List a directory, sorted by name.
///
/// Links are listed themselves, as files. The array is written while it is found; a failure in the
/// middle breaks the answer off.
#[utoipa::path(
    get,
    path = "/v1/fs/entries",
    operation_id = "listEntries",
    tag = "files",
    params(FsEntriesQuery),
    responses(
        (status = 200, description = "The entries", body = [FsEntry], headers(
            ("x-next-after" = String, description = "Where the next page begins, percent-encoded")
        )),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn entries(
    app: Visit,
    Query(query): Query<FsEntriesQuery>,
) -> Result<Response, Problem> {
    let Listed { body, next_after } = list(&app, query).await?;
    let mut response = ([(CONTENT_TYPE, "application/json")], ASK_AGAIN, body).into_response();
    if let Some(name) = next_after.as_deref().and_then(encoded) {
        response.headers_mut().insert(HeaderName::from_static("x-next-after"), name);
    }
    Ok(response)
}

/// A listing, as it is found.
pub(in crate::faces) struct Listed {
    /// A JSON array of entries.
    pub(in crate::faces) body: Body,
    /// The name after which the next page begins, if there is one.
    pub(in crate::faces) next_after: Option<String>,
}

/// Begins a listing.
pub(in crate::faces) async fn list(app: &Visit, query: FsEntriesQuery) -> Result<Listed, Problem> {
    let path = query.path.as_deref().unwrap_or(".");
    let place = app.place(path, query.session_id.as_deref())?;
    let failed = |err| explain(app, &err, Asked::Listing, &[&place]);
    let limit = query.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let page = Page { after: query.after, limit };
    let listing = listing::open(&app.workspace, &place.path, page).await.map_err(failed)?;
    let body = listing::body(listing.entries, &place).await.map_err(failed)?;
    Ok(Listed { body, next_after: listing.next_after })
}

fn encoded(name: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(utf8_percent_encode(name, NON_ALPHANUMERIC).to_string()).ok()
}
