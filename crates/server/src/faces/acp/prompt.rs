//! What is meant for an agent: prompts, and answers to what an agent asked its client.
//!
//! Everything else of this face is the same whichever agent a client named. This server runs none
//! of them, and says so.

use http::StatusCode;
use serde_json::Value;

use super::arguments::Arguments;
use super::connections::Connection;
use super::rpc::Outcome;
use crate::faces::fs_v1::session_problem;
use crate::jsonrpc::Id;
use crate::problem::{Class, Problem};
use crate::visit::Visit;

/// Asks the agent of a session for a turn.
pub(super) fn prompt(
    visit: &Visit,
    connection: &Connection,
    mut asked: Arguments,
) -> Result<Outcome, Problem> {
    let id = asked.required_session()?;
    let session = visit.sessions.find(&visit.owner(), &id);
    let session = session.map_err(|err| session_problem(&err, &id))?;
    if session.ended {
        let message = format!("the session has ended: {id}");
        return Err(Problem::new(StatusCode::CONFLICT, Class::CONFLICT, &message)
            .message(&message)
            .session(&id)
            .kind("session_ended")
            .hint("go on with it by session/resume, or open another"));
    }
    Err(not_installed(connection.agent))
}

/// Stops the turn of a session. One that is not under way is stopped already.
pub(super) fn cancel(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let id = asked.required_session()?;
    let session = visit.sessions.find(&visit.owner(), &id);
    session.map_err(|err| session_problem(&err, &id))?;
    Ok(Outcome::Value(Value::Null))
}

/// Hands an agent what its client answered. Whether an agent had asked.
pub(super) fn answered(_: &Connection, _: &Id, _: &Result<Value, Value>) -> bool {
    false
}

fn not_installed(agent: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, Class::AGENT_NOT_INSTALLED, agent)
        .agent(agent)
        .kind("unsupported")
        .hint("this server keeps files and sessions; run the agent beside it")
}
