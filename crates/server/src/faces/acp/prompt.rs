//! What is meant for an agent: prompts, and answers to what an agent asked its client.
//!
//! Everything else of this face is the same whichever agent a client named. The server brings the
//! mock alone, and says so to whoever asks another for a turn.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::agents::agent::{Agent, Asked};
use super::agents::errors::not_installed;
use super::agents::mock::in_a_turn;
use super::arguments::Arguments;
use super::connections::Connection;
use super::rpc::Outcome;
use super::sessions::agent_of;
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
    let session = session(visit, &mut asked)?;
    let Some(mock) = &connection.mock else { return Err(not_installed(connection.agent)) };
    if let Some(agent) = agent_of(&session).filter(|agent| agent != connection.agent) {
        return Err(not_installed(&agent));
    }
    connection.follow(&session.id)?;
    let method = asked.method().to_owned();
    let mut params = asked.rest();
    // By whichever of its names the client called it.
    params.insert("sessionId".to_owned(), json!(&*session.id));
    let call = Call { method, params: Some(params.into()) };
    let owner = visit.owner();
    let directory = visit.workspace.sandbox().outward(&session.directory);
    let begun = visit.connections.begin_turn(owner.by, &session.id, || {
        mock.adopt(&session.id, &directory);
        mock.ask(id.clone(), call)
    });
    let Some(Asked { number, answer }) = begun else {
        return Ok(Outcome::Replied(explained(Reply::failed(id, in_a_turn()))));
    };
    // Nobody would be told how it ends who does not wait for it.
    let _awaited = Awaited { agent: mock, session: &session.id, number };
    let counted = visit.sessions.count_event(&owner, &session.id);
    counted.map_err(|err| session_problem(&err, &session.id))?;
    let answer = tokio::select! {
        answer = timeout(PATIENCE, answer) => answer,
        () = visit.ending.cancelled() => return Err(gone()),
    };
    match answer {
        Ok(Ok(reply)) => Ok(Outcome::Replied(explained(reply))),
        Ok(Err(_)) => Err(gone()),
        Err(_) => Err(too_slow()),
    }
}

/// A turn that lasts no longer than somebody waits for it.
struct Awaited<'a> {
    agent: &'a Arc<Agent>,
    session: &'a str,
    number: u64,
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.agent.give_up(self.number, self.session);
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
pub(super) fn cancel(visit: &Visit, mut asked: Arguments) -> Result<Outcome, Problem> {
    let (owner, id) = (visit.owner(), asked.required_session()?);
    let session = visit.sessions.find(&owner, &id);
    session.map_err(|err| session_problem(&err, &id))?;
    visit.connections.cancel_turn(owner.by, &id);
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

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::response::Response;
    use axum::routing::Router;
    use engine::{Limits, Sandbox, SandboxId, SandboxPath, Store};
    use http::Request;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;
    use crate::app::App;
    use crate::options::{Access, Options};

    async fn server() -> Router {
        let (id, root) = (SandboxId::parse("main").unwrap(), SandboxPath::root());
        let files = Store::in_memory().create(&id, Limits::default()).await.unwrap();
        let sandbox = Sandbox {
            id,
            files: Arc::new(files),
            prefix: root.clone(),
            home: root,
            is_system: false,
        };
        App::new(sandbox, Options::new(Access::Open)).unwrap().router()
    }

    async fn post(server: &Router, method: &str, params: Value) -> Response {
        let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method});
        message["params"] = params;
        let request = Request::post("/v2/rpc")
            .header("host", "localhost")
            .header("content-type", "application/json");
        let request = match method {
            "initialize" => request,
            _ => request.header("x-acp-connection-id", "acp_conn_1"),
        };
        let request = request.body(Body::from(message.to_string())).unwrap();
        server.clone().oneshot(request).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_ends_when_nobody_waits_for_it_any_more() {
        let server = server().await;
        let meta = json!({"sandboxagent.dev": {"agent": "mock"}});
        post(&server, "initialize", json!({"protocolVersion": 1, "_meta": meta})).await;
        post(&server, "session/load", json!({"sessionId": "s"})).await;
        let words =
            |text: &str| json!({"sessionId": "s", "prompt": [{"type": "text", "text": text}]});
        let began = tokio::time::Instant::now();
        let turn = post(&server, "session/prompt", words("wait 60"));
        assert!(timeout(Duration::from_secs(1), turn).await.is_err());
        let again = post(&server, "session/prompt", words("again")).await;
        let body = again.into_body().collect().await.unwrap().to_bytes();
        let reply: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(reply["result"]["stopReason"], "end_turn", "{reply}");
        assert_eq!(began.elapsed().as_secs(), 1);
    }
}
