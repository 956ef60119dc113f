//! `fs-watch`: what happens in a sandbox, as it happens.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use engine::{Actor, Cursor, EntryKind, ErrorKind, Notice, NoticeKind, SandboxPath, Watch};
use futures::StreamExt as _;
use http::HeaderMap;
use http::header::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::ToSchema;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};

use super::errors::{Refusals, explain_look, shown};
use super::paths::Place;
use super::wire::Kind;
use crate::problem::{Problem, log_fault};
use crate::query::{FromParams, Params, Query};
use crate::visit::Visit;

/// What a browser sends that was cut off.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How often a quiet stream says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often it is looked whether the key is still good.
const RECHECK: Duration = Duration::from_secs(2);

/// What is watched.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct WatchQuery {
    /// Whether everything beneath the directory is meant [default: true].
    #[param(nullable = false)]
    recursive: Option<bool>,
    /// Begin behind the event with this id; now without it. The header `Last-Event-ID` says the same.
    #[param(nullable = false)]
    cursor: Option<String>,
}

impl FromParams for WatchQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { recursive: params.flag("recursive")?, cursor: params.optional("cursor")? })
    }
}

/// One event of the stream, as whoever describes such streams sees it.
struct WatchEvent;

impl utoipa::PartialSchema for WatchEvent {
    fn schema() -> RefOr<Schema> {
        let text = |description| {
            ObjectBuilder::new().schema_type(Type::String).description(Some(description))
        };
        let cursor = "The cursor: whoever comes back with it is told what came behind this event.";
        let event = ObjectBuilder::new()
            .description(Some("One event of the stream."))
            .property("id", text(cursor))
            .property("event", text("What happened: the `change` of the notice."))
            .property("data", text("A `NoticeBody`.").content_media_type("application/json"));
        ["id", "event", "data"].into_iter().fold(event, ObjectBuilder::required).into()
    }
}

impl ToSchema for WatchEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((
            NoticeBody::name().into_owned(),
            <NoticeBody as utoipa::PartialSchema>::schema(),
        ));
        NoticeBody::schemas(schemas);
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum NoticeWord {
    /// Nothing: all that came before the `id` of this event was told, and more may follow.
    Here,
    /// It is new.
    Created,
    /// It is another than before.
    Modified,
    /// It is gone.
    Removed,
    /// It has another name.
    Renamed,
    /// Something was missed: list everything anew.
    Resync,
}

impl NoticeWord {
    fn as_str(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::Created => "created",
            Self::Modified => "modified",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Resync => "resync",
        }
    }
}

/// Something that happened: the `data` of an event. Its `event` is the kind, its `id` the cursor.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema, JsonSchema)]
pub(super) struct NoticeBody {
    /// What happened. `here`: all before the `id` of this event was told, and more may follow.
    /// `resync`: something was missed, so list everything anew.
    pub(super) change: NoticeWord,
    /// Where, from the root of the sandbox on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) path: Option<String>,
    /// Where it was before it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) from: Option<String>,
    /// What it is, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) kind: Option<Kind>,
    /// Why everything must be listed anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) reason: Option<String>,
}

impl NoticeBody {
    fn new(kind: &NoticeKind) -> Self {
        let at = |change, path: &SandboxPath, entry: &Option<EntryKind>| Self {
            change,
            path: Some(shown(path).to_owned()),
            from: None,
            kind: entry.map(Kind::from),
            reason: None,
        };
        let bare = |change, reason| Self { change, path: None, from: None, kind: None, reason };
        match kind {
            NoticeKind::Here => bare(NoticeWord::Here, None),
            NoticeKind::Created { path, entry } => at(NoticeWord::Created, path, entry),
            NoticeKind::Modified { path, entry } => at(NoticeWord::Modified, path, entry),
            NoticeKind::Removed { path, entry } => at(NoticeWord::Removed, path, entry),
            NoticeKind::Renamed { from, path, entry } => {
                let from = Some(shown(from).to_owned());
                Self { from, ..at(NoticeWord::Renamed, path, entry) }
            }
            NoticeKind::Resync { why } => bare(NoticeWord::Resync, Some(why.word().to_owned())),
        }
    }

    fn event(notice: &Notice) -> Event {
        let body = Self::new(&notice.kind);
        let event = Event::default().id(notice.cursor.to_string()).event(body.change.as_str());
        // Its types have no maps with odd keys, so that this cannot fail.
        event.json_data(&body).unwrap_or_default()
    }
}

/// Watch a directory: server-sent events as things happen.
///
/// Whoever was cut off comes back with the id of the last event that he saw, and is told everything
/// that happened since, or `resync`. The stream ends with the key that opened it.
#[utoipa::path(
    get,
    path = "/v1/sandboxes/{id}/fs-watch/{path}",
    operation_id = "watchSandbox",
    tag = "sandbox files",
    params(
        ("id" = String, Path, description = "The sandbox"),
        ("path" = String, Path, description = "The directory, from the root of the sandbox on"),
        WatchQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event seen")
    ),
    responses(
        (status = 200, description = "The events", content_type = "text/event-stream",
            body = WatchEvent),
        Refusals
    ),
    security(("bearer" = []))
)]
pub(super) async fn watch(
    visit: Visit,
    place: Place,
    Query(query): Query<WatchQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let last = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let begun = async {
        let after = query.cursor.as_deref().or(last).map(str::parse::<Cursor>).transpose()?;
        let wish = Watch { recursive: query.recursive != Some(false), after };
        visit.workspace.watch(&place.path, wish).await
    };
    let notices = begun.await.map_err(|err| explain_look(&err))?;
    let events = notices.map(|notice| match notice {
        Ok(notice) => Some(NoticeBody::event(&notice)),
        // A sandbox that was removed, or whose container ended. If it is the store, whoever comes back is told, and it is logged.
        Err(err)
            if matches!(err.kind(), ErrorKind::Unavailable | ErrorKind::SandboxUnavailable) =>
        {
            tracing::debug!(error = &err as &dyn std::error::Error, "a watch ends");
            None
        }
        Err(err) => {
            log_fault(&err);
            None
        }
    });
    // An error ends the stream: whoever comes back is told more.
    let events = events.take_while(|event| std::future::ready(event.is_some()));
    let events = events.filter_map(|event| std::future::ready(event.map(Ok::<_, Infallible>)));
    let events = events.take_until(over(visit));
    let kept = KeepAlive::new().interval(HEARTBEAT);
    Ok(Sse::new(events).keep_alive(kept).into_response())
}

/// Ends when whoever watches may not any more, the sandbox is gone, or the server ends.
async fn over(visit: Visit) {
    while timeout(RECHECK, visit.ending.cancelled()).await.is_err() {
        let is_good = match visit.caller.actor {
            Some(Actor::Key(id)) => matches!(visit.keys.find(&id).await, Ok(Some(_))),
            Some(Actor::Token) | None => true,
        };
        // The sandbox may be gone, and its directory still there.
        let is_there = visit.registry.open(&visit.workspace.sandbox().id).await.is_ok();
        if !is_good || !is_there || visit.caller.grant.is_expired() {
            return;
        }
    }
}
