//! `/v1/sandboxes/{id}/fs/{path}`: the bytes of one file.

use axum::body::Body;
use axum::response::Response;
use engine::{Depth, Error, ErrorKind, Links, Parents, Span, WriteOptions};
use http::header::CONTENT_RANGE;
use http::{HeaderMap, StatusCode};
use http_body::Body as _;

use super::as_of::AsOf;
use super::errors::{Refusals, explain, explain_look};
use super::paths::Place;
use super::showing::Showing;
use super::wire::{RawBytes, Stat};
use super::writing::{Fresh, Writing, answered};
use crate::patching::Patch;
use crate::problem::Problem;
use crate::query::Query;
use crate::reading::{Asking, Headers};
use crate::visit::Visit;
use crate::{expectation, intake, ranges};

/// Read a file, or one part of it.
///
/// The bytes are always sent as `application/octet-stream`, unless `inline=1` asks for a type that
/// is guessed from the name. A single `Range` is honoured; several are answered with the whole file.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/fs/{path}",
    operation_id = "readSandboxFile",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The file, from the root of the sandbox on"),
        Showing,
        AsOf,
        ("Range" = Option<String>, Header, description = "One part, as `bytes=FIRST-LAST`"),
        ("If-Range" = Option<String>, Header, description = "Send the part only of this ETag"),
        ("If-Match" = Option<String>, Header, description = "Fail unless it has this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "Send nothing if it has this ETag"),
        ("If-Modified-Since" = Option<String>, Header, description = "Send nothing if it is older"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
    ),
    responses(
        (status = 200, description = "The bytes", content_type = "application/octet-stream",
            body = RawBytes, headers(
                ("ETag" = String, description = "The version of the file"),
                ("Last-Modified" = String, description = "When it last changed"),
                ("Accept-Ranges" = String, description = "Always `bytes`"),
            )),
        (status = 206, description = "The part that was asked for",
            content_type = "application/octet-stream", body = RawBytes, headers(
                ("Content-Range" = String, description = "Which bytes these are"),
                ("ETag" = String, description = "The version of the file"),
            )),
        (status = 304, description = "The client has this version already"),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn read(
    visit: Visit,
    place: Place,
    Query(showing): Query<Showing>,
    Query(as_of): Query<AsOf>,
    Headers(headers): Headers,
) -> Result<Response, Problem> {
    answer(&visit, &place, &showing, &as_of, &headers, ranges::requested(&headers)).await
}

/// The headers of a file, without its bytes.
#[utoipa::path(
    head,
    path = "/v1/sandboxes/{id}/fs/{path}",
    operation_id = "headSandboxFile",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The file, from the root of the sandbox on"),
        Showing,
        AsOf,
        ("If-Match" = Option<String>, Header, description = "Fail unless it has this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "304 if it has this ETag"),
    ),
    responses(
        (status = 200, description = "What a read would send", headers(
            ("Content-Length" = u64, description = "The length of the file"),
            ("ETag" = String, description = "The version of the file"),
            ("Last-Modified" = String, description = "When it last changed"),
        )),
        (status = 304, description = "The client has this version already"),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn head(
    visit: Visit,
    place: Place,
    Query(showing): Query<Showing>,
    Query(as_of): Query<AsOf>,
    Headers(headers): Headers,
) -> Result<Response, Problem> {
    // A range has no meaning here (RFC 9110, section 14.2). The router leaves the body out.
    answer(&visit, &place, &showing, &as_of, &headers, None).await
}

async fn answer(
    visit: &Visit,
    place: &Place,
    showing: &Showing,
    as_of: &AsOf,
    headers: &HeaderMap,
    part: Option<Span>,
) -> Result<Response, Problem> {
    let failed = |err: Error| explain_look(&err);
    place.must_be_file().map_err(failed)?;
    let workspace = as_of.workspace(visit).await?;
    let asking = Asking { workspace: &workspace, file: &place.path, headers, part };
    let answer = asking.answer(failed).await?;
    Ok(showing.dress(place.path.name(), answer))
}

/// Put a file in place, whole.
///
/// The body replaces what is there only when all of it has arrived. Missing directories are made.
#[utoipa::path(
    put,
    path = "/v1/sandboxes/{id}/fs/{path}",
    operation_id = "writeSandboxFile",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The file, from the root of the sandbox on"),
        ("If-Match" = Option<String>, Header, description = "Replace only this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "`*` to create only"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
        ("Prefer" = Option<String>, Header, description = "`return=representation` for a 200"),
        Fresh,
        Writing,
    ),
    request_body(content = RawBytes, content_type = "application/octet-stream",
        description = "The bytes; any or no content type"),
    responses(
        (status = 200, description = "It is in place, and like this", body = Stat),
        (status = 204, description = "It is in place", headers(
            ("ETag" = String, description = "The version of the file"),
            ("x-size" = u64, description = "How long the file is"),
            ("x-created" = String, description = "`1` if the file is new"),
            ("x-in-place" = String, description = "`1` if a mount pins the file, so that it was written in place")
        )),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn write(
    visit: Visit,
    place: Place,
    Query(fresh): Query<Fresh>,
    Query(writing): Query<Writing>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if headers.contains_key(CONTENT_RANGE) {
        return Err(Problem::invalid_request("content-range has no place in a PUT")
            .hint("use PATCH to write a part of a file"));
    }
    let patch = Patch { mode: fresh.mode(), length: body.size_hint().exact() };
    put(&visit, &place, &headers, body, patch, writing.parents()).await
}

/// Write a part of a file, or append to it.
///
/// Send either `Content-Range: bytes FIRST-LAST/*` or `X-Append: 1`. A missing file is made; what
/// lies between its end and the part reads as zeros.
#[utoipa::path(
    patch,
    path = "/v1/sandboxes/{id}/fs/{path}",
    operation_id = "patchSandboxFile",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The file, from the root of the sandbox on"),
        ("Content-Range" = Option<String>, Header,
            description = "Where the body goes, as `bytes FIRST-LAST/*`. A number instead of `*` \
                is how long the file must be afterwards"),
        ("X-Append" = Option<String>, Header, description = "`1` to append"),
        ("If-Match" = Option<String>, Header, description = "Change only this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "`*` to create only"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
        ("Prefer" = Option<String>, Header, description = "`return=representation` for a 200"),
        Writing,
    ),
    request_body(content = RawBytes, content_type = "application/octet-stream",
        description = "The bytes; any or no content type"),
    responses(
        (status = 200, description = "It is in place, and like this", body = Stat),
        (status = 204, description = "It is in place", headers(
            ("ETag" = String, description = "The version of the file"),
            ("x-size" = u64, description = "How long the file is"),
            ("x-created" = String, description = "`1` if the file is new"),
            ("x-in-place" = String, description = "`1` if a mount pins the file, so that it was written in place")
        )),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn patch(
    visit: Visit,
    place: Place,
    Query(writing): Query<Writing>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let patch = Patch::read(&headers, body.size_hint().exact())?;
    put(&visit, &place, &headers, body, patch, writing.parents()).await
}

async fn put(
    visit: &Visit,
    place: &Place,
    headers: &HeaderMap,
    body: Body,
    patch: Patch,
    parents: Parents,
) -> Result<Response, Problem> {
    let failed = |err: Error| explain(&err);
    let (workspace, file) = (&visit.workspace, &place.path);
    place.must_be_file().map_err(failed)?;
    if file.is_root() {
        return Err(explain_look(&Error::new(ErrorKind::IsADirectory, "no file is named")));
    }
    intake::refuse_encoded(headers)?;
    let expected = expectation::expected(workspace, headers, file, Links::Follow, failed).await?;
    let Patch { mode, length } = patch;
    let options = WriteOptions { mode, parents, expected, length };
    let body = intake::stream(body, visit.timeouts.progress);
    let written = workspace.write(file, body, options).await.map_err(failed)?;
    Ok(answered(&written, headers))
}

/// Remove a file, a link itself, or a directory with everything in it.
///
/// What is not there is gone already. The root stays.
#[utoipa::path(
    delete,
    path = "/v1/sandboxes/{id}/fs/{path}",
    operation_id = "deleteSandboxEntry",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "What goes, from the root of the sandbox on"),
        ("If-Match" = Option<String>, Header, description = "Remove only this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "Do not remove this ETag"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
        Removing
    ),
    responses((status = 204, description = "It is gone"), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn delete(
    visit: Visit,
    place: Place,
    Query(removing): Query<Removing>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let failed = |err: Error| explain(&err);
    let (workspace, path) = (&visit.workspace, &place.path);
    let expected = expectation::expected(workspace, &headers, path, Links::Keep, failed).await?;
    let depth = if removing.recursive == Some(false) { Depth::One } else { Depth::All };
    match workspace.remove(path, depth, expected).await {
        Err(err) if matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            match removing.must_exist {
                Some(true) => Err(explain(&err)),
                Some(false) | None => Ok(StatusCode::NO_CONTENT),
            }
        }
        outcome => outcome.map(|()| StatusCode::NO_CONTENT).map_err(failed),
    }
}

/// How something is removed.
#[derive(Clone, Debug, Default, serde::Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Removing {
    /// `false` to remove a directory only if it is empty.
    #[param(nullable = false)]
    recursive: Option<bool>,
    /// `true` to be told when nothing was there.
    #[param(nullable = false)]
    must_exist: Option<bool>,
}

impl crate::query::FromParams for Removing {
    fn from_params(params: &crate::query::Params<'_>) -> Result<Self, Problem> {
        let (recursive, must_exist) = (params.flag("recursive")?, params.flag("must_exist")?);
        Ok(Self { recursive, must_exist })
    }
}
