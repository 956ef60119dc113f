//! `GET`, `HEAD` and `PUT /v1/fs/file`.

use axum::body::Body;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use bytes::Bytes;
use engine::{Error, ErrorKind, If, Links, Parents, Span, WriteMode, WriteOptions, Written};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::header::{CONTENT_RANGE, HeaderName};
use http::{HeaderMap, HeaderValue};
use http_body::Body as _;

use super::errors::{Asked, Problems, explain};
use super::paths::Place;
use super::wire::{FsPathQuery, FsWriteResponse, RawBytes};
use crate::browsers::INERT;
use crate::conditions::validators;
use crate::faces::sandboxes_v1::created;
use crate::problem::Problem;
use crate::query::Query;
use crate::reading::{Asking, Headers};
use crate::visit::Visit;
use crate::{expectation, intake, ranges};

/// How long the file is after a write.
const SIZE: HeaderName = HeaderName::from_static("x-size");
/// There when a mount pins the file, so that it was not replaced at once.
const IN_PLACE: HeaderName = HeaderName::from_static("x-in-place");

/// Read a file, or one part of it.
///
/// A single `Range` of bytes is honoured; several are answered with the whole file.
#[utoipa::path(
    get,
    path = "/v1/fs/file",
    operation_id = "readFile",
    tag = "files",
    params(
        FsPathQuery,
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
        Problems
    ),
    security(("bearer" = []))
)]
pub(in crate::faces) async fn read(
    app: Visit,
    Query(query): Query<FsPathQuery>,
    Headers(headers): Headers,
) -> Result<Response, Problem> {
    answer(&app, &query, &headers, ranges::requested(&headers)).await
}

/// The headers of a file, without its bytes.
#[utoipa::path(
    head,
    path = "/v1/fs/file",
    operation_id = "headFile",
    tag = "files",
    params(
        FsPathQuery,
        ("If-Match" = Option<String>, Header, description = "Fail unless it has this ETag"),
        ("If-None-Match" = Option<String>, Header, description = "304 if it has this ETag"),
        ("If-Modified-Since" = Option<String>, Header, description = "304 if it is older"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
    ),
    responses(
        (status = 200, description = "What a read would send", headers(
            ("Content-Length" = u64, description = "The length of the file"),
            ("ETag" = String, description = "The version of the file"),
            ("Last-Modified" = String, description = "When it last changed"),
        )),
        (status = 304, description = "The client has this version already"),
        Problems
    ),
    security(("bearer" = []))
)]
pub(in crate::faces) async fn head(
    app: Visit,
    Query(query): Query<FsPathQuery>,
    Headers(headers): Headers,
) -> Result<Response, Problem> {
    // A range has no meaning here (RFC 9110, section 14.2). The router leaves the body out.
    answer(&app, &query, &headers, None).await
}

/// Put a file in place, whole.
///
/// The body replaces what is there only when all of it has arrived. Missing directories are made.
#[utoipa::path(
    put,
    path = "/v1/fs/file",
    operation_id = "writeFile",
    tag = "files",
    params(
        FsPathQuery,
        ("If-Match" = Option<String>, Header, description = "Replace only this ETag"),
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
pub(in crate::faces) async fn write(
    app: Visit,
    Query(query): Query<FsPathQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let failed = |err| explain(&app, &err, Asked::Any, &[&place]);
    place.must_be_file().map_err(failed)?;
    intake::refuse_encoded(&headers)?;
    if headers.contains_key(CONTENT_RANGE) {
        return Err(Problem::invalid_request("content-range has no place in a PUT")
            .hint("use PATCH to write a part of a file"));
    }
    let options = WriteOptions {
        mode: WriteMode::Replace,
        parents: Parents::Create,
        expected: expectation::expected(
            &app.workspace,
            &headers,
            &place.path,
            Links::Follow,
            failed,
        )
        .await?,
        length: body.size_hint().exact(),
    };
    let body = intake::stream(body, app.timeouts.progress);
    let written = app.workspace.write(&place.path, body, options).await.map_err(failed)?;
    Ok(written_response(&place, &written))
}

/// Reads a file whole, if it has at most so many bytes. Its absolute path, and the bytes.
pub(in crate::faces) async fn gather(
    app: &Visit,
    query: &FsPathQuery,
    most: usize,
) -> Result<(String, Vec<u8>), Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let failed = |err: Error| explain(app, &err, Asked::Bytes, &[&place]);
    place.must_be_file().map_err(failed)?;
    let mut content = app.workspace.read(&place.path, Span::Whole).await.map_err(failed)?;
    // A file may grow while it is read.
    let mut bytes = Vec::new();
    while let Some(piece) = content.body.try_next().await.map_err(failed)? {
        if content.entry.size > most as u64 || bytes.len() + piece.len() > most {
            let message = format!("the file has more than {most} bytes");
            let err = Error::new(ErrorKind::FileTooLarge, message).on(&place.path);
            return Err(failed(err));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok((place.shown, bytes))
}

/// Puts bytes in place that are there whole.
pub(in crate::faces) async fn put(
    app: &Visit,
    query: &FsPathQuery,
    bytes: Bytes,
) -> Result<FsWriteResponse, Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let failed = |err| explain(app, &err, Asked::Any, &[&place]);
    place.must_be_file().map_err(failed)?;
    let options = WriteOptions {
        mode: WriteMode::Replace,
        parents: Parents::Create,
        expected: If::Always,
        length: Some(bytes.len() as u64),
    };
    let body = stream::iter([Ok(bytes)]).boxed();
    let written = app.workspace.write(&place.path, body, options).await.map_err(failed)?;
    Ok(FsWriteResponse { path: place.shown, bytes_written: written.bytes })
}

/// The answer to a write. Its headers say what its body has no words for.
pub(super) fn written_response(place: &Place, written: &Written) -> Response {
    let size = (SIZE, HeaderValue::from(written.entry.size));
    let in_place = written.in_place.then(|| (IN_PLACE, HeaderValue::from_static("1")));
    let told = (created(written.created), AppendHeaders(in_place));
    let answer = FsWriteResponse { path: place.shown.clone(), bytes_written: written.bytes };
    (AppendHeaders(validators(&written.entry)), [size], told, axum::Json(answer)).into_response()
}

async fn answer(
    app: &Visit,
    query: &FsPathQuery,
    headers: &HeaderMap,
    part: Option<Span>,
) -> Result<Response, Problem> {
    let place = app.place(&query.path, query.session_id.as_deref())?;
    let failed = |err: Error| explain(app, &err, Asked::Bytes, &[&place]);
    place.must_be_file().map_err(failed)?;
    let asked = Asking { workspace: &app.workspace, file: &place.path, headers, part };
    let answer = asked.answer(failed).await?;
    Ok((INERT, answer).into_response())
}
