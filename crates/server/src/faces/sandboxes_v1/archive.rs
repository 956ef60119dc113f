//! `/v1/sandboxes/{id}/fs-archive/{path}`: many files as one archive.

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use engine::{ArchiveFormat, ArchiveLimits, Error, Unpacked};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::as_of::AsOf;
use super::errors::{Refusals, explain, explain_look, shown};
use super::paths::Place;
use super::wire::RawBytes;
use crate::browsers::{ASK_AGAIN, INERT};
use crate::problem::Problem;
use crate::query::{FromParams, Params, Query};
use crate::reading::outgoing;
use crate::visit::Visit;
use crate::{archives, intake};

/// How an archive is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
pub(super) enum Format {
    /// As a tar archive, not compressed.
    #[serde(rename = "tar")]
    Tar,
    /// As a tar archive, compressed by gzip.
    #[serde(rename = "tar.gz")]
    TarGz,
    /// As a tar archive, compressed by Zstandard.
    #[serde(rename = "tar.zst")]
    TarZst,
    /// As a zip archive.
    #[serde(rename = "zip")]
    Zip,
}

impl Format {
    const ALL: [Self; 4] = [Self::Tar, Self::TarGz, Self::TarZst, Self::Zip];

    fn media_type(self) -> &'static str {
        match self {
            Self::Tar => "application/x-tar",
            Self::TarGz => "application/gzip",
            Self::TarZst => "application/zstd",
            Self::Zip => "application/zip",
        }
    }

    /// The format that a body is said to have.
    fn of_body(headers: &HeaderMap) -> Option<Self> {
        let said = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim();
        Self::ALL.into_iter().find(|format| format.media_type().eq_ignore_ascii_case(said))
    }
}

impl From<Format> for ArchiveFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Tar => Self::Tar,
            Format::TarGz => Self::TarGz,
            Format::TarZst => Self::TarZst,
            Format::Zip => Self::Zip,
        }
    }
}

/// What is packed or unpacked.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Packing {
    /// How the archive is written; of an archive that is sent, what its content type says without
    /// it, and else tar.
    #[param(nullable = false, inline)]
    format: Option<Format>,
    /// At most so many bytes of content.
    #[param(required = false, value_type = u128)]
    max_bytes: Option<u64>,
    /// At most so many members.
    #[param(required = false, value_type = u128)]
    max_entries: Option<u64>,
    /// At most so many names in a member's path.
    #[param(required = false, value_type = u128)]
    max_depth: Option<u64>,
}

impl FromParams for Packing {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self {
            format: params.word("format")?,
            max_bytes: params.number("max_bytes")?,
            max_entries: params.number("max_entries")?,
            max_depth: params.number("max_depth")?,
        })
    }
}

impl Packing {
    fn limits(&self) -> ArchiveLimits {
        let (bytes, entries, depth) = (self.max_bytes, self.max_entries, self.max_depth);
        ArchiveLimits { bytes, entries, depth }
    }
}

/// Pack what a directory holds, or one file.
///
/// The archive is written while it is packed; a failure in the middle breaks the answer off.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/fs-archive/{path}",
    operation_id = "packSandboxEntry",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "From the root of the sandbox on"),
        Packing,
        AsOf
    ),
    responses(
        (status = 200, description = "The archive", content_type = "application/x-tar",
            body = RawBytes),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn pack(
    visit: Visit,
    place: Place,
    Query(packing): Query<Packing>,
    Query(as_of): Query<AsOf>,
) -> Result<Response, Problem> {
    let failed = |err: Error| explain_look(&err);
    let workspace = as_of.workspace(&visit).await?;
    let limits = archives::lower(packing.limits(), visit.archive_limits);
    let format = packing.format.unwrap_or(Format::Tar);
    let archive = workspace.pack(&place.path, format.into(), limits).await.map_err(failed)?;
    let body = outgoing(archives::begun(archive).await.map_err(failed)?, place.path);
    let kind = [(CONTENT_TYPE, format.media_type())];
    Ok((kind, INERT, ASK_AGAIN, body).into_response())
}

/// What an archive put in place.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct UnpackedBody {
    /// How many members there were.
    pub(super) entries: u64,
    /// Where they are, in the order of the archive: the first 1,024 of them.
    pub(super) paths: Vec<String>,
    /// Whether there were more.
    pub(super) truncated: bool,
}

impl From<Unpacked> for UnpackedBody {
    fn from(unpacked: Unpacked) -> Self {
        let Unpacked { paths, entries } = unpacked;
        let truncated = entries > paths.len() as u64;
        let paths = paths.iter().map(|path| shown(path).to_owned()).collect();
        Self { entries, paths, truncated }
    }
}

/// Unpack an archive into a directory, which is made.
///
/// An archive that is broken or holds a name that leads elsewhere leaves nothing behind.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-archive/{path}",
    operation_id = "unpackSandboxArchive",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The directory, from the root of the sandbox on"),
        Packing
    ),
    request_body(content = RawBytes, content_type = "application/x-tar",
        description = "The archive; any or no content type"),
    responses((status = 200, description = "It is unpacked", body = UnpackedBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn unpack(
    visit: Visit,
    place: Place,
    Query(packing): Query<Packing>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<UnpackedBody>, Problem> {
    intake::refuse_encoded(&headers)?;
    let archive = intake::stream(body, visit.timeouts.progress);
    let format = packing.format.or_else(|| Format::of_body(&headers)).unwrap_or(Format::Tar);
    let (format, limits) = (ArchiveFormat::from(format), packing.limits());
    let unpacked = visit.workspace.unpack(&place.path, archive, format, limits).await;
    unpacked.map(|unpacked| Json(unpacked.into())).map_err(|err| explain(&err))
}
