//! `/v2/rpc`: how messages come and go over HTTP.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use engine::Actor;
use http::{HeaderMap, Method, StatusCode};

use super::agents::errors::{NotAcceptable, not_acceptable};
use super::arguments::Arguments;
use super::connections::{CONNECTION_ID, Connection, NAME_IN_FULL, named};
use super::failures::{failure, with_problem};
use super::greeting::{greeting, wanted_agent};
use super::outbox::Taken;
use super::rpc::Talk;
use super::wire::{EventOfStream, RpcAnswer, RpcBody};
use super::{prompt, stream};
use crate::app::App;
use crate::faces::fs_v1::Problems;
use crate::jsonrpc::{self, Call, Incoming, Message, Reply};
use crate::media::accepts;
use crate::problem::{Class, Problem};
use crate::visit::Visit;
use crate::{json_body, observe};

/// Where it all happens.
pub(super) const RPC: &str = "/v2/rpc";
/// The longest body: what a megabyte is as text, and as much for the rest.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Ask for something by JSON-RPC 2.0: one message, or a batch of at most 64.
///
/// Without `x-acp-connection-id` the message must be `initialize`, naming an agent in
/// `params._meta["sandboxagent.dev"].agent`; the answer's header says what the connection is called.
/// A method that fails is answered with 200 and an error whose `data` is the problem.
#[utoipa::path(
    post,
    path = "/v2/rpc",
    operation_id = "callAgentMethod",
    tag = "agents",
    params(
        ("x-acp-connection-id" = Option<String>, Header,
            description = "The connection; none with the first `initialize`"),
    ),
    request_body(content = RpcBody, content_type = "application/json"),
    responses(
        (status = 200, description = "The answer", content_type = "application/json",
            body = RpcAnswer, headers(
                ("x-acp-connection-id" = String, description = "The connection"),
                ("x-acp-connection-name" = Option<String>, description = "To `initialize`: the id, and \
                    what no other connection has. It can be sent in place of the id"),
                ("x-acp-event-id" = Option<u64>, description = "How far the stream was by then")
            )),
        (status = 202, description = "Nothing that was sent wants an answer", headers(
            ("x-acp-connection-id" = String, description = "The connection")
        )),
        NotAcceptable,
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn call(
    visit: Visit,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    json_body::expect_plain_json(&headers)?;
    if !accepts(&headers, "application", "json") {
        return Err(not_acceptable("application/json"));
    }
    if headers.contains_key("x-acp-agent") {
        return Err(Problem::invalid_request("x-acp-agent is not a header of this server")
            .hint("name the agent in params._meta[\"sandboxagent.dev\"].agent of initialize"));
    }
    // Whoever names a connection that is not his need not send a message.
    let connection = match named(&headers)? {
        Some(id) => Some(visit.connections.find(visit.caller.actor, id)?),
        None => None,
    };
    let bytes = json_body::gather(body, &visit, MOST_BYTES).await?;
    let request = observe::id_in(&headers);
    let incoming = jsonrpc::parse(&bytes);
    // What was sent is not needed any more.
    drop(bytes);
    match connection {
        Some(connection) => Ok(Talk { visit, connection, request }.answer(incoming).await),
        None => first(&visit, incoming),
    }
}

/// Answers the message that opens a connection.
fn first(visit: &Visit, incoming: Result<Incoming, Reply>) -> Result<Response, Problem> {
    let (id, call) = match incoming {
        Err(reply) => return Ok(plain(&with_problem(reply))),
        Ok(Incoming::One(Message::Invalid(reply))) => return Ok(plain(&with_problem(reply))),
        Ok(Incoming::One(Message::Request(id, call))) => (Some(id), call),
        Ok(Incoming::One(Message::Notification(call))) => (None, call),
        Ok(Incoming::One(Message::Response(..)) | Incoming::Many(_)) => {
            return Err(uninvited("first ACP request must include method"));
        }
    };
    let Call { method, params } = call;
    if method != "initialize" {
        return Err(uninvited("first ACP request without client id must be initialize"));
    }
    let mut asked = Arguments::of(&method, params)?;
    let abilities = asked.take("clientCapabilities");
    let agent = wanted_agent(&mut asked)?;
    let greeting = match (greeting(&mut asked), id) {
        (Ok(greeting), Some(id)) => Some(Reply::result(id, greeting)),
        (Ok(_), None) => None,
        (Err(problem), Some(id)) => return Ok(plain(&Reply::failed(id, failure(&problem)))),
        // Nobody waits for an answer, but whoever sent it hopes for a connection.
        (Err(problem), None) => return Err(problem),
    };
    let connection = visit.connections.open(visit.caller.actor, agent)?;
    prompt::introduce(&connection, abilities);
    let header = [(CONNECTION_ID, connection.header()), (NAME_IN_FULL, connection.name_in_full())];
    Ok(match greeting {
        Some(reply) => (header, plain(&reply)).into_response(),
        None => (StatusCode::ACCEPTED, header).into_response(),
    })
}

/// Listen to what a connection is told: server-sent events.
///
/// Each event is a JSON-RPC message. Whoever was cut off comes back with `Last-Event-ID` and gets
/// exactly what he missed; if some of it is no longer kept, `_sandboxagent/stream/missed` says which.
/// One stream at a time listens to a connection.
#[utoipa::path(
    get,
    path = "/v2/rpc",
    operation_id = "listenToAgent",
    tag = "agents",
    params(
        ("x-acp-connection-id" = String, Header, description = "The connection"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event seen"),
    ),
    responses(
        (status = 200, description = "The events", content_type = "text/event-stream",
            body = EventOfStream),
        NotAcceptable,
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn listen(
    visit: Visit,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if !accepts(&headers, "text", "event-stream") {
        return Err(not_acceptable("text/event-stream"));
    }
    let connection = connection(&visit, visit.caller.actor, &headers)?;
    let after = stream::last_event_id(&headers)?;
    let mut response = if method == Method::HEAD {
        // Whoever only asks how it begins takes nobody's place.
        stream::beginning()
    } else {
        let reader = connection.outbox.read(after).await.map_err(|Taken| already_active())?;
        let (app, caller) = (Arc::clone(visit.app()), visit.caller.clone());
        stream::respond(reader, stream::over(app, caller))
    };
    response.headers_mut().insert(CONNECTION_ID, connection.header());
    Ok(response)
}

/// Close a connection. Its sessions stay.
#[utoipa::path(
    delete,
    path = "/v2/rpc",
    operation_id = "closeAgentConnection",
    tag = "agents",
    params(("x-acp-connection-id" = String, Header, description = "The connection")),
    responses(
        (status = 204, description = "It is closed, or was not there"),
        Problems
    ),
    security(("bearer" = []))
)]
pub(super) async fn close(visit: Visit, headers: HeaderMap) -> Result<Response, Problem> {
    let id = named(&headers)?.ok_or_else(missing_id)?;
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Err(problem) = visit.connections.close(visit.caller.actor, id) {
        // The same answer as to whoever closes one that was never there, but it is written down.
        response.extensions_mut().insert(problem.told());
    }
    Ok(response)
}

fn connection(
    app: &App,
    by: Option<Actor>,
    headers: &HeaderMap,
) -> Result<Arc<Connection>, Problem> {
    app.connections.find(by, named(headers)?.ok_or_else(missing_id)?)
}

/// An answer outside of any connection.
fn plain(reply: &Reply) -> Response {
    let kind = [(http::header::CONTENT_TYPE, "application/json")];
    (kind, reply.render()).into_response()
}

/// The problem of a second stream.
pub(super) fn already_active() -> Problem {
    let message = "an SSE stream is already active for this connection";
    Problem::new(StatusCode::CONFLICT, Class::CONFLICT, message)
        .message(message)
        .kind("stream_active")
        .hint("end the other stream first, or open another connection")
}

fn uninvited(message: &str) -> Problem {
    Problem::invalid_request(message)
        .hint("send initialize by itself; its answer's x-acp-connection-id names the connection")
}

fn missing_id() -> Problem {
    Problem::invalid_request("missing x-acp-connection-id header")
        .hint("send the x-acp-connection-id that initialize was answered with")
}
