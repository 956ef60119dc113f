//! `PATCH /v1/fs/file`: a part of a file, or more at its end.

use axum::body::Body;
use axum::response::Response;
use engine::{Links, Parents, Part, WriteMode, WriteOptions};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, HeaderName};
use http_body::Body as _;

use super::errors::{Asked, Problems, explain};
use super::file::written_response;
use super::precondition;
use super::wire::{FsPathQuery, FsWriteResponse, RawBytes};
use crate::intake;
use crate::problem::Problem;
use crate::query::Query;
use crate::ranges::{self, Placed};
use crate::visit::Visit;

const APPEND: HeaderName = HeaderName::from_static("x-append");

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
    let change = Change::read(&headers)?;
    let expected = precondition::expected(&app, &headers, &place, Links::Follow).await?;
    let length = match &change {
        Change::Append => body.size_hint().exact(),
        Change::Part(placed) => {
            let bytes = placed.range.end - placed.range.start;
            if body.size_hint().exact().is_some_and(|length| length != bytes) {
                return Err(wrong_length(bytes));
            }
            Some(bytes)
        }
    };
    let mode = match change {
        Change::Append => WriteMode::Append,
        Change::Part(Placed { range, total }) => {
            WriteMode::Part(Part { offset: range.start, total })
        }
    };
    let options = WriteOptions { mode, parents: Parents::Create, expected, length };
    let body = intake::stream(body, app.timeouts.progress);
    let written = app.workspace.write(&place.path, body, options).await.map_err(failed)?;
    Ok(written_response(&place, &written))
}

enum Change {
    Append,
    Part(Placed),
}

impl Change {
    fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let append = match headers.get(APPEND) {
            None => false,
            Some(value) if value == "1" => true,
            Some(_) => {
                return Err(Problem::invalid_request("x-append can only be 1")
                    .hint("send `X-Append: 1`, or leave it out"));
            }
        };
        match (append, ranges::placed(headers)?) {
            (true, None) => Ok(Self::Append),
            (false, Some(placed)) => Ok(Self::Part(placed)),
            (true, Some(_)) | (false, None) => Err(Problem::invalid_request(
                "a PATCH needs either content-range or x-append",
            )
            .hint("send `Content-Range: bytes FIRST-LAST/*` to write a part, or `X-Append: 1`")),
        }
    }
}

fn wrong_length(size: u64) -> Problem {
    Problem::invalid_request("the body is not as long as its content-range")
        .hint(format!("send {CONTENT_LENGTH}: {size}, or correct the range"))
}
