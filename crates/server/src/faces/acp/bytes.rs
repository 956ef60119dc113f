//! `/v2/fs`: the bytes of files and archives, exactly as in `/v1/fs`.

use axum::body::Body;
use axum::response::Response;
use http::HeaderMap;

use crate::faces::fs_v1::wire::{
    FsPathQuery, FsUploadBatchQuery, FsUploadBatchResponse, FsWriteResponse, RawBytes,
};
use crate::faces::fs_v1::{Problems, batch, file};
use crate::problem::Problem;
use crate::query::Query;
use crate::reading::Headers;
use crate::visit::Visit;

/// Read a file, or one part of it.
///
/// The same as `GET /v1/fs/file`: streamed, whatever its size.
#[utoipa::path(
    get,
    path = "/v2/fs/file",
    operation_id = "readAgentFile",
    tag = "agents",
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
pub(super) async fn read(
    visit: Visit,
    query: Query<FsPathQuery>,
    headers: Headers,
) -> Result<Response, Problem> {
    file::read(visit, query, headers).await
}

/// The headers of a file, without its bytes.
#[utoipa::path(
    head,
    path = "/v2/fs/file",
    operation_id = "headAgentFile",
    tag = "agents",
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
pub(super) async fn head(
    visit: Visit,
    query: Query<FsPathQuery>,
    headers: Headers,
) -> Result<Response, Problem> {
    file::head(visit, query, headers).await
}

/// Put a file in place, whole.
///
/// The same as `PUT /v1/fs/file`: streamed, and in place only when all of it has arrived.
#[utoipa::path(
    put,
    path = "/v2/fs/file",
    operation_id = "writeAgentFile",
    tag = "agents",
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
pub(super) async fn write(
    visit: Visit,
    query: Query<FsPathQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    file::write(visit, query, headers, body).await
}

/// Unpack a tar archive into a directory, which is made.
///
/// The same as `POST /v1/fs/upload-batch`: a broken archive leaves nothing behind.
#[utoipa::path(
    post,
    path = "/v2/fs/upload-batch",
    operation_id = "uploadAgentBatch",
    tag = "agents",
    params(FsUploadBatchQuery),
    request_body(content = RawBytes, content_type = "application/x-tar",
        description = "An uncompressed tar archive"),
    responses(
        (status = 200, description = "It is unpacked", body = FsUploadBatchResponse, headers(
            ("x-entries" = u64, description = "How many members there were")
        )),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn upload(
    visit: Visit,
    query: Query<FsUploadBatchQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    batch::upload(visit, query, headers, body).await
}
