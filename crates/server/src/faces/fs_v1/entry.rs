//! `DELETE /v1/fs/entry`, `POST /v1/fs/mkdir` and `GET /v1/fs/stat`.

use axum::Json;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use engine::{Depth, Entry, Links, Made, Parents};
use http::HeaderMap;

use super::errors::{Asked, Problems, explain};
use super::wire::{FsActionResponse, FsDeleteQuery, FsPathQuery, FsStat};
use crate::browsers::ASK_AGAIN;
use crate::conditions::validators;
use crate::expectation;
use crate::faces::sandboxes_v1::created;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::Visit;

/// Remove a file, a link itself, or a directory.
#[utoipa::path(
    delete,
    path = "/v1/fs/entry",
    operation_id = "deleteEntry",
    tag = "files",
    params(
        FsDeleteQuery,
        ("If-Match" = Option<String>, Header, description = "Remove only this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "Do not remove this ETag"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
    ),
    responses((status = 200, description = "It is gone", body = FsActionResponse), Problems),
    security(("bearer" = []))
)]
pub(super) async fn delete(
    app: Visit,
    Query(query): Query<FsDeleteQuery>,
    headers: HeaderMap,
) -> Result<Json<FsActionResponse>, Problem> {
    remove(&app, &query, &headers).await.map(Json)
}

/// Removes what a query names, if it is what the headers expect.
pub(in crate::faces) async fn remove(
    app: &Visit,
    query: &FsDeleteQuery,
    headers: &HeaderMap,
) -> Result<FsActionResponse, Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let failed = |err| explain(app, &err, Asked::Any, &[&place]);
    let expected =
        expectation::expected(&app.workspace, headers, &place.path, Links::Keep, failed).await?;
    let depth = if query.recursive == Some(true) { Depth::All } else { Depth::One };
    place.check(app, Links::Keep).await.map_err(failed)?;
    app.workspace.remove(&place.path, depth, expected).await.map_err(failed)?;
    Ok(FsActionResponse { path: place.shown })
}

/// Make a directory and its parents. One that is there already is fine.
#[utoipa::path(
    post,
    path = "/v1/fs/mkdir",
    operation_id = "makeDirectory",
    tag = "files",
    params(FsPathQuery),
    responses(
        (status = 200, description = "It is there", body = FsActionResponse, headers(
            ("x-created" = String, description = "`1` if it is new"),
        )),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn mkdir(
    app: Visit,
    Query(query): Query<FsPathQuery>,
) -> Result<Response, Problem> {
    let (answer, made) = make_directory(&app, &query).await?;
    Ok((created(made.created), Json(answer)).into_response())
}

/// Makes the directory that a query names.
pub(in crate::faces) async fn make_directory(
    app: &Visit,
    query: &FsPathQuery,
) -> Result<(FsActionResponse, Made), Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let made = app.workspace.create_dir(&place.path, Parents::Create).await;
    let made = made.map_err(|err| explain(app, &err, Asked::Any, &[&place]))?;
    Ok((FsActionResponse { path: place.shown }, made))
}

/// What is at a path; links are followed.
#[utoipa::path(
    get,
    path = "/v1/fs/stat",
    operation_id = "stat",
    tag = "files",
    params(FsPathQuery),
    responses(
        (status = 200, description = "What is there", body = FsStat, headers(
            ("ETag" = String, description = "The version of the entry"),
            ("Last-Modified" = String, description = "When it last changed"),
        )),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn stat(
    app: Visit,
    Query(query): Query<FsPathQuery>,
) -> Result<Response, Problem> {
    let (entry, stat) = look(&app, &query).await?;
    Ok((ASK_AGAIN, AppendHeaders(validators(&entry)), Json(stat)).into_response())
}

/// What is at the path that a query names.
pub(in crate::faces) async fn look(
    app: &Visit,
    query: &FsPathQuery,
) -> Result<(Entry, FsStat), Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let found = app.workspace.stat(&place.path, Links::Follow).await;
    let entry = found
        .and_then(|entry| place.fitting(entry))
        .map_err(|err| explain(app, &err, Asked::Any, &[&place]))?;
    let stat = FsStat::new(&entry, place.shown);
    Ok((entry, stat))
}
