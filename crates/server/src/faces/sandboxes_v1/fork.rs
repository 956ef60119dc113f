//! `fork`: a sandbox that begins as a copy.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use engine::{DotDot, Error, ErrorKind, NewKind, NewSandbox, Role, SandboxId, SandboxPath};
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::as_of::point;
use super::entry::demand_whole;
use super::errors::{Refusals, explain};
use super::sandboxes::told_made;
use super::wire::{Origin, SandboxBody, WireLimits};
use crate::deeds::{Deed, Doer};
use crate::json_body;
use crate::problem::Problem;
use crate::visit::Visit;

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
    let source = visit.workspace.sandbox().id.clone();
    let origin = Origin { sandbox: source.to_string(), snapshot: request.snapshot.clone() };
    let deed = origin.told(Deed::new("fork_sandbox")).also_in(&source);
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
            kind: NewKind::Fork { of: source, from },
            prefix: SandboxPath::parse(prefix, DotDot::Refuse)?,
            limits: limits.map(Into::into),
            labels,
            ttl: ttl.map(Duration::from_secs),
        };
        visit.registry.create(new).await
    };
    let made = doer.does(deed, work, told_made).await;
    let made = made.map_err(|err| explain(&err))?;
    Ok((StatusCode::CREATED, Json(SandboxBody::new(made, true))))
}
