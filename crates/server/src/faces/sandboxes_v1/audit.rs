//! `audit`: who did what.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{AuditCursor, AuditEvent, AuditLog, AuditPage, Error, ErrorKind, Outcome, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::errors::{Refusals, explain, shown};
use super::pages::PageQuery;
use super::sandboxes::Seen;
use super::wire::time;
use crate::app::App;
use crate::deeds::Doer;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::demand;

/// Something that somebody did, or was not let do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub struct EventBody {
    /// When it ended (RFC 3339).
    pub time: String,
    /// The id of the key, or `token`; absent where nobody had to show one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub key: Option<String>,
    /// The sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sandbox: Option<String>,
    /// What was asked for.
    #[schema(example = "write")]
    pub operation: String,
    /// Of what, from the root of the sandbox on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// From where it was moved or copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub from: Option<String>,
    /// `ok`, `refused`, `abandoned`, `lost`, or the kind of the failure.
    #[schema(example = "ok")]
    pub outcome: String,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<String>,
    /// How many events before this one were lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lost: Option<u64>,
    /// How many bytes were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub bytes: Option<u64>,
    /// The version that is there since.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub version: Option<String>,
    /// The id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub request: Option<String>,
    /// What else it was about: the id of a key or of a snapshot, the sandbox that a fork is of, or
    /// what was spelled where a path was meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub subject: Option<String>,
    /// How many there were, where one event tells of many: steps of a batch, entries of an archive,
    /// refusals that are not told one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub count: Option<u64>,
}

impl From<&AuditEvent> for EventBody {
    fn from(event: &AuditEvent) -> Self {
        let path = |path: &engine::SandboxPath| shown(path).to_owned();
        let (reason, lost) = match &event.outcome {
            Outcome::Refused(reason) => (Some(reason.to_string()), None),
            Outcome::Lost(count) => (None, Some(*count)),
            Outcome::Done | Outcome::Failed(_) | Outcome::Abandoned => (None, None),
        };
        Self {
            time: time(event.time),
            key: event.by.as_ref().map(|by| by.as_str().to_owned()),
            sandbox: event.sandbox.as_ref().map(ToString::to_string),
            operation: event.operation.to_string(),
            path: event.path.as_ref().map(path),
            from: event.from.as_ref().map(path),
            outcome: event.outcome.word().to_owned(),
            reason,
            lost,
            bytes: event.bytes,
            version: event.version.as_ref().map(ToString::to_string),
            request: event.request.as_deref().map(ToOwned::to_owned),
            subject: event.subject.as_deref().map(ToOwned::to_owned),
            count: event.count,
        }
    }
}

/// Some of the events.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct EventList {
    /// The events, in the order in which they were recorded.
    pub(super) events: Vec<EventBody>,
    /// What to send as `cursor` to go on behind them, now or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) cursor: Option<String>,
    /// Whether there are more by now.
    pub(super) more: bool,
    /// Whether events before these are gone, because they were too old or too many.
    pub(super) gap: bool,
}

impl From<AuditPage> for EventList {
    fn from(page: AuditPage) -> Self {
        let AuditPage { events, next, more, gap } = page;
        let events = events.iter().map(EventBody::from).collect();
        Self { events, cursor: next.map(|cursor| cursor.to_string()), more, gap }
    }
}

/// What was done in a sandbox, and what was refused.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/audit",
    operation_id = "sandboxAudit",
    tag = "audit",
    params(("id" = String, Path, description = "The sandbox"), PageQuery),
    responses((status = 200, description = "Some of the events", body = EventList), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn of_sandbox(
    State(app): State<Arc<App>>,
    doer: Doer,
    Seen(id): Seen,
    Query(query): Query<PageQuery>,
) -> Result<Json<EventList>, Problem> {
    let page = async {
        demand(&doer.caller, Role::Owner, "read the audit")?;
        if doer.caller.prefix().is_some() {
            let message = "a key for a part of a sandbox may not read its audit";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        events(&app, &AuditLog::Sandbox(id), &query).await
    };
    page.await.map(|page| Json(page.into())).map_err(|err| explain(&err))
}

/// What concerns the server: sandboxes made, changed and removed, keys made and revoked.
#[utoipa::path(
    get,
    path = "/v1/audit",
    operation_id = "serverAudit",
    tag = "audit",
    params(PageQuery),
    responses((status = 200, description = "Some of the events", body = EventList), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn of_server(
    State(app): State<Arc<App>>,
    doer: Doer,
    Query(query): Query<PageQuery>,
) -> Result<Json<EventList>, Problem> {
    whole(&app, &doer, &AuditLog::Server, &query).await
}

/// Who was not let in, asked for a sandbox that his key may not see, or asked too often.
#[utoipa::path(
    get,
    path = "/v1/audit/gate",
    operation_id = "gateAudit",
    tag = "audit",
    params(PageQuery),
    responses((status = 200, description = "Some of the events", body = EventList), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn of_gate(
    State(app): State<Arc<App>>,
    doer: Doer,
    Query(query): Query<PageQuery>,
) -> Result<Json<EventList>, Problem> {
    whole(&app, &doer, &AuditLog::Gate, &query).await
}

async fn whole(
    app: &App,
    doer: &Doer,
    log: &AuditLog,
    query: &PageQuery,
) -> Result<Json<EventList>, Problem> {
    let page = async {
        demand(&doer.caller, Role::Owner, "read the audit")?;
        if !doer.caller.sees_all() || doer.caller.prefix().is_some() {
            let message = "a key for some sandboxes may not read the audit of the server";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        events(app, log, query).await
    };
    page.await.map(|page| Json(page.into())).map_err(|err| explain(&err))
}

async fn events(app: &App, log: &AuditLog, query: &PageQuery) -> engine::Result<AuditPage> {
    let after = query.cursor.as_deref().map(AuditCursor::parse).transpose()?;
    app.audit.events(log, after, query.limit()).await
}
