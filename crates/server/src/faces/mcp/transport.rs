//! `/mcp`: how messages come and go over HTTP.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use engine::Role;
use futures::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::Full;
use serde::Deserialize;
use tokio::sync::oneshot;

use super::answers::{departed, departure, ended, ending_with, sent, spoken, unread};
use super::desk::{Answer, named};
use super::owners::{InUse, unknown};
use super::wire::McpMessage;
use crate::auth;
use crate::faces::acp::{NotAcceptable, not_acceptable, over};
use crate::faces::fs_v1::Problems;
use crate::json_body;
use crate::mcp::{Standing, longest};
use crate::media::accepts;
use crate::pace::Pace;
use crate::problem::Problem;
use crate::visit::Visit;

/// What the SDK wants its clients to take. What ours take is looked at before.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Say something by the Model Context Protocol, in the caller's own sandbox or in the one that is named.
///
/// One message of JSON-RPC 2.0. Without `Mcp-Session-Id` it is `initialize`, whose answer names a
/// session, or a request of the protocol of 2026-07-28, which has none. A session belongs to the key that
/// opened it and lives in this process. Tools: `tools/list`, `tools/call`; files: `resources/list`,
/// `resources/read`. What fails is told in the answer; a tool that fails is a result with `isError`.
#[utoipa::path(
    post,
    path = "/mcp",
    operation_id = "sayByMcp",
    tag = "tools",
    params(
        ("sandbox" = Option<String>, Query, nullable = false,
            description = "The sandbox; the caller's own without it"),
        ("Mcp-Session-Id" = Option<String>, Header, description = "The session"),
        ("MCP-Protocol-Version" = Option<String>, Header, description = "The version of the protocol"),
    ),
    request_body(content = McpMessage, content_type = "application/json"),
    responses(
        (status = 200, description = "The answer, or a stream at whose end it is",
            content((McpMessage = "application/json"), (String = "text/event-stream")),
            headers(("Mcp-Session-Id" = Option<String>, description = "To `initialize`: the session"))),
        (status = 202, description = "What was sent wants no answer"),
        NotAcceptable,
        Problems,
        (status = 400, description = "What was sent cannot be understood, or is refused",
            content((crate::problem::ProblemDetails = "application/problem+json"),
                (McpMessage = "application/json")))
    ),
    security(("bearer" = []))
)]
pub(super) async fn call(visit: Visit, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    json_body::expect_plain_json(&parts.headers)?;
    check(&visit, &parts)?;
    if !accepts(&parts.headers, "application", "json") {
        return Err(not_acceptable("application/json"));
    }
    take_events(&parts.headers)?;
    // Whoever names a session that is not his need not send a message.
    let session = visit.mcp.session(&visit, &parts.headers)?;
    let standing = standing(&visit);
    let bytes = json_body::gather(body, &visit, longest(&standing.settings)).await?;
    let pace = parts.extensions.get::<Arc<Pace>>().cloned();
    if let Err(err) = crate::mcp::check(&bytes) {
        return Ok(sent(unread(&err.to_string()), None, pace));
    }
    let in_use = session.map(InUse::begin).transpose()?;
    let way = match in_use {
        None if opens_session(&bytes) => Way::Opens,
        None => Way::Alone,
        Some(in_use) => Way::InSession(in_use),
    };
    let asked = handed_over(parts, standing, Full::new(bytes));
    let answering = async {
        let (answer, in_use) = answered(&visit, way, asked).await?;
        spoken(answer).await.map(|answer| (answer, in_use))
    };
    let (answer, in_use) = tokio::select! {
        biased;
        answered = answering => answered?,
        () = departure(pace.clone()) => return Err(departed()),
    };
    Ok(sent(answer, in_use, pace))
}

/// What a message has to do with sessions.
enum Way {
    /// It opens one.
    Opens,
    /// It is said in one.
    InSession(InUse),
    /// Nothing: it is of 2026-07-28.
    Alone,
}

type Answered = Result<(Answer, Option<InUse>), Problem>;

/// What the SDK answers.
///
/// A message that stands alone is cancelled when this is given up. What a session has to do with is
/// handed over to its end even then: the SDK would keep what it has of it, and nobody could end that.
async fn answered(visit: &Visit, way: Way, asked: http::Request<Full<Bytes>>) -> Answered {
    if let Way::Alone = way {
        return Ok((visit.mcp.hand_over(asked).await, None));
    }
    let (teller, told) = oneshot::channel();
    let visit = visit.clone();
    tokio::spawn(async move {
        let is_new = matches!(way, Way::Opens);
        let outcome = in_session(&visit, way, asked).await;
        if let Err(Ok((answer, _))) = teller.send(outcome)
            && is_new
            && let Ok(Some(id)) = named(answer.headers())
        {
            // Whoever opened it does not know its name.
            visit.mcp.close(id).await;
        }
    });
    told.await.unwrap_or_else(|_| Err(ended()))
}

async fn in_session(visit: &Visit, way: Way, asked: http::Request<Full<Bytes>>) -> Answered {
    let place = match &way {
        Way::Opens => Some(visit.mcp.place(visit)?),
        Way::InSession(_) | Way::Alone => None,
    };
    let answer = visit.mcp.hand_over(asked).await;
    let in_use = match way {
        Way::InSession(in_use) => Some(in_use),
        Way::Opens | Way::Alone => place.and_then(|place| visit.mcp.opened(place, visit, &answer)),
    };
    Ok((answer, in_use))
}

/// Listen to what a session is told: server-sent events.
///
/// Each event is a message of JSON-RPC 2.0: what of the resources changed, and what the server asks.
#[utoipa::path(
    get,
    path = "/mcp",
    operation_id = "listenByMcp",
    tag = "tools",
    params(
        ("sandbox" = Option<String>, Query, nullable = false,
            description = "The sandbox; the caller's own without it"),
        ("Mcp-Session-Id" = String, Header, description = "The session"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event seen"),
    ),
    responses(
        (status = 200, description = "The events", content_type = "text/event-stream", body = String),
        (status = 405, description = "The protocol of 2026-07-28 is spoken by POST alone",
            content_type = "application/problem+json", body = crate::problem::ProblemDetails),
        NotAcceptable,
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn listen(visit: Visit, request: Request) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    check(&visit, &parts)?;
    take_events(&parts.headers)?;
    let session = visit.mcp.session(&visit, &parts.headers)?;
    if parts.method == Method::HEAD {
        // Whoever only asks how it begins takes nobody's place.
        session.ok_or_else(missing_id)?;
        return Ok((StatusCode::OK, [(CONTENT_TYPE, "text/event-stream")]).into_response());
    }
    let in_use = session.map(InUse::begin).transpose()?;
    let over = over(Arc::clone(visit.app()), visit.caller.clone());
    let pace = parts.extensions.get::<Arc<Pace>>().cloned();
    let answer = visit.mcp.hand_over(handed_over(parts, standing(&visit), Full::default())).await;
    let answer = spoken(answer).await?;
    Ok(ending_with(over, sent(answer, in_use, pace)))
}

/// Close a session.
#[utoipa::path(
    delete,
    path = "/mcp",
    operation_id = "closeMcpSession",
    tag = "tools",
    params(
        ("sandbox" = Option<String>, Query, nullable = false,
            description = "The sandbox; the caller's own without it"),
        ("Mcp-Session-Id" = String, Header, description = "The session"),
    ),
    responses((status = 204, description = "It is closed"), Problems),
    security(("bearer" = []))
)]
pub(super) async fn close(visit: Visit, request: Request) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    check(&visit, &parts)?;
    let id = named(&parts.headers)?.ok_or_else(missing_id)?.to_owned();
    visit.mcp.session(&visit, &parts.headers)?.ok_or_else(unknown)?;
    visit.mcp.close(&id).await;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Where the caller stands.
fn standing(visit: &Visit) -> Standing {
    let mut settings = visit.tools.models.in_sandbox(visit.workspace.sandbox());
    settings.read_only |= visit.caller.role() < Role::Developer;
    let (app, caller, held) = (Arc::clone(visit.app()), visit.caller.clone(), visit.clone());
    let until = Arc::new(move || {
        // The sandbox stays open as long as somebody is told of it.
        let held = held.clone();
        let over = over(Arc::clone(&app), caller.clone());
        let until: BoxFuture<'static, ()> = Box::pin(async move {
            over.await;
            drop(held);
        });
        until
    });
    Standing { workspace: visit.workspace.clone(), settings, until }
}

/// A request as the SDK gets it: with where its sender stands, and without what shows who that is.
fn handed_over(
    mut parts: Parts,
    standing: Standing,
    body: Full<Bytes>,
) -> http::Request<Full<Bytes>> {
    parts.headers.insert(ACCEPT, BOTH);
    parts.headers.remove(http::header::AUTHORIZATION);
    parts.extensions.clear();
    parts.extensions.insert(standing);
    http::Request::from_parts(parts, body)
}

/// Whether a message opens a session.
fn opens_session(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Glance<'a> {
        #[serde(borrow)]
        method: Option<Cow<'a, str>>,
    }
    let glance: Result<Glance<'_>, _> = serde_json::from_slice(bytes);
    glance.is_ok_and(|glance| glance.method.as_deref() == Some("initialize"))
}

/// Refuses pages that were not invited, whatever they know, and addresses that mean nothing here.
fn check(visit: &Visit, parts: &Parts) -> Result<(), Problem> {
    auth::refuse_pages(visit.app(), parts)
}

fn take_events(headers: &HeaderMap) -> Result<(), Problem> {
    if accepts(headers, "text", "event-stream") {
        return Ok(());
    }
    Err(not_acceptable("text/event-stream"))
}

fn missing_id() -> Problem {
    Problem::invalid_request("missing Mcp-Session-Id header")
        .hint("send the Mcp-Session-Id that initialize was answered with")
}
