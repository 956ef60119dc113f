//! `/v1/sandboxes`: which there are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use axum::{Extension, Json};
use engine::{
    Actor, AttachTarget, ContainerName, DotDot, Error, ErrorKind, NewKind, NewSandbox, Registered,
    RegisteredChange, Role, SandboxId, SandboxPath, Scope, SnapshotId, Told,
};
use http::header::LOCATION;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde_json::Value;

use super::as_of::point;
use super::errors::{Refusals, explain};
use super::pages;
use super::wire::{
    Attach, NewSandboxRequest, Origin, SandboxBody, SandboxChange, SandboxList, TreeKind,
};
use crate::app::App;
use crate::caller::Caller;
use crate::deeds::{Deed, Doer};
use crate::json_body;
use crate::problem::Problem;
use crate::query::{FromParams, Params, Query};
use crate::visit::{demand, id_of, unknown};

/// How many sandboxes a page has when nobody says.
const USUAL: u64 = 100;

/// Make a sandbox.
///
/// An id that is taken is 409, and what has it stays as it is.
#[utoipa::path(
    post,
    path = "/v1/sandboxes",
    operation_id = "createSandbox",
    tag = "sandboxes",
    request_body = NewSandboxRequest,
    responses(
        (status = 201, description = "It is made", body = SandboxBody, headers(
            ("Location" = String, description = "Where it is")
        )),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    doer: Doer,
    json_body::Json(request): json_body::Json<NewSandboxRequest>,
) -> Result<Response, Problem> {
    let caller = &doer.caller;
    let deed = match &request.from {
        Some(origin) => origin.told(Deed::new("create_sandbox")),
        None => told_attached(request.attach.as_ref(), Deed::new("create_sandbox")),
    };
    let work = async {
        demand(caller, Role::Owner, "make sandboxes")?;
        if !caller.sees_all() {
            let message = "a key for some sandboxes may not make others";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        refuse_part(caller)?;
        let new = new_sandbox(request)?;
        if matches!(new.kind, NewKind::Attached { .. }) && Actor::has_a_share(caller.actor) {
            let message = "only the server's own token may attach sandboxes to containers";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        app.registry.create(new).await
    };
    let made = doer.does(deed, work, told_made).await;
    let body = SandboxBody::new(made.map_err(|err| explain(&err))?, true);
    let location = HeaderValue::try_from(format!("/v1/sandboxes/{}", body.id)).ok();
    let location = AppendHeaders(location.map(|place| (LOCATION, place)));
    Ok((StatusCode::CREATED, location, Json(body)).into_response())
}

impl Origin {
    /// The same deed, about the sandbox that another is made of: `ID`, or `ID@SNAPSHOT`.
    pub(super) fn told(&self, deed: Deed) -> Deed {
        let Ok(of) = SandboxId::parse(&self.sandbox) else { return deed };
        let snapshot = self.snapshot.as_deref().and_then(|id| SnapshotId::parse(id).ok());
        match snapshot {
            Some(snapshot) => deed.about(&format!("{of}@{snapshot}")),
            None => deed.about(of.as_str()),
        }
    }
}

/// The same deed, about what a sandbox is to be attached to.
fn told_attached(attach: Option<&Attach>, deed: Deed) -> Deed {
    let name = attach.and_then(|attach| attach.container.as_deref());
    let name = name.and_then(|name| ContainerName::parse(name).ok());
    match (name, attach.and_then(|attach| attach.pid)) {
        (Some(name), _) => deed.about(&format!("container {name}")),
        (None, Some(pid)) => deed.about(&format!("process {pid}")),
        (None, None) => deed,
    }
}

/// What is known when a sandbox was made.
pub(super) fn told_made(made: &Registered) -> Told {
    Told { sandbox: Some(made.id.clone()), ..Told::default() }
}

fn new_sandbox(request: NewSandboxRequest) -> engine::Result<NewSandbox> {
    let NewSandboxRequest { id, kind, root, attach, path, prefix, limits, labels, ttl, from } =
        request;
    let refuse = |message| Err(Error::new(ErrorKind::InvalidArgument, message));
    let attached = attached(attach, path)?;
    let kind = match (kind, root, from) {
        (TreeKind::Virtual, ..) if attached.is_some() => {
            return refuse("`attach` is about a `host` sandbox");
        }
        (TreeKind::Host, None, None) if attached.is_some() => match attached {
            Some((target, path)) => NewKind::Attached { target, path },
            None => NewKind::Host { root: None },
        },
        (TreeKind::Host, Some(_), _) if attached.is_some() => {
            return refuse("`attach` and `root` mean two trees");
        }
        (TreeKind::Virtual, None, None) => NewKind::Virtual,
        (TreeKind::Virtual, None, Some(Origin { sandbox, snapshot })) => {
            NewKind::Fork { of: SandboxId::parse(&sandbox)?, from: point(snapshot.as_deref())? }
        }
        (TreeKind::Host, root, None) => NewKind::Host { root },
        (TreeKind::Virtual, Some(_), _) => return refuse("`root` is about a `host` sandbox"),
        (TreeKind::Host, _, Some(_)) => return refuse("`from` is about a `virtual` sandbox"),
    };
    let prefix = match prefix {
        None => SandboxPath::root(),
        Some(text) if text.starts_with('/') => SandboxPath::parse(&text, DotDot::Refuse)?,
        Some(_) => return refuse("`prefix` is an absolute path, such as /workspace"),
    };
    Ok(NewSandbox {
        id: id.as_deref().map(SandboxId::parse).transpose()?,
        kind,
        prefix,
        limits: limits.map(Into::into),
        labels,
        ttl: ttl.map(Duration::from_secs),
    })
}

/// What a sandbox is to be attached to, and where in it.
fn attached(
    attach: Option<Attach>,
    path: Option<String>,
) -> engine::Result<Option<(AttachTarget, SandboxPath)>> {
    let refuse = |message| Err(Error::new(ErrorKind::InvalidArgument, message));
    let path = match (&attach, path) {
        (None, Some(_)) => return refuse("`path` is about what a sandbox is attached to"),
        (_, None) => SandboxPath::root(),
        (Some(_), Some(text)) if text.starts_with('/') => {
            SandboxPath::parse(&text, DotDot::Refuse)?
        }
        (Some(_), Some(_)) => return refuse("`path` is an absolute path, such as /workspace"),
    };
    match attach {
        None => Ok(None),
        Some(Attach { container: Some(name), pid: None }) => {
            Ok(Some((AttachTarget::Container(ContainerName::parse(&name)?), path)))
        }
        Some(Attach { container: None, pid: Some(pid) }) => {
            Ok(Some((AttachTarget::Process { pid, birth: None }, path)))
        }
        Some(_) => refuse("`attach` names either a `container` or a `pid`"),
    }
}

/// Which sandboxes are listed.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SandboxesQuery {
    /// At most so many, and never more than 1000 [default: 100].
    #[param(required = false, value_type = u128, minimum = 1, maximum = 1000)]
    limit: Option<u64>,
    /// The `next_cursor` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
    /// Only those that have a label: `key=value`, or `key` with any value. May be given several
    /// times; all must be had.
    #[param(required = false, value_type = Vec<String>)]
    label: BTreeMap<String, Option<String>>,
}

impl FromParams for SandboxesQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        let limit = pages::limit(params)?;
        let label = params.all("label")?.into_iter().map(|text| match text.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (text, None),
        });
        Ok(Self { limit, cursor: params.optional("cursor")?, label: label.collect() })
    }
}

/// List the sandboxes that the key may see.
#[utoipa::path(
    get,
    path = "/v1/sandboxes",
    operation_id = "listSandboxes",
    tag = "sandboxes",
    params(SandboxesQuery),
    responses((status = 200, description = "Some of them", body = SandboxList), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<SandboxesQuery>,
) -> Result<Json<SandboxList>, Problem> {
    let limit = usize::try_from(query.limit.unwrap_or(USUAL)).unwrap_or(usize::MAX);
    let page = async {
        let after = query.cursor.as_deref().map(SandboxId::parse).transpose()?;
        match &caller.grant.scope {
            Scope::All => {
                let page = app.registry.list(after.as_ref(), limit, &query.label).await?;
                Ok((page.sandboxes, page.next))
            }
            // They are few, and each is looked up alone.
            Scope::Only(own) => {
                let mut found = Vec::new();
                let own = own.iter().filter(|id| after.as_ref().is_none_or(|after| *id > after));
                for id in own {
                    match app.registry.stat(id).await {
                        Err(err) if err.kind() == ErrorKind::SandboxNotFound => {}
                        known => found.push(known?),
                    }
                }
                found.retain(|known| known.has_labels(&query.label));
                let next = found.get(limit.saturating_sub(1)).filter(|_| found.len() > limit);
                let next = next.map(|last| last.id.clone());
                found.truncate(limit);
                Ok((found, next))
            }
        }
    };
    let (found, next) = page.await.map_err(|err: Error| explain(&err))?;
    let is_owner = caller.role() == Role::Owner;
    let sandboxes = found.into_iter().map(|known| SandboxBody::new(known, is_owner)).collect();
    Ok(Json(SandboxList { sandboxes, next_cursor: next.map(|id| id.to_string()) }))
}

/// What is known of a sandbox.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}",
    operation_id = "getSandbox",
    tag = "sandboxes",
    params(("id" = String, Path, description = "The sandbox")),
    responses((status = 200, description = "It is there", body = SandboxBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    Seen(id): Seen,
) -> Result<Json<SandboxBody>, Problem> {
    let known = async { app.registry.stat(&id).await };
    let known = known.await.map_err(|err| explain(&err))?;
    Ok(Json(SandboxBody::new(known, caller.role() == Role::Owner)))
}

/// Change the limits, labels or end of a sandbox.
#[utoipa::path(
    patch,
    path = "/v1/sandboxes/{id}",
    operation_id = "changeSandbox",
    tag = "sandboxes",
    params(("id" = String, Path, description = "The sandbox")),
    request_body = SandboxChange,
    responses((status = 200, description = "As it is now", body = SandboxBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn change(
    State(app): State<Arc<App>>,
    doer: Doer,
    Seen(id): Seen,
    json_body::Json(body): json_body::Json<SandboxChange>,
) -> Result<Json<SandboxBody>, Problem> {
    let caller = &doer.caller;
    let work = async {
        demand(caller, Role::Owner, "change sandboxes")?;
        refuse_part(caller)?;
        let SandboxChange { limits, labels, ttl } = body;
        // Who gave him the sandbox gave it for so long, and for so much.
        if (limits.is_some() || ttl.is_some()) && !caller.sees_all() {
            let message = "a key for some sandboxes may not change their limits or their time";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        let ttl = match ttl {
            None => None,
            Some(Value::Null) => Some(None),
            Some(value) => {
                Some(Some(value.as_u64().map(Duration::from_secs).ok_or_else(|| {
                    Error::new(ErrorKind::InvalidArgument, "`ttl` is a number of seconds, or null")
                })?))
            }
        };
        let change = RegisteredChange { limits: limits.map(Into::into), labels, ttl };
        app.registry.change(&id, change).await
    };
    let deed = Deed::new("change_sandbox").to(&id);
    let changed = doer.does(deed, work, |_| Told::default()).await;
    let known = changed.map_err(|err| explain(&err))?;
    Ok(Json(SandboxBody::new(known, true)))
}

/// Remove a sandbox.
///
/// The tree of a virtual one goes with it, and its snapshots; a directory only if it was made for
/// the sandbox.
#[utoipa::path(
    delete,
    path = "/v1/sandboxes/{id}",
    operation_id = "deleteSandbox",
    tag = "sandboxes",
    params(("id" = String, Path, description = "The sandbox")),
    responses((status = 204, description = "It is gone"), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    doer: Doer,
    Seen(id): Seen,
) -> Result<StatusCode, Problem> {
    let caller = &doer.caller;
    let work = async {
        demand(caller, Role::Owner, "remove sandboxes")?;
        refuse_part(caller)?;
        app.registry.remove(&id).await
    };
    let deed = Deed::new("remove_sandbox").to(&id);
    let removed = doer.does(deed, work, |()| Told::default()).await;
    removed.map(|()| StatusCode::NO_CONTENT).map_err(|err| explain(&err))
}

/// The id of a sandbox that the caller may see, whether it is there or not.
#[derive(Debug)]
pub(super) struct Seen(pub(super) SandboxId);

impl FromRequestParts<Arc<App>> for Seen {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let id = id_of(parts).map_err(|err| explain(&err))?;
        let caller = parts.extensions.get::<Caller>();
        match caller.is_some_and(|caller| caller.may_see(&id)) {
            true => Ok(Self(id)),
            false => Err(explain(&unknown(&id))),
        }
    }
}

/// Refuses whoever sees only a part of each sandbox.
fn refuse_part(caller: &Caller) -> engine::Result<()> {
    if caller.prefix().is_none() {
        return Ok(());
    }
    let message = "a key for a part of a sandbox may not change the whole";
    Err(Error::new(ErrorKind::Forbidden, message))
}
