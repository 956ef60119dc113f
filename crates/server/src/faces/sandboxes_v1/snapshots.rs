//! `snapshots`, `fork` and `diff`: the sandbox as it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use engine::{
    Difference, DifferenceKind, DotDot, Error, ErrorKind, NewKind, NewSandbox, NewSnapshot, Point,
    Role, SandboxId, SandboxPath, Snapshot, SnapshotId, Workspace,
};
use futures::TryStreamExt as _;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry::demand_whole;
use super::errors::{Refusals, explain, shown};
use super::paths;
use super::wire::{RawBytes, SandboxBody, Stat, WireLimits, time};
use crate::browsers::{ASK_AGAIN, INERT};
use crate::deeds::Doer;
use crate::problem::{Problem, logged, render};
use crate::query::{FromParams, Params, Query};
use crate::reading::outgoing;
use crate::visit::Visit;
use crate::{app::App, intake, json_body};

/// How many snapshots a page has when nobody says, and at most.
const MOST: u64 = 1000;

/// Which state of the sandbox is looked at.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AsOf {
    /// Look at this snapshot instead of the sandbox as it is now.
    #[param(nullable = false)]
    snapshot: Option<String>,
}

impl FromParams for AsOf {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { snapshot: params.optional("snapshot")? })
    }
}

impl AsOf {
    /// The caller's hold on that state.
    pub(super) async fn workspace(&self, visit: &Visit) -> Result<Workspace, Problem> {
        let Some(id) = &self.snapshot else { return Ok(visit.workspace.clone()) };
        if visit.caller.claim.is_some() || visit.caller.prefix().is_some() {
            let message = "whoever sees a part of a sandbox sees it as it is now";
            return Err(explain(&Error::new(ErrorKind::Forbidden, message)));
        }
        let held = async { visit.workspace.at_snapshot(&SnapshotId::parse(id)?).await };
        held.await.map_err(|err| explain(&err))
    }
}

/// The snapshot that an address names.
#[derive(Debug)]
pub(super) struct Named(SnapshotId);

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

/// Which snapshots are listed.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SnapshotsQuery {
    /// At most so many, and never more than 1000.
    #[param(value_type = u128, minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next_cursor` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
}

impl FromParams for SnapshotsQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let limit = params.number("limit")?;
        if limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
            return Err(Problem::invalid_request("`limit` is a number from 1 to 1000")
                .hint("ask for fewer, and go on with `next_cursor`"));
        }
        Ok(Self { limit, cursor: params.optional("cursor")? })
    }
}

/// List the snapshots of a sandbox.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/snapshots",
    operation_id = "listSnapshots",
    tag = "snapshots",
    params(("id" = String, Path, description = "The sandbox"), SnapshotsQuery),
    responses((status = 200, description = "Some of them", body = SnapshotList), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn list(
    visit: Visit,
    Query(query): Query<SnapshotsQuery>,
) -> Result<Json<SnapshotList>, Problem> {
    demand_whole(&visit, Role::Viewer, "see snapshots")?;
    let limit = usize::try_from(query.limit.unwrap_or(MOST)).unwrap_or(usize::MAX);
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

/// How a state is carried elsewhere.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportQuery {
    /// Only what this snapshot does not have.
    #[param(nullable = false)]
    since: Option<String>,
}

impl FromParams for ExportQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { since: params.optional("since")? })
    }
}

/// A snapshot as one stream of bytes, to be imported elsewhere.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/snapshots/{snapshot}/export",
    operation_id = "exportSnapshot",
    tag = "snapshots",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("snapshot" = String, Path, description = "The snapshot"),
        ExportQuery
    ),
    responses(
        (status = 200, description = "The stream", content_type = "application/octet-stream",
            body = RawBytes),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn export(
    visit: Visit,
    Named(id): Named,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    exported(&visit, Point::Snapshot(id), &query).await
}

/// The sandbox as it is now, as one stream of bytes, to be imported elsewhere.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/export",
    operation_id = "exportSandbox",
    tag = "snapshots",
    params(("id" = String, Path, description = "The sandbox"), ExportQuery),
    responses(
        (status = 200, description = "The stream", content_type = "application/octet-stream",
            body = RawBytes),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn export_live(
    visit: Visit,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    exported(&visit, Point::Live, &query).await
}

async fn exported(visit: &Visit, from: Point, query: &ExportQuery) -> Result<Response, Problem> {
    demand_whole(visit, Role::Viewer, "export snapshots")?;
    let stream = async {
        let since = query.since.as_deref().map(SnapshotId::parse).transpose()?;
        if let Point::Snapshot(id) = &from {
            visit.workspace.stat_snapshot(id).await?;
        }
        visit.workspace.export(from, since.as_ref()).await
    };
    let stream = stream.await.map_err(|err| explain(&err))?;
    let body = outgoing(stream, SandboxPath::root());
    let kind = [(CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, INERT, ASK_AGAIN, body).into_response())
}

/// What an imported snapshot is called.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ImportQuery {
    /// What it is called; a name that sorts by time is made up without it.
    #[param(nullable = false)]
    snapshot: Option<String>,
    /// What a person wants to know about it.
    #[param(nullable = false)]
    message: Option<String>,
    /// What a program wants to know about it: `key=value`. May be given several times.
    #[param(value_type = Vec<String>)]
    label: BTreeMap<String, String>,
}

impl FromParams for ImportQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let (snapshot, message) = (params.optional("snapshot")?, params.optional("message")?);
        let labels = params.all("label")?.into_iter().map(|text| match text.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(Problem::invalid_request("a `label` has no `=`")
                .hint("send it as `label=key=value`")),
        });
        Ok(Self { snapshot, message, label: labels.collect::<Result<_, _>>()? })
    }
}

/// Take in a stream that an export gave, as a snapshot.
///
/// A stream that is cut off, damaged or hostile changes nothing.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/snapshot-import",
    operation_id = "importSnapshot",
    tag = "snapshots",
    params(("id" = String, Path, description = "The sandbox"), ImportQuery),
    request_body(content = RawBytes, content_type = "application/octet-stream",
        description = "The stream"),
    responses((status = 201, description = "It is kept", body = SnapshotBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn import(
    visit: Visit,
    Query(query): Query<ImportQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<SnapshotBody>), Problem> {
    demand_whole(&visit, Role::Developer, "import snapshots")?;
    intake::refuse_encoded(&headers)?;
    let stream = intake::stream(body, visit.timeouts.progress);
    let taken = async {
        let id = query.snapshot.as_deref().map(SnapshotId::parse).transpose()?;
        let message = query.message.unwrap_or_default();
        let new = NewSnapshot { id, message, labels: query.label };
        visit.workspace.import(stream, new).await
    };
    let taken = taken.await.map_err(|err| explain(&err))?;
    Ok((StatusCode::CREATED, Json(taken.into())))
}

/// A sandbox that is to begin as a copy of this one.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ForkRequest {
    /// What it is called; made up without it.
    pub(super) id: Option<String>,
    /// A snapshot; as the sandbox is now without it.
    pub(super) snapshot: Option<String>,
    /// The absolute path at which clients of `/v1/fs` see the tree; `/` without it.
    pub(super) prefix: Option<String>,
    /// How much it may hold; as much as this one without it.
    pub(super) limits: Option<WireLimits>,
    /// What programs want to know about it.
    pub(super) labels: BTreeMap<String, String>,
    /// How many seconds it lives; for ever without it.
    pub(super) ttl: Option<u64>,
}

/// Make a sandbox that begins as a copy of this one. It costs the same whatever the size.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fork",
    operation_id = "forkSandbox",
    tag = "sandboxes",
    params(("id" = String, Path, description = "The sandbox")),
    request_body = ForkRequest,
    responses((status = 201, description = "It is made", body = SandboxBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn fork(
    visit: Visit,
    doer: Doer,
    json_body::Json(request): json_body::Json<ForkRequest>,
) -> Result<(StatusCode, Json<SandboxBody>), Problem> {
    demand_whole(&visit, Role::Owner, "fork sandboxes")?;
    let work = async {
        if !doer.caller.sees_all() {
            let message = "a key for some sandboxes may not make others";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        let ForkRequest { id, snapshot, prefix, limits, labels, ttl } = request;
        let from = point(snapshot.as_deref())?;
        let prefix = prefix.as_deref().unwrap_or("/");
        let new = NewSandbox {
            id: id.as_deref().map(SandboxId::parse).transpose()?,
            kind: NewKind::Fork { of: visit.workspace.sandbox().id.clone(), from },
            prefix: SandboxPath::parse(prefix, DotDot::Refuse)?,
            limits: limits.map(Into::into),
            labels,
            ttl: ttl.map(std::time::Duration::from_secs),
        };
        visit.registry.create(new).await
    };
    let made = doer.does("fork_sandbox", None, work, |made| Some(made.id.clone())).await;
    let made = made.map_err(|err| explain(&err))?;
    Ok((StatusCode::CREATED, Json(SandboxBody::new(made, true))))
}

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

/// The state that a snapshot is, or the present one without it.
fn point(id: Option<&str>) -> engine::Result<Point> {
    match id {
        Some(id) => SnapshotId::parse(id).map(Point::Snapshot),
        None => Ok(Point::Live),
    }
}

/// One path that differs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct DifferenceBody {
    /// Where, from the root of the sandbox on.
    pub(super) path: String,
    /// How: `added`, `removed`, `modified` or `renamed`.
    pub(super) change: String,
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
            DifferenceKind::Added => ("added", None),
            DifferenceKind::Removed => ("removed", None),
            DifferenceKind::Modified => ("modified", None),
            DifferenceKind::Renamed { from } => ("renamed", Some(shown(&from).to_owned())),
        };
        Self {
            path: shown(&path).to_owned(),
            change: change.to_owned(),
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

/// One line of JSON.
pub(super) fn line<T: Serialize>(value: &T) -> Bytes {
    let mut line = render(value);
    line.push(b'\n');
    line.into()
}
