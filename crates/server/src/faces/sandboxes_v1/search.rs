//! `fs-search`: names and lines.

use std::num::NonZero;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use engine::{
    Finding, FoundLine, Letters, Pattern, SandboxPath, SearchBudget, SearchQuery, SearchSummary,
    Syntax,
};
use futures::TryStreamExt as _;
use http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::as_of::AsOf;
use super::errors::{Refusals, explain_look, shown};
use super::paths::Place;
use super::wire::{Stat, line};
use crate::browsers::ASK_AGAIN;
use crate::json_body;
use crate::problem::{Problem, logged};
use crate::query::Query;
use crate::visit::Visit;

/// What is looked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SearchRequest {
    /// What lines must match; names alone are looked for without it.
    pub(super) pattern: Option<String>,
    /// Whether every character of the pattern means itself; it is a regular expression otherwise.
    pub(super) literal: bool,
    /// Whether capital letters matter: `exact`, `alike`, or `smart` (if the pattern has one).
    pub(super) letters: WireLetters,
    /// Whether the pattern must stand as a word of its own.
    pub(super) words: bool,
    /// A glob that names must fit, or paths if it has a slash.
    pub(super) glob: Option<String>,
    /// Whether names that begin with a dot are looked at.
    pub(super) hidden: bool,
    /// Whether what `.gitignore` and `.ignore` files name, and `.git` itself, is left out.
    pub(super) ignore: bool,
    /// At most so many levels: 1 is the names of the directory where it begins.
    #[schema(value_type = Option<u64>, minimum = 1, nullable = false)]
    pub(super) max_depth: Option<NonZero<usize>>,
    /// At most so many results, and never more than 10,000.
    #[schema(maximum = 10000, nullable = false)]
    pub(super) max_results: Option<u64>,
    /// At most so many bytes of files are read.
    pub(super) max_bytes: Option<u64>,
    /// It takes at most so many milliseconds.
    pub(super) max_millis: Option<u64>,
}

/// Whether capital letters matter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireLetters {
    /// They do.
    #[default]
    Exact,
    /// They do not.
    Alike,
    /// They do if the pattern has one.
    Smart,
}

/// The longest that one search may take.
const LONGEST: Duration = Duration::from_mins(5);

impl From<SearchRequest> for SearchQuery {
    fn from(request: SearchRequest) -> Self {
        let usual = SearchBudget::default();
        let letters = match request.letters {
            WireLetters::Exact => Letters::Exact,
            WireLetters::Alike => Letters::Alike,
            WireLetters::Smart => Letters::Smart,
        };
        let syntax = if request.literal { Syntax::Literal } else { Syntax::Regex };
        let results = request.max_results.map_or(usual.results, |most| {
            usize::try_from(most).unwrap_or(usize::MAX).min(SearchBudget::MOST_RESULTS)
        });
        let time = request.max_millis.map_or(usual.time, Duration::from_millis);
        let words = request.words;
        Self {
            names: request.glob,
            content: request.pattern.map(|text| Pattern { text, syntax, letters, words }),
            hidden: request.hidden,
            heed_ignore_files: request.ignore,
            depth: request.max_depth.map(NonZero::get),
            budget: SearchBudget {
                results,
                bytes: request.max_bytes.unwrap_or(usual.bytes),
                time: time.min(LONGEST),
            },
        }
    }
}

/// One line of the answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum FindingBody {
    /// A name that fits.
    Name(Stat),
    /// A line that matches.
    Line(LineBody),
    /// How it ended: always the last line.
    End(EndBody),
}

/// A line that matches.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct LineBody {
    /// The file, from the root of the sandbox on.
    pub(super) path: String,
    /// Which line, from 1 on.
    pub(super) line: u64,
    /// Where it begins in the file, in bytes.
    pub(super) offset: u64,
    /// The line, without its end.
    pub(super) text: String,
    /// Whether only a part of it is shown.
    pub(super) cut: bool,
    /// Where in `text` the matches are, in bytes: first, and first behind.
    pub(super) matches: Vec<[usize; 2]>,
}

/// How a search ended.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct EndBody {
    /// Why: `complete`, `depth` if directories lie deeper than was asked for, or which budget was used up.
    pub(super) reason: String,
    /// Whether there may be more.
    pub(super) truncated: bool,
    /// How many names or lines were found.
    pub(super) results: u64,
    /// How many files were read.
    pub(super) files: u64,
    /// How many bytes of them.
    pub(super) bytes: u64,
    /// How many were passed by because they are not text.
    pub(super) binary: u64,
    /// How many could not be read.
    pub(super) unreadable: u64,
}

impl From<Finding> for FindingBody {
    fn from(finding: Finding) -> Self {
        match finding {
            Finding::Entry(entry) => Self::Name(Stat::new(&entry)),
            Finding::Line(found) => Self::Line(found.into()),
            Finding::End(summary) => Self::End(summary.into()),
        }
    }
}

impl From<FoundLine> for LineBody {
    fn from(found: FoundLine) -> Self {
        let FoundLine { path, number, offset, text, is_cut, matches } = found;
        let matches = matches.into_iter().map(|range| [range.start, range.end]).collect();
        Self { path: shown(&path).to_owned(), line: number, offset, text, cut: is_cut, matches }
    }
}

impl From<SearchSummary> for EndBody {
    fn from(summary: SearchSummary) -> Self {
        let SearchSummary { end, results, files, bytes, binary, unreadable } = summary;
        let reason = end.word().to_owned();
        let truncated = reason != "complete";
        Self { reason, truncated, results, files, bytes, binary, unreadable }
    }
}

/// Look for lines in files, or for names.
///
/// One JSON object a line, as they are found; the last one says how it ended.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-search/{path}",
    operation_id = "searchSandbox",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "Where it begins, from the root of the sandbox on; \
            everywhere without it"),
        AsOf
    ),
    request_body = SearchRequest,
    responses(
        (status = 200, description = "What was found", content_type = "application/x-ndjson",
            body = FindingBody),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn search(
    visit: Visit,
    place: Place,
    Query(as_of): Query<AsOf>,
    json_body::Json(request): json_body::Json<SearchRequest>,
) -> Result<Response, Problem> {
    let workspace = as_of.workspace(&visit).await?;
    let found = workspace.search(&place.path, &request.into()).await;
    let found = found.map_err(|err| explain_look(&err))?;
    let lines = found.map_ok(|finding| line(&FindingBody::from(finding)));
    let body = Body::from_stream(lines.map_err(|err| logged(err, &SandboxPath::root())));
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], ASK_AGAIN, body).into_response())
}
