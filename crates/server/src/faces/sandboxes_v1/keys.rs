//! `/v1/keys`: who may do what.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, RawPathParams, State};
use engine::{
    Error, ErrorKind, Grant, KeyId, KeyRecord, NewKey, Role, SandboxId, Scope, Told, UnixTime,
};
use http::StatusCode;
use http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::errors::{Refusals, explain, shown};
use super::pages::PageQuery;
use super::paths;
use super::wire::time;
use crate::app::App;
use crate::caller::Caller;
use crate::dates;
use crate::deeds::{Deed, Doer};
use crate::json_body;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::demand;

/// How many keys are looked at together for a list.
const PAGE: usize = 1000;

/// What the holder of a key may do. Each may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireRole {
    /// May look.
    Viewer,
    /// May change files.
    Developer,
    /// May do everything.
    Owner,
}

impl From<WireRole> for Role {
    fn from(role: WireRole) -> Self {
        match role {
            WireRole::Viewer => Self::Viewer,
            WireRole::Developer => Self::Developer,
            WireRole::Owner => Self::Owner,
        }
    }
}

impl From<Role> for WireRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Viewer => Self::Viewer,
            Role::Developer => Self::Developer,
            Role::Owner => Self::Owner,
        }
    }
}

/// A key that is to be made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewKeyRequest {
    /// What its holder may do.
    pub(super) role: WireRole,
    /// The sandboxes that he may see; all without it.
    #[serde(default)]
    pub(super) sandboxes: Option<BTreeSet<String>>,
    /// The directory that he may see of each of them; everything without it.
    #[serde(default)]
    pub(super) prefix: Option<String>,
    /// After how many seconds it ends; never without it.
    #[serde(default)]
    pub(super) ttl: Option<u64>,
    /// What it is for: at most 256 bytes.
    #[serde(default)]
    pub(super) label: String,
}

impl NewKeyRequest {
    fn wish(self, doer: &Doer, strip: bool) -> engine::Result<NewKey> {
        let Self { role, sandboxes, prefix, ttl, label } = self;
        let scope = match sandboxes {
            None => Scope::All,
            Some(ids) => Scope::Only(
                ids.iter().map(|id| SandboxId::parse(id)).collect::<engine::Result<_>>()?,
            ),
        };
        let prefix = prefix.as_deref().map(|path| paths::of_text(path, strip)).transpose()?;
        let expires = ttl.map(in_seconds).transpose()?;
        let grant = Grant { role: role.into(), scope, prefix, expires };
        doer.caller.grant.covers(&grant)?;
        let created_by = doer.caller.actor.unwrap_or(engine::Actor::Token);
        Ok(NewKey { grant, label, created_by })
    }
}

/// The moment so many seconds from now.
pub(super) fn in_seconds(ttl: u64) -> engine::Result<UnixTime> {
    let moment = i64::try_from(ttl).ok().and_then(|ttl| dates::now().seconds.checked_add(ttl));
    let moment = moment.filter(|_| ttl > 0).map(|seconds| UnixTime { seconds, nanoseconds: 0 });
    moment.filter(|moment| dates::rfc3339(*moment).is_some()).ok_or_else(|| {
        Error::new(ErrorKind::InvalidArgument, "the time to live is at least a second, and finite")
    })
}

/// What is known of a key. The key itself is never shown again.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct KeyBody {
    /// The part of the key that everybody may know.
    #[schema(example = "k3v9q0w8e7r6")]
    pub(super) id: String,
    /// What its holder may do.
    pub(super) role: WireRole,
    /// The sandboxes that he may see; all without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) sandboxes: Option<Vec<String>>,
    /// The directory that he may see of each of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) prefix: Option<String>,
    /// What it is for.
    pub(super) label: String,
    /// When it was made (RFC 3339).
    pub(super) created_at: String,
    /// The key that made it, or `token`.
    pub(super) created_by: String,
    /// When it ends (RFC 3339), if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) expires_at: Option<String>,
}

impl From<&KeyRecord> for KeyBody {
    fn from(record: &KeyRecord) -> Self {
        let Grant { role, scope, prefix, expires } = &record.grant;
        Self {
            id: record.id.to_string(),
            role: (*role).into(),
            sandboxes: match scope {
                Scope::All => None,
                Scope::Only(ids) => Some(ids.iter().map(ToString::to_string).collect()),
            },
            prefix: prefix.as_ref().map(|prefix| shown(prefix).to_owned()),
            label: record.label.clone(),
            created_at: time(record.created),
            created_by: record.created_by.as_str().to_owned(),
            expires_at: expires.map(time),
        }
    }
}

/// A key that was just made.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct MadeKey {
    /// The key itself, told here and never again: keep it.
    #[schema(example = "ask_k3v9q0w8e7r6_…")]
    pub(super) key: String,
    /// What is known of it.
    #[serde(flatten)]
    pub(super) known: KeyBody,
}

/// Some of the keys.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct KeyList {
    /// Those that were found.
    pub(super) keys: Vec<KeyBody>,
    /// What to send as `cursor` for the next page, if there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) next_cursor: Option<String>,
}

/// Make a key.
///
/// Nobody can give more than he has: a key that is tied to sandboxes, to a directory or to a time
/// makes only keys within them.
#[utoipa::path(
    post,
    path = "/v1/keys",
    operation_id = "createKey",
    tag = "keys",
    request_body = NewKeyRequest,
    responses((status = 201, description = "It is made", body = MadeKey), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    doer: Doer,
    json_body::Json(request): json_body::Json<NewKeyRequest>,
) -> Result<(StatusCode, Json<MadeKey>), Problem> {
    let strip = app.strip_workspace_prefix;
    let work = async { app.keys.create(request.wish(&doer, strip)?).await };
    let told = |made: &(Arc<KeyRecord>, _)| Told::subject(made.0.id.as_str());
    let made = doer.does(Deed::new("create_key"), work, told).await;
    let (record, text) = made.map_err(|err| explain(&err))?;
    let made = MadeKey { key: text.expose().to_owned(), known: KeyBody::from(&*record) };
    Ok((StatusCode::CREATED, Json(made)))
}

/// List the keys that the caller could have made.
#[utoipa::path(
    get,
    path = "/v1/keys",
    operation_id = "listKeys",
    tag = "keys",
    params(PageQuery),
    responses((status = 200, description = "Some of them", body = KeyList), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    doer: Doer,
    Query(query): Query<PageQuery>,
) -> Result<Json<KeyList>, Problem> {
    let limit = query.limit();
    let found = async {
        demand(&doer.caller, Role::Owner, "see keys")?;
        let after = query.cursor.as_deref().map(KeyId::parse).transpose()?;
        own_keys(&app, &doer.caller, after, limit).await
    };
    let found = found.await.map_err(|err| explain(&err))?;
    let next_cursor = found.last().filter(|_| found.len() == limit).map(|key| key.id.to_string());
    Ok(Json(KeyList { keys: found.iter().map(KeyBody::from).collect(), next_cursor }))
}

/// The keys behind one that the caller could have made, at most `limit`. A cursor is the id of one
/// of them: he learns no id of another.
async fn own_keys(
    app: &App,
    caller: &Caller,
    mut after: Option<KeyId>,
    limit: usize,
) -> engine::Result<Vec<KeyRecord>> {
    let mut own = Vec::new();
    loop {
        let page = app.keys.list(after.as_ref(), PAGE).await?;
        let is_last = page.len() < PAGE;
        after = page.last().map(|key| key.id);
        let covered = page.into_iter().filter(|key| caller.grant.covers(&key.grant).is_ok());
        own.extend(covered.take(limit - own.len()));
        if is_last || own.len() >= limit {
            return Ok(own);
        }
    }
}

/// The key that an address names.
#[derive(Debug)]
pub(super) struct Named(KeyId);

impl FromRequestParts<Arc<App>> for Named {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<App>) -> Result<Self, Problem> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let mut named = params.iter().flatten().filter(|(name, _)| *name == "key");
        let id = named.next().and_then(|(_, text)| KeyId::parse(text).ok());
        id.map(Self).ok_or_else(|| explain(&missing()))
    }
}

/// What is known of a key.
#[utoipa::path(
    get,
    path = "/v1/keys/{key}",
    operation_id = "getKey",
    tag = "keys",
    params(("key" = String, Path, description = "The id of the key")),
    responses((status = 200, description = "It is there", body = KeyBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    doer: Doer,
    Named(id): Named,
) -> Result<Json<KeyBody>, Problem> {
    let found = own(&app, &doer, &id).await.map_err(|err| explain(&err))?;
    Ok(Json(KeyBody::from(&found)))
}

/// Revoke a key.
///
/// This server refuses it at once, others over the same store within five seconds.
#[utoipa::path(
    delete,
    path = "/v1/keys/{key}",
    operation_id = "revokeKey",
    tag = "keys",
    params(("key" = String, Path, description = "The id of the key")),
    responses((status = 204, description = "It is gone"), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    doer: Doer,
    Named(id): Named,
) -> Result<StatusCode, Problem> {
    let work = async {
        own(&app, &doer, &id).await?;
        app.keys.revoke(&id).await
    };
    let deed = Deed::new("revoke_key").about(id.as_str());
    let revoked = doer.does(deed, work, |()| Told::default()).await;
    revoked.map(|()| StatusCode::NO_CONTENT).map_err(|err| explain(&err))
}

/// A key that the caller may deal with. Of others he is not told.
async fn own(app: &App, doer: &Doer, id: &KeyId) -> engine::Result<KeyRecord> {
    demand(&doer.caller, Role::Owner, "see keys")?;
    let found = app.keys.stat(id).await?;
    doer.caller.grant.covers(&found.grant).map_err(|_| missing())?;
    Ok(found)
}

fn missing() -> Error {
    Error::new(ErrorKind::NotFound, "there is no such key")
}
