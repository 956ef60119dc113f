//! `fs-move` and `fs-copy`.

use axum::Json;
use engine::{SandboxPath, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::errors::{Refusals, explain};
use super::paths;
use super::wire::Stat;
use crate::json_body;
use crate::problem::Problem;
use crate::visit::Visit;

/// From one place to another.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Trip {
    /// Where it is, from the root of the sandbox on.
    pub(super) from: String,
    /// Where it goes.
    pub(super) to: String,
    /// What may be there.
    #[serde(default)]
    pub(super) target: WireTarget,
}

/// What may be at a destination.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireTarget {
    /// Nothing.
    #[default]
    New,
    /// Anything: it is replaced whole.
    Replace,
    /// Directories are merged, files replaced.
    Merge,
}

impl From<WireTarget> for Target {
    fn from(target: WireTarget) -> Self {
        match target {
            WireTarget::New => Self::New,
            WireTarget::Replace => Self::Replace,
            WireTarget::Merge => Self::Merge,
        }
    }
}

impl Trip {
    pub(super) fn ends(&self, strip: bool) -> engine::Result<(SandboxPath, SandboxPath)> {
        Ok((paths::of_text(&self.from, strip)?, paths::of_text(&self.to, strip)?))
    }
}

/// Move or rename anything; links themselves. Missing directories are made.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-move",
    operation_id = "moveSandboxEntry",
    tag = "sandbox files",
    params(("id" = String, Path, description = "The sandbox")),
    request_body = Trip,
    responses((status = 200, description = "As it is there", body = Stat), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn r#move(
    visit: Visit,
    json_body::Json(trip): json_body::Json<Trip>,
) -> Result<Json<Stat>, Problem> {
    let moved = async {
        let (from, to) = trip.ends(visit.strip_workspace_prefix)?;
        visit.workspace.rename(&from, &to, trip.target.into()).await
    };
    moved.await.map(|entry| Json(Stat::new(&entry))).map_err(|err| explain(&err))
}

/// Copy a file, a link itself, or a tree, with modes and times.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-copy",
    operation_id = "copySandboxEntry",
    tag = "sandbox files",
    params(("id" = String, Path, description = "The sandbox")),
    request_body = Trip,
    responses((status = 200, description = "As it is there", body = Stat), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn copy(
    visit: Visit,
    json_body::Json(trip): json_body::Json<Trip>,
) -> Result<Json<Stat>, Problem> {
    let copied = async {
        let (from, to) = trip.ends(visit.strip_workspace_prefix)?;
        visit.workspace.copy(&from, &to, trip.target.into()).await
    };
    copied.await.map(|entry| Json(Stat::new(&entry))).map_err(|err| explain(&err))
}
