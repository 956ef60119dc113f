//! `export` and `snapshot-import`: a state carried from one sandbox to another.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use engine::{NewSnapshot, Point, Role, SandboxPath, SnapshotId};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

use super::entry::demand_whole;
use super::errors::{Refusals, explain};
use super::snapshots::{Named, SnapshotBody};
use super::wire::RawBytes;
use crate::browsers::{ASK_AGAIN, INERT};
use crate::intake;
use crate::problem::Problem;
use crate::query::{FromParams, Params, Query};
use crate::reading::outgoing;
use crate::visit::Visit;

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
    #[param(required = false, value_type = Vec<String>)]
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
