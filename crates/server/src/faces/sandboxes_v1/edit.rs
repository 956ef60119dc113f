//! `fs-edit`: exact replacements in a text file.

use axum::Json;
use engine::{Edit, EditLimits, Edited, Error, ErrorKind, ExpectedCount, Links, Replacement};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::errors::{Refusals, explain};
use super::paths::Place;
use super::wire::Stat;
use crate::expectation;
use crate::json_body;
use crate::problem::Problem;
use crate::visit::Visit;

/// The longest request: many times what a model writes at once.
const MOST_BYTES: usize = 8 << 20;

/// What is to be replaced in a file.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditRequest {
    /// What is replaced, in order: each in the outcome of the ones before.
    #[schema(min_items = 1, max_items = 1000)]
    pub(super) replacements: Vec<WireReplacement>,
    /// Whether the file stays as it is, and only the outcome is told.
    #[serde(default)]
    pub(super) dry_run: bool,
    /// How the bytes stand for text, such as `utf-16le` or `windows-1252`. Without it the byte order
    /// mark says so, or else it is UTF-8.
    #[serde(default)]
    pub(super) encoding: Option<String>,
}

/// A text that another one takes the place of.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WireReplacement {
    /// What is looked for, exactly. A `\n` fits every end of a line.
    pub(super) old: String,
    /// What takes its place.
    pub(super) new: String,
    /// How often it must be there [default: once].
    #[serde(default)]
    pub(super) count: Option<u64>,
    /// Whether every one is replaced, if there is at least one.
    #[serde(default)]
    pub(super) all: bool,
}

impl WireReplacement {
    fn wish(self) -> engine::Result<Replacement> {
        let Self { old, new, count, all } = self;
        let count = match (count, all) {
            (None, false) => ExpectedCount::default(),
            (Some(count), false) => ExpectedCount::Exactly(count),
            (None, true) => ExpectedCount::All,
            (Some(_), true) => {
                let message = "`count` and `all` contradict each other";
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
        };
        Ok(Replacement { old, new, count })
    }
}

/// What an edit did, or would do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct EditBody {
    /// The file as it is now.
    pub(super) entry: Stat,
    /// How often each replacement was made.
    pub(super) replaced: Vec<u64>,
    /// The differences as a unified diff.
    pub(super) diff: String,
    /// Whether more differs than the diff tells.
    pub(super) truncated: bool,
}

impl From<Edited> for EditBody {
    fn from(edited: Edited) -> Self {
        let Edited { entry, replaced, diff, is_cut } = edited;
        Self { entry: Stat::new(&entry), replaced, diff, truncated: is_cut }
    }
}

/// Replace texts in a file, exactly.
///
/// Each must be there as often as expected, or nothing changes. Encoding, byte order mark, ends of
/// lines and mode stay. What somebody else changes meanwhile is never lost.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-edit/{path}",
    operation_id = "editSandboxFile",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The file, from the root of the sandbox on"),
        ("If-Match" = Option<String>, Header, description = "Change only this ETag"),
        ("If-Unmodified-Since" = Option<String>, Header, description = "Fail if it is younger"),
    ),
    request_body = EditRequest,
    responses((status = 200, description = "What was replaced", body = EditBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn edit(
    visit: Visit,
    place: Place,
    headers: HeaderMap,
    json_body::Json(request): json_body::Json<EditRequest, MOST_BYTES>,
) -> Result<Json<EditBody>, Problem> {
    let failed = |err: Error| explain(&err);
    let (workspace, file) = (&visit.workspace, &place.path);
    place.must_be_file().map_err(failed)?;
    let expected = expectation::expected(workspace, &headers, file, Links::Follow, failed).await?;
    let edited = async {
        let EditRequest { replacements, dry_run, encoding } = request;
        let encoding = encoding.as_deref().map(engine::Encoding::named).transpose()?;
        let replacements = replacements.into_iter().map(WireReplacement::wish);
        let replacements = replacements.collect::<engine::Result<_>>()?;
        let limits = EditLimits::default();
        let wish = Edit { replacements, dry_run, expected, encoding, limits };
        workspace.edit(file, wish).await
    };
    edited.await.map(|edited| Json(edited.into())).map_err(failed)
}
