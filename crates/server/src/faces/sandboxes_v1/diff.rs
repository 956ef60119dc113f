//! `diff`: two states compared.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use engine::{Difference, DifferenceKind, Role, SandboxPath};
use futures::TryStreamExt as _;
use http::header::CONTENT_TYPE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::as_of::point;
use super::entry::demand_whole;
use super::errors::{Refusals, explain, shown};
use super::wire::{Stat, line};
use crate::browsers::ASK_AGAIN;
use crate::problem::{Problem, logged};
use crate::query::{FromParams, Params, Query};
use crate::visit::Visit;

/// Which states are compared.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DiffQuery {
    /// The snapshot that is compared; the sandbox as it is now without it.
    #[param(nullable = false)]
    from: Option<String>,
    /// With which snapshot; with the sandbox as it is now without it.
    #[param(nullable = false)]
    to: Option<String>,
}

impl FromParams for DiffQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let (from, to) = (params.optional("from")?, params.optional("to")?);
        if from.is_none() && to.is_none() {
            return Err(Problem::invalid_request("neither `from` nor `to` names a snapshot")
                .hint("add `?from=ID` to see what changed since that snapshot"));
        }
        Ok(Self { from, to })
    }
}

/// How a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum DifferenceWord {
    /// There was nothing.
    Added,
    /// There is nothing any more.
    Removed,
    /// It is another than before.
    Modified,
    /// It lay elsewhere before.
    Renamed,
}

/// One path that differs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct DifferenceBody {
    /// Where, from the root of the sandbox on.
    pub(super) path: String,
    /// How.
    pub(super) change: DifferenceWord,
    /// Where it was before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) from: Option<String>,
    /// What was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) before: Option<Stat>,
    /// What is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) after: Option<Stat>,
}

impl From<Difference> for DifferenceBody {
    fn from(difference: Difference) -> Self {
        let Difference { path, kind, before, after } = difference;
        let (change, from) = match kind {
            DifferenceKind::Added => (DifferenceWord::Added, None),
            DifferenceKind::Removed => (DifferenceWord::Removed, None),
            DifferenceKind::Modified => (DifferenceWord::Modified, None),
            DifferenceKind::Renamed { from } => {
                (DifferenceWord::Renamed, Some(shown(&from).to_owned()))
            }
        };
        Self {
            path: shown(&path).to_owned(),
            change,
            from,
            before: before.as_ref().map(Stat::new),
            after: after.as_ref().map(Stat::new),
        }
    }
}

/// What must happen to one state to become another: to a snapshot, or to what is there now.
///
/// One JSON object a line, in the order of the paths. It costs what differs, not what there is.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/diff",
    operation_id = "diffSandbox",
    tag = "snapshots",
    params(("id" = String, Path, description = "The sandbox"), DiffQuery),
    responses(
        (status = 200, description = "What differs", content_type = "application/x-ndjson",
            body = DifferenceBody),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn diff(
    visit: Visit,
    Query(query): Query<DiffQuery>,
) -> Result<Response, Problem> {
    demand_whole(&visit, Role::Viewer, "compare snapshots")?;
    let found = async {
        let (from, to) = (point(query.from.as_deref())?, point(query.to.as_deref())?);
        visit.workspace.diff(from, to).await
    };
    let found = found.await.map_err(|err| explain(&err))?;
    let lines = found.map_ok(|difference| line(&DifferenceBody::from(difference)));
    let body = Body::from_stream(lines.map_err(|err| logged(err, &SandboxPath::root())));
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], ASK_AGAIN, body).into_response())
}
