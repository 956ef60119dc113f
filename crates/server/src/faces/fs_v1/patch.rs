//! `PATCH /v1/fs/file`: a part of a file, or more at its end.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use engine::{
    ByteStream, Create, Entry, Error, ErrorKind, If, Links, OpenFile, OpenOptions, Parents, Result,
    WriteMode, WriteOptions, Written,
};
use futures::TryStreamExt as _;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, HeaderName};
use http_body::Body as _;

use super::errors::{Asked, Problems, explain};
use super::file::written_response;
use super::paths::Place;
use super::precondition;
use super::wire::{FsPathQuery, FsWriteResponse, RawBytes};
use crate::app::App;
use crate::intake;
use crate::problem::Problem;
use crate::query::Query;
use crate::ranges::{self, Placed};

const APPEND: HeaderName = HeaderName::from_static("x-append");
/// How much is gathered before it is written.
const PIECE: usize = 256 * 1024;

/// Write a part of a file, or append to it.
///
/// Send either `Content-Range: bytes FIRST-LAST/*` or `X-Append: 1`. A missing file is made; what
/// lies between its end and the part reads as zeros. An append happens whole or not at all. A part
/// is written in place in pieces of 256 KiB, and a body that breaks off leaves the pieces before.
/// The conditions of a part are checked before its first piece.
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
            ("x-created" = String, description = "`1` if an append made the file"),
            ("x-in-place" = String, description = "`1` if a mount pins the file, so that it was written in place")
        )),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn patch(
    State(app): State<Arc<App>>,
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
    let length = body.size_hint().exact();
    let body = intake::stream(body, app.timeouts.progress);
    let written = match change {
        Change::Append => append(&app, &place, body, expected, length).await.map_err(failed)?,
        Change::Part(placed) => {
            let bytes = placed.range.end - placed.range.start;
            if length.is_some_and(|length| length != bytes) {
                return Err(wrong_length(bytes));
            }
            let entry = write_part(&app, &place, body, expected, &placed).await.map_err(failed)?;
            Written { entry, bytes, created: false, in_place: false }
        }
    };
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

async fn append(
    app: &App,
    place: &Place,
    body: ByteStream,
    expected: If,
    length: Option<u64>,
) -> Result<Written> {
    let (mode, parents) = (WriteMode::Append, Parents::Create);
    let options = WriteOptions { mode, parents, expected, length };
    app.workspace.write(&place.path, body, options).await
}

async fn write_part(
    app: &App,
    place: &Place,
    body: ByteStream,
    expected: If,
    placed: &Placed,
) -> Result<Entry> {
    let mut pieces = Pieces { body, left: placed.range.end - placed.range.start };
    // The first piece comes before the file is touched: a body that breaks off in it changes
    // nothing, and most parts have no second piece.
    let mut piece = pieces.next().await?;
    let file = open(app, place, expected).await?;
    if let Some(total) = placed.total {
        check_total(file.as_ref(), placed.range.end, total).await?;
    }
    let mut offset = placed.range.start;
    while let Some(bytes) = piece {
        let length = bytes.len() as u64;
        file.write_at(offset, bytes).await?;
        offset += length;
        piece = pieces.next().await?;
    }
    file.sync().await?;
    file.stat().await
}

async fn open(app: &App, place: &Place, expected: If) -> Result<Arc<dyn OpenFile>> {
    let create = match expected {
        If::Always | If::Differs(_) => Create::IfMissing,
        If::Missing => Create::New,
        If::Exists | If::Matches(_) => Create::Never,
    };
    let unexpected = match create {
        Create::IfMissing => None,
        Create::New => Some(ErrorKind::AlreadyExists),
        Create::Never => Some(ErrorKind::NotFound),
    };
    let file = match app.workspace.open(&place.path, OpenOptions::Write(create)).await {
        Err(err) if Some(err.kind()) == unexpected => return Err(precondition::failed()),
        opened => opened?,
    };
    if create != Create::New {
        precondition::check(&expected, file.stat().await?.version.as_ref())?;
    }
    Ok(file)
}

async fn check_total(file: &dyn OpenFile, end: u64, total: u64) -> Result<()> {
    let after = file.stat().await?.size.max(end);
    if after == total {
        return Ok(());
    }
    let message = format!("the file would have {after} bytes instead of {total}");
    Err(Error::new(ErrorKind::PreconditionFailed, message))
}

/// A body in pieces of one size, which together have the length of their range.
struct Pieces {
    body: ByteStream,
    left: u64,
}

impl Pieces {
    /// The next piece; none at the end. A body that turns out short gives no last piece.
    async fn next(&mut self) -> Result<Option<Bytes>> {
        let mut piece = BytesMut::new();
        while piece.len() < PIECE {
            let Some(bytes) = self.body.try_next().await? else {
                self.check_end()?;
                break;
            };
            self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| {
                Error::new(ErrorKind::BrokenBody, "the body is longer than its content-range")
            })?;
            piece.extend_from_slice(&bytes);
        }
        Ok((!piece.is_empty()).then(|| piece.freeze()))
    }

    fn check_end(&self) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::BrokenBody, "the body is shorter than its content-range"))
    }
}
