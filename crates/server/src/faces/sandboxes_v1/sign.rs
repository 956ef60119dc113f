//! `sign`: addresses that need no key.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Access, Actor, Claim, Error, ErrorKind, Role, SandboxPath, Told, UnixTime};
use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::errors::{Refusals, explain};
use super::keys::in_seconds;
use super::paths;
use super::wire::time;
use crate::app::App;
use crate::caller::{Caller, claim_allows};
use crate::deeds::{Deed, Doer};
use crate::json_body;
use crate::problem::Problem;
use crate::visit::{Visit, demand};

/// How long an address is good when nobody says, in seconds.
const USUAL: u64 = 60 * 60;
/// How long it is good at most.
const LONGEST: u64 = 7 * 24 * 60 * 60;
/// What stands as it is in a path of an address.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// What an address is to allow.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignRequest {
    /// The file or directory, from the root of the sandbox on.
    pub(super) path: String,
    /// What may be done.
    #[serde(default)]
    pub(super) access: WireAccess,
    /// Whether everything beneath the path is meant.
    #[serde(default)]
    pub(super) directory: bool,
    /// For how many seconds, at most a week [default: an hour].
    #[serde(default)]
    pub(super) ttl: Option<u64>,
}

/// What may be done by an address.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireAccess {
    /// `GET` and `HEAD`; of a directory also `fs-list`.
    #[default]
    Read,
    /// `PUT` and `PATCH`.
    Write,
}

/// An address that needs no key.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct SignedBody {
    /// The address, without the server. Of a directory, put names before the `?`.
    pub(super) url: String,
    /// What stands behind `signed=` in it.
    pub(super) signed: String,
    /// Until when it is good (RFC 3339). It ends with the key that signed it.
    pub(super) expires_at: String,
}

/// Sign an address of one file or directory, which then needs no key.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/sign",
    operation_id = "signAddress",
    tag = "keys",
    params(("id" = String, Path, description = "The sandbox")),
    request_body = SignRequest,
    responses((status = 200, description = "The address", body = SignedBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn sign(
    State(app): State<Arc<App>>,
    visit: Visit,
    doer: Doer,
    json_body::Json(request): json_body::Json<SignRequest>,
) -> Result<Json<SignedBody>, Problem> {
    let id = visit.workspace.sandbox().id.clone();
    let work = async {
        let claim = claim(&visit, &request)?;
        let secret = match claim.by {
            Actor::Token => app.gate.secret(),
            Actor::Key(id) => app.keys.stat(&id).await?.secret,
        };
        let signed = app.keys.signer().await?.sign(&claim, &secret);
        Ok((claim, signed))
    };
    let asked = paths::of_text(&request.path, visit.strip_workspace_prefix).ok();
    let deed = Deed::inside("sign", &id).at(asked);
    let signed = doer.does(deed, work, |_| Told::default()).await;
    let (claim, signed) = signed.map_err(|err| explain(&err))?;
    let path = utf8_percent_encode(claim.path.as_str().trim_start_matches('/'), PLAIN);
    let slash = if request.directory && !claim.path.is_root() { "/" } else { "" };
    let url = format!("/v1/sandboxes/{id}/fs/{path}{slash}?signed={signed}");
    Ok(Json(SignedBody { url, signed, expires_at: time(claim.expires) }))
}

fn claim(visit: &Visit, request: &SignRequest) -> engine::Result<Claim> {
    let refuse = |kind, message| Err(Error::new(kind, message));
    let caller = &visit.caller;
    let (needed, access) = match (request.access, request.directory) {
        (WireAccess::Read, false) => (Role::Viewer, Access::ReadFile),
        (WireAccess::Read, true) => (Role::Viewer, Access::ReadDirectory),
        (WireAccess::Write, false) => (Role::Developer, Access::WriteFile),
        (WireAccess::Write, true) => (Role::Developer, Access::WriteDirectory),
    };
    demand(caller, needed, "sign an address for that")?;
    let path = paths::of_text(&request.path, visit.strip_workspace_prefix)?;
    if path.is_root() && !request.directory {
        return refuse(
            ErrorKind::InvalidArgument,
            "no file is named; a directory needs `directory`",
        );
    }
    if !caller.prefix().is_none_or(|prefix| path.starts_with(prefix)) {
        return refuse(ErrorKind::Forbidden, "the key does not reach that path");
    }
    let ttl = request.ttl.unwrap_or(USUAL);
    if ttl > LONGEST {
        return refuse(ErrorKind::InvalidArgument, "an address is good for at most a week");
    }
    let mut expires: UnixTime = in_seconds(ttl)?;
    if let Some(end) = caller.grant.expires {
        expires = expires.min(end);
    }
    let by = caller.actor.unwrap_or(Actor::Token);
    let sandbox = visit.workspace.sandbox().id.clone();
    Ok(Claim { by, sandbox, access, path, expires })
}

/// Whether somebody who came by a signed address may send such a request at all.
pub(super) fn lets_through(caller: &Caller, route: &str, method: &Method) -> bool {
    let Some(claim) = &caller.claim else { return true };
    let is_bytes = route.starts_with("/v1/sandboxes/{id}/fs/");
    let is_list = route.starts_with("/v1/sandboxes/{id}/fs-list");
    let lists = claim.access == Access::ReadDirectory && is_list;
    (is_bytes || lists) && claim_allows(claim.access, method)
}

/// Refuses a path that a signed address is not for.
pub(super) fn check_path(caller: &Caller, path: &SandboxPath) -> engine::Result<()> {
    let fits = caller.claim.as_ref().is_none_or(|claim| match claim.access {
        Access::ReadFile | Access::WriteFile => *path == claim.path,
        Access::ReadDirectory | Access::WriteDirectory => path.starts_with(&claim.path),
    });
    if fits {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Forbidden, "the signed address is for another path"))
}
