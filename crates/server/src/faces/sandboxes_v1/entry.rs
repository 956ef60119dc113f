//! `fs-stat`, `fs-mkdir`, `fs-link`, `fs-chmod`, `fs-truncate` and `stats`.

use axum::Json;
use axum::response::{AppendHeaders, IntoResponse as _, Response};
use engine::{Error, ErrorKind, Links, MetadataChange, Parents, Role, SandboxPath, UnixTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::as_of::AsOf;
use super::errors::{Refusals, explain, explain_look};
use super::paths::Place;
use super::wire::{Stat, Stats};
use super::writing::created;
use crate::browsers::ASK_AGAIN;
use crate::conditions::validators;
use crate::json_body;
use crate::problem::Problem;
use crate::query::{FromParams, Params, Query};
use crate::visit::Visit;

/// How a path is looked at.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Looking {
    /// `false` to look at a link itself.
    #[param(nullable = false)]
    follow: Option<bool>,
}

impl FromParams for Looking {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { follow: params.flag("follow")? })
    }
}

/// What is at a path.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/fs-stat/{path}",
    operation_id = "statSandboxEntry",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "From the root of the sandbox on"),
        Looking,
        AsOf
    ),
    responses(
        (status = 200, description = "What is there", body = Stat, headers(
            ("ETag" = String, description = "The version of the entry"),
            ("Last-Modified" = String, description = "When it last changed"),
        )),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn stat(
    visit: Visit,
    place: Place,
    Query(looking): Query<Looking>,
    Query(as_of): Query<AsOf>,
) -> Result<Response, Problem> {
    let workspace = as_of.workspace(&visit).await?;
    let links = if looking.follow == Some(false) { Links::Keep } else { Links::Follow };
    let found = workspace.stat(&place.path, links).await;
    let entry = found.and_then(|entry| place.fitting(entry)).map_err(|err| explain_look(&err))?;
    Ok((ASK_AGAIN, AppendHeaders(validators(&entry)), Json(Stat::new(&entry))).into_response())
}

/// How a directory is made.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Making {
    /// `false` to make one directory alone, which must be new.
    #[param(nullable = false)]
    parents: Option<bool>,
}

impl FromParams for Making {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { parents: params.flag("parents")? })
    }
}

/// Make a directory and its parents. One that is there already is fine.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-mkdir/{path}",
    operation_id = "makeSandboxDirectory",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "From the root of the sandbox on"),
        Making
    ),
    responses(
        (status = 200, description = "It is there", body = Stat, headers(
            ("x-created" = String, description = "`1` if it is new"),
        )),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn mkdir(
    visit: Visit,
    place: Place,
    Query(making): Query<Making>,
) -> Result<Response, Problem> {
    let parents = if making.parents == Some(false) { Parents::Require } else { Parents::Create };
    let made = visit.workspace.create_dir(&place.path, parents).await;
    let made = made.map_err(|err| explain(&err))?;
    Ok((created(made.created), Json(Stat::new(&made.entry))).into_response())
}

/// What a link holds.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkBody {
    /// The path that it leads to, as it is written in it.
    pub(super) target: String,
}

/// What a symbolic link holds.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/fs-link/{path}",
    operation_id = "readSandboxLink",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The link, from the root of the sandbox on"),
        AsOf
    ),
    responses((status = 200, description = "What it holds", body = LinkBody), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn read_link(
    visit: Visit,
    place: Place,
    Query(as_of): Query<AsOf>,
) -> Result<Json<LinkBody>, Problem> {
    let workspace = as_of.workspace(&visit).await?;
    let target = workspace.read_link(&place.path).await;
    target.map(|target| Json(LinkBody { target })).map_err(|err| explain_look(&err))
}

/// Make a symbolic link. It may lead anywhere, and is followed only inside the sandbox.
#[utoipa::path(
    put,
    path = "/v1/sandboxes/{id}/fs-link/{path}",
    operation_id = "makeSandboxLink",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The link, from the root of the sandbox on")
    ),
    request_body = LinkBody,
    responses((status = 200, description = "It is there", body = Stat), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn link(
    visit: Visit,
    place: Place,
    json_body::Json(body): json_body::Json<LinkBody>,
) -> Result<Json<Stat>, Problem> {
    let made = visit.workspace.symlink(&place.path, &body.target).await;
    made.map(|entry| Json(Stat::new(&entry))).map_err(|err| explain(&err))
}

/// What is to change of a file or directory; what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ModeBody {
    /// Permission bits, in octal.
    #[schema(example = "755")]
    pub(super) mode: Option<String>,
    /// When it last changed (RFC 3339).
    pub(super) modified: Option<String>,
}

impl ModeBody {
    pub(super) fn change(&self) -> engine::Result<MetadataChange> {
        let refuse = |message| Error::new(ErrorKind::InvalidArgument, message);
        let mode = self.mode.as_deref().map(|text| {
            let octal = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            let mode = u32::from_str_radix(text, 8).ok().filter(|mode| octal && *mode <= 0o777);
            mode.ok_or_else(|| refuse("`mode` is three octal digits, such as 644"))
        });
        let modified = self.modified.as_deref().map(|text| {
            let time = text.parse::<jiff::Timestamp>().ok();
            let time = time.and_then(|time| {
                let whole = jiff::Timestamp::from_second(time.as_second()).ok()?;
                // Before 1970 the rest of a second counts backwards.
                let rest = time.subsec_nanosecond();
                let (seconds, rest) = match u32::try_from(rest) {
                    Ok(rest) => (whole.as_second(), rest),
                    Err(_) => (whole.as_second() - 1, (1_000_000_000 + rest).unsigned_abs()),
                };
                Some(UnixTime { seconds, nanoseconds: rest })
            });
            time.ok_or_else(|| refuse("`modified` is a time such as 2026-01-31T12:00:00Z"))
        });
        Ok(MetadataChange { mode: mode.transpose()?, modified: modified.transpose()? })
    }
}

/// Change the mode or the time of a file or directory; links are followed.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-chmod/{path}",
    operation_id = "changeSandboxMode",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "From the root of the sandbox on")
    ),
    request_body = ModeBody,
    responses((status = 200, description = "As it is now", body = Stat), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn chmod(
    visit: Visit,
    place: Place,
    json_body::Json(body): json_body::Json<ModeBody>,
) -> Result<Json<Stat>, Problem> {
    let change = body.change().map_err(|err| explain(&err))?;
    let changed = visit.workspace.set_metadata(&place.path, change).await;
    changed.map(|entry| Json(Stat::new(&entry))).map_err(|err| explain(&err))
}

/// How long a file is to be.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LengthBody {
    /// In bytes.
    pub(super) size: u64,
}

/// Cut a file, or lengthen it with zeros; links are followed.
#[utoipa::path(
    post,
    path = "/v1/sandboxes/{id}/fs-truncate/{path}",
    operation_id = "truncateSandboxFile",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The file, from the root of the sandbox on")
    ),
    request_body = LengthBody,
    responses((status = 200, description = "As it is now", body = Stat), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn truncate(
    visit: Visit,
    place: Place,
    json_body::Json(body): json_body::Json<LengthBody>,
) -> Result<Json<Stat>, Problem> {
    let cut = async {
        place.must_be_file()?;
        visit.workspace.truncate(&place.path, body.size).await
    };
    let entry = cut.await.map_err(|err| explain(&err.on(&place.path)))?;
    Ok(Json(Stat::new(&entry)))
}

/// How much a sandbox holds, and how much it may.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/stats",
    operation_id = "sandboxStats",
    tag = "sandboxes",
    params(("id" = String, Path, description = "The sandbox")),
    responses((status = 200, description = "So much", body = Stats), Refusals),
    security(("bearer" = []))
)]
pub(super) async fn stats(visit: Visit) -> Result<Json<Stats>, Problem> {
    let failed = |err: Error| explain(&err);
    let usage = visit.workspace.usage().await.map_err(failed)?;
    let known = visit.registry.stat(&visit.workspace.sandbox().id).await.map_err(failed)?;
    Ok(Json(Stats::new(usage, known.limits)))
}

/// Refuses a caller who sees only a part of the sandbox, or has too small a role.
pub(super) fn demand_whole(visit: &Visit, needed: Role, what: &str) -> Result<(), Problem> {
    let outcome = crate::visit::demand(&visit.caller, needed, what).and_then(|()| {
        match visit.caller.prefix() {
            None => Ok(()),
            Some(_) => {
                let message = format!("a key for a part of a sandbox may not {what}");
                Err(Error::new(ErrorKind::Forbidden, message))
            }
        }
    });
    outcome.map_err(|err| explain(&err.on(&SandboxPath::root())))
}
