//! `PATCH /v1/fs/file`: a part of a file, or more at its end.

use axum::body::Body;
use axum::response::Response;
use engine::{Links, Parents, WriteOptions};
use http::HeaderMap;
use http_body::Body as _;

use super::errors::{Asked, Problems, explain};
use super::file::written_response;
use super::wire::{FsPathQuery, FsWriteResponse, RawBytes};
use crate::expectation;
use crate::intake;
use crate::patching::Patch;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::Visit;

/// Write a part of a file, or append to it.
///
/// Send either `Content-Range: bytes FIRST-LAST/*` or `X-Append: 1`. A missing file is made; what
/// lies between its end and the part reads as zeros. Nothing changes before the whole body has come
/// and its conditions hold.
#[utoipa::path(
    patch,
    path = "/v1/fs/file",
    operation_id = "patchFile",
    tag = "files",
    params(
        FsPathQuery,
        ("Content-Range" = Option<String>, Header,
            description = "Where the body goes, as `bytes FIRST-LAST/*`. A number instead of `*` \
                is how long the file must be afterwards"),
        ("X-Append" = Option<String>, Header, description = "`1` to append"),
        ("If-Match" = Option<String>, Header, description = "Change only this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "`*` to create only"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
    ),
    request_body(content = RawBytes, content_type = "application/octet-stream",
        description = "The bytes; any or no content type"),
    responses(
        (status = 200, description = "It is in place", body = FsWriteResponse, headers(
            ("ETag" = String, description = "The version of the file"),
            ("x-size" = u64, description = "How long the file is"),
            ("x-created" = String, description = "`1` if the file is new"),
            ("x-in-place" = String, description = "`1` if a mount pins the file, so that it was written in place")
        )),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn patch(
    app: Visit,
    Query(query): Query<FsPathQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let failed = |err| explain(&app, &err, Asked::Any, &[&place]);
    place.must_be_file().map_err(failed)?;
    intake::refuse_encoded(&headers)?;
    let change = Patch::read(&headers, body.size_hint().exact())?;
    let expected =
        expectation::expected(&app.workspace, &headers, &place.path, Links::Follow, failed).await?;
    let Patch { mode, length } = change;
    let options = WriteOptions { mode, parents: Parents::Create, expected, length };
    let body = intake::stream(body, app.timeouts.progress);
    let written = app.workspace.write(&place.path, body, options).await.map_err(failed)?;
    Ok(written_response(&place, &written))
}
