//! `POST /v1/fs/upload-batch` and `GET /v1/fs/download-batch`: many files as one tar archive.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use engine::{ArchiveFormat, ArchiveLimits, ByteStream, Error, ErrorKind, Links};
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};

use super::errors::{Asked, Problems, explain};
use super::paths::Place;
use super::wire::{FsDownloadBatchQuery, FsUploadBatchQuery, FsUploadBatchResponse, RawBytes};
use crate::browsers::{ASK_AGAIN, INERT};
use crate::problem::Problem;
use crate::query::Query;
use crate::reading::outgoing;
use crate::visit::Visit;
use crate::{archives, intake};

const TAR: &str = "application/x-tar";
/// How many paths an answer names.
const MOST_PATHS: u64 = 1024;

/// Unpack a tar archive into a directory, which is made.
///
/// An archive that is broken or holds a name that leads elsewhere leaves nothing behind.
#[utoipa::path(
    post,
    path = "/v1/fs/upload-batch",
    operation_id = "uploadBatch",
    tag = "files",
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
pub(in crate::faces) async fn upload(
    app: Visit,
    Query(query): Query<FsUploadBatchQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    // Whoever names a place that is none is told that first.
    place_of(&app, &query)?;
    let is_tar =
        headers.get(CONTENT_TYPE).is_some_and(|v| v.as_bytes().starts_with(TAR.as_bytes()));
    if !is_tar {
        return Err(Problem::invalid_request("content-type must be application/x-tar")
            .hint("send an uncompressed tar archive as `Content-Type: application/x-tar`"));
    }
    intake::refuse_encoded(&headers)?;
    let archive = intake::stream(body, app.timeouts.progress);
    let (answer, count) = unpack(&app, &query, archive).await?;
    let entries = (HeaderName::from_static("x-entries"), HeaderValue::from(count));
    Ok(([entries], axum::Json(answer)).into_response())
}

fn place_of(app: &Visit, query: &FsUploadBatchQuery) -> Result<Place, Problem> {
    app.place(query.path.as_deref().unwrap_or("."), query.session_id.as_deref())
}

/// Unpacks an archive where a query says. What it put in place, and how many members it had.
pub(in crate::faces) async fn unpack(
    app: &Visit,
    query: &FsUploadBatchQuery,
    archive: ByteStream,
) -> Result<(FsUploadBatchResponse, u64), Problem> {
    let place = place_of(app, query)?;
    let unpacked = app
        .workspace
        .unpack(&place.path, archive, ArchiveFormat::Tar, ArchiveLimits::default())
        .await;
    let unpacked = unpacked.map_err(|err| explain_archive(app, &err, &place))?;
    let shown = |path: &engine::SandboxPath| match path.strip(&place.path) {
        Some(rest) => place.shown_child(rest),
        None => app.workspace.sandbox().outward(path),
    };
    let truncated = unpacked.entries > MOST_PATHS;
    let paths = unpacked.paths.iter().map(shown).collect();
    Ok((FsUploadBatchResponse { paths, truncated }, unpacked.entries))
}

/// Pack what a directory holds, or one file, as a tar archive.
///
/// The archive is written while it is packed; a failure in the middle breaks the answer off.
#[utoipa::path(
    get,
    path = "/v1/fs/download-batch",
    operation_id = "downloadBatch",
    tag = "files",
    params(FsDownloadBatchQuery),
    responses(
        (status = 200, description = "The archive", content_type = "application/x-tar",
            body = RawBytes),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn download(
    app: Visit,
    Query(query): Query<FsDownloadBatchQuery>,
) -> Result<Response, Problem> {
    let path = query.path.as_deref().unwrap_or(".");
    let place = app.place(path, query.session_id.as_deref())?;
    let failed = |err| explain_archive(&app, &err, &place);
    place.check(&app, Links::Follow).await.map_err(failed)?;
    let asked = ArchiveLimits {
        bytes: query.max_bytes,
        entries: query.max_entries,
        depth: query.max_depth,
    };
    let limits = archives::lower(asked, app.archive_limits);
    let archive =
        app.workspace.pack(&place.path, ArchiveFormat::Tar, limits).await.map_err(failed)?;
    let body = outgoing(archives::begun(archive).await.map_err(failed)?, place.path);
    Ok(([(CONTENT_TYPE, TAR)], INERT, ASK_AGAIN, body).into_response())
}

// What a member is called is the client's mistake, not the archive's.
fn explain_archive(app: &Visit, err: &Error, place: &Place) -> Problem {
    let named = ["invalid relative path", "tar entry escapes destination"];
    if named.iter().any(|words| err.message().starts_with(words)) {
        return Problem::invalid_request(err.message())
            .kind(ErrorKind::BadArchive.word())
            .hint("name the members of the archive relative to the directory, without `..`");
    }
    let problem = explain(app, err, Asked::Archive, &[place]);
    match exceeded(err) {
        Some((limit, most)) => problem.limit(limit, most),
        None => problem,
    }
}

/// Which limit an archive exceeded, by the name of its parameter. Only the message tells.
fn exceeded(err: &Error) -> Option<(&'static str, u64)> {
    let mut words = err.message().rsplit(' ');
    let (what, most) = (words.next()?, words.next()?);
    let limit = match what {
        _ if err.kind() != ErrorKind::LimitExceeded => return None,
        "bytes" => "maxBytes",
        "entries" => "maxEntries",
        "levels" => "maxDepth",
        _ => return None,
    };
    Some((limit, most.parse().ok()?))
}
