//! What is meant for an agent: prompts, and answers to what an agent asked its client.
//!
//! Everything else of this face is the same whichever agent a client named. The server brings the
//! mock alone, and says so to whoever asks another for a turn.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::agents::errors::not_installed;
use super::arguments::Arguments;
use super::connections::Connection;
use super::rpc::Outcome;
use crate::faces::fs_v1::session_problem;
use crate::jsonrpc::{Call, Id, Message, Reply};
use crate::problem::{Class, Problem};
use crate::visit::Visit;

/// How long a request is held open for the end of a turn.
const PATIENCE: Duration = Duration::from_secs(120);

/// Tells the agent of a new connection what its client can do.
pub(super) fn introduce(connection: &Connection, abilities: Option<Value>) {
    let Some(mock) = &connection.mock else { return };
    let abilities = abilities.unwrap_or_else(|| json!({}));
    let params = json!({"protocolVersion": 1, "clientCapabilities": abilities});
    let call = Call { method: "initialize".to_owned(), params: Some(params) };
    // The client is greeted by the server, which can do more than the agent.
    drop(mock.hear(Message::Request(Id::Null, call)));
}

/// Asks the agent of a session for a turn, and waits for its end.
pub(super) async fn prompt(
    visit: &Visit,
    connection: &Connection,
    id: Id,
    mut asked: Arguments,
) -> Result<Outcome, Problem> {
    let call = Call { method: asked.method().to_owned(), params: Some(asked.all()) };
    let session = session(visit, &mut asked)?;
    let Some(mock) = &connection.mock else { return Err(not_installed(connection.agent)) };
    connection.follow(&session.id)?;
    let directory = visit.workspace.sandbox().outward(&session.directory);
    if let Err(failure) = mock.adopt(&session.id, &directory) {
        return Ok(Outcome::Replied(explained(Reply::failed(id, failure))));
    }
    let counted = visit.sessions.count_event(&visit.owner(), &session.id);
    counted.map_err(|err| session_problem(&err, &session.id))?;
    let Some(answer) = mock.hear(Message::Request(id, call)) else { return Err(gone()) };
    let answer = tokio::select! {
        answer = timeout(PATIENCE, answer) => answer,
        () = visit.ending.cancelled() => return Err(gone()),
    };
    match answer {
        Ok(Ok(reply)) => Ok(Outcome::Replied(explained(reply))),
        Ok(Err(_)) => Err(gone()),
        Err(_) => {
            // Nobody would be told how it ends.
            drop(mock.hear(Message::Notification(cancelling(&session.id))));
            Err(too_slow())
        }
    }
}

/// What an agent answered, with a problem as data as every failure here has.
fn explained(reply: Reply) -> Reply {
    reply.explained(|failure| {
        let problem = Problem::unreadable(StatusCode::BAD_REQUEST, failure.message.clone())
            .hint("docs/guides/agents.md says what the mock understands");
        failure.with_data(serde_json::to_value(problem.details()).unwrap_or_default())
    })
}

/// The session that is asked to go on.
fn session(visit: &Visit, asked: &mut Arguments) -> Result<engine::Session, Problem> {
    let id = asked.required_session()?;
    let found = visit.sessions.find(&visit.owner(), &id);
    let session = found.map_err(|err| session_problem(&err, &id))?;
    if !session.ended {
        return Ok(session);
    }
    Err(ended(&id))
}

/// The problem of a session that has ended.
pub(super) fn ended(id: &str) -> Problem {
    let message = format!("the session has ended: {id}");
    Problem::new(StatusCode::CONFLICT, Class::CONFLICT, &message)
        .message(&message)
        .session(id)
        .kind("session_ended")
        .hint("go on with it by session/resume, or open another")
}

/// Stops the turn of a session. One that is not under way is stopped already.
pub(super) fn cancel(
    visit: &Visit,
    connection: &Connection,
    mut asked: Arguments,
) -> Result<Outcome, Problem> {
    let call = Call { method: asked.method().to_owned(), params: Some(asked.all()) };
    let id = asked.required_session()?;
    let session = visit.sessions.find(&visit.owner(), &id);
    session.map_err(|err| session_problem(&err, &id))?;
    if let Some(mock) = &connection.mock {
        drop(mock.hear(Message::Notification(call)));
    }
    Ok(Outcome::Value(Value::Null))
}

/// Hands an agent what its client answered. Whether an agent had asked.
pub(super) fn answered(connection: &Connection, id: Id, outcome: Result<Value, Value>) -> bool {
    match &connection.mock {
        Some(mock) if mock.awaits(&id) => {
            drop(mock.hear(Message::Response(id, outcome)));
            true
        }
        Some(_) | None => false,
    }
}

fn cancelling(session: &str) -> Call {
    Call { method: "session/cancel".to_owned(), params: Some(json!({"sessionId": session})) }
}

/// The problem of a turn that takes too long.
pub(super) fn too_slow() -> Problem {
    let message = format!("the agent did not end its turn within {} seconds", PATIENCE.as_secs());
    Problem::new(StatusCode::GATEWAY_TIMEOUT, Class::TIMEOUT, &message)
        .message(&message)
        .kind("timeout")
        .hint("the turn was cancelled; ask for less in one turn")
}

fn gone() -> Problem {
    let message = "the agent has ended";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Class::STREAM_ERROR, message)
        .message(message)
        .kind("unavailable")
        .hint("open a new connection")
}

/// The problem of a prompt among other messages, which would wait for its end.
pub(super) fn not_in_a_batch() -> Problem {
    Problem::invalid_request("session/prompt cannot be part of a batch")
        .hint("send it by itself: its answer comes when the turn has ended")
}
