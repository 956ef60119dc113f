//! `snapshots`: the sandbox as it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams};
use engine::{NewSnapshot, Role, Snapshot, SnapshotId};
use http::StatusCode;
use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry::demand_whole;
use super::errors::{Refusals, explain};
use super::pages::PageQuery;
use super::paths;
use super::wire::time;
use crate::app::App;
use crate::json_body;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::Visit;

/// The snapshot that an address names.
#[derive(Debug)]
pub(super) struct Named(pub(super) SnapshotId);

impl FromRequestParts<Arc<App>> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<App>) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let mut named = params.iter().flatten().filter(|(name, _)| *name == "snapshot");
        let text = named.next().map(|(_, value)| value).unwrap_or_default();
        SnapshotId::parse(text).map(Self).map_err(|err| explain(&err))
    }
}

/// A snapshot that is to be taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NewSnapshotRequest {
    /// What it is called; a name that sorts by time is made up without it.
    pub(super) id: Option<String>,
    /// What a person wants to know about it.
    pub(super) message: String,
    /// What a program wants to know about it.
    pub(super) labels: BTreeMap<String, String>,
}

impl NewSnapshotRequest {
    fn wish(self) -> engine::Result<NewSnapshot> {
        let Self { id, message, labels } = self;
        let id = id.as_deref().map(SnapshotId::parse).transpose()?;
        Ok(NewSnapshot { id, message, labels })
    }
}

/// A snapshot.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct SnapshotBody {
    /// What it is called.
    pub(super) id: String,
    /// When it was taken (RFC 3339).
    pub(super) created_at: String,
    /// What a person wants to know about it.
    pub(super) message: String,
    /// What a program wants to know about it.
    pub(super) labels: BTreeMap<String, String>,
    /// The lengths of all its files, added up.
    pub(super) bytes: u64,
    /// Everything in it that is not a directory.
    pub(super) files: u64,
    /// Its directories, the root among them.
    pub(super) directories: u64,
}

impl From<Snapshot> for SnapshotBody {
    fn from(snapshot: Snapshot) -> Self {
        let Snapshot { id, created, message, labels, usage } = snapshot;
        let (bytes, files, directories) = (usage.bytes, usage.files, usage.directories);
        let created_at = time(created);
        Self { id: id.to_string(), created_at, message, labels, bytes, files, directories }
    }
}

/// Some of the snapshots.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct SnapshotList {
    /// Those that were found, in the order of their ids.
    pub(super) snapshots: Vec<SnapshotBody>,
    /// What to send as `cursor` for the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) next_cursor: Option<String>,
}

/// List the snapshots of a sandbox.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/snapshots",
    operation_id = "listSnapshots",
    tag = "snapshots",
    params(("id" = String, Path, description = "The sandbox"), PageQuery),
    responses((status = 200, description = "Some of them", body = SnapshotList), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn list(
    visit: Visit,
    Query(query): Query<PageQuery>,
) -> Result<Json<SnapshotList>, Problem> {
    demand_whole(&visit, Role::Viewer, "see snapshots")?;
    let limit = query.limit();
    let found = async {
        let after = query.cursor.as_deref().map(SnapshotId::parse).transpose()?;
        visit.workspace.list_snapshots(after.as_ref(), limit).await
    };
    let found = found.await.map_err(|err| explain(&err))?;
    let last = found.last().filter(|_| found.len() == limit);
    let next_cursor = last.map(|last| last.id.to_string());
    let snapshots = found.into_iter().map(SnapshotBody::from).collect();
    Ok(Json(SnapshotList { snapshots, next_cursor }))
}

/// Keep the sandbox as it is now.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/snapshots",
    operation_id = "createSnapshot",
    tag = "snapshots",
    params(("id" = String, Path, description = "The sandbox")),
    request_body = NewSnapshotRequest,
    responses((status = 201, description = "It is kept", body = SnapshotBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn create(
    visit: Visit,
    json_body::Json(request): json_body::Json<NewSnapshotRequest>,
) -> Result<(StatusCode, Json<SnapshotBody>), Problem> {
    demand_whole(&visit, Role::Developer, "take snapshots")?;
    let taken = async { visit.workspace.snapshot(request.wish()?).await };
    let taken = taken.await.map_err(|err| explain(&err))?;
    Ok((StatusCode::CREATED, Json(taken.into())))
}

/// What is known of a snapshot.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/snapshots/{snapshot}",
    operation_id = "getSnapshot",
    tag = "snapshots",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("snapshot" = String, Path, description = "The snapshot")
    ),
    responses((status = 200, description = "It is there", body = SnapshotBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn show(visit: Visit, Named(id): Named) -> Result<Json<SnapshotBody>, Problem> {
    demand_whole(&visit, Role::Viewer, "see snapshots")?;
    let found = visit.workspace.stat_snapshot(&id).await;
    found.map(|found| Json(found.into())).map_err(|err| explain(&err))
}

/// Forget a snapshot.
#[utoipa::path(
    delete,
    path = "/v1/sandboxes/{id}/snapshots/{snapshot}",
    operation_id = "deleteSnapshot",
    tag = "snapshots",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("snapshot" = String, Path, description = "The snapshot")
    ),
    responses((status = 204, description = "It is gone"), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn delete(visit: Visit, Named(id): Named) -> Result<StatusCode, Problem> {
    demand_whole(&visit, Role::Developer, "forget snapshots")?;
    let deleted = visit.workspace.delete_snapshot(&id).await;
    deleted.map(|()| StatusCode::NO_CONTENT).map_err(|err| explain(&err))
}

/// What is brought back.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RestoreRequest {
    /// Only this path, from the root of the sandbox on; everything without it.
    pub(super) path: Option<String>,
}

/// Bring back the sandbox, or one path of it, as it was.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/snapshots/{snapshot}/restore",
    operation_id = "restoreSnapshot",
    tag = "snapshots",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("snapshot" = String, Path, description = "The snapshot")
    ),
    request_body = RestoreRequest,
    responses((status = 204, description = "It is as it was"), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn restore(
    visit: Visit,
    Named(id): Named,
    json_body::Json(request): json_body::Json<RestoreRequest>,
) -> Result<StatusCode, Problem> {
    demand_whole(&visit, Role::Developer, "bring back snapshots")?;
    let restored = async {
        let path = request.path.as_deref().unwrap_or_default();
        let path = paths::of_text(path, visit.strip_workspace_prefix)?;
        visit.workspace.restore(&id, &path).await
    };
    restored.await.map(|()| StatusCode::NO_CONTENT).map_err(|err| explain(&err))
}
