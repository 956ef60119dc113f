//! The routes: what is sent to an agent, and what it says.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use tokio::time::timeout;

use super::errors::{self, AgentProblems};
use super::servers::{Kind, Server};
use super::wire::{AgentMessage, AgentServerList};
use crate::app::App;
use crate::caller::Caller;
use crate::faces::acp::stream;
use crate::faces::acp::wire::EventOfStream;
use crate::jsonrpc::Message;
use crate::media::accepts;
use crate::problem::{Class, Problem};
use crate::query::{FromParams, Params, Query};
use crate::visit::stranger;
use crate::{intake, json_body};

/// The longest message. A client that sends a file sends it elsewhere.
const LONGEST: usize = 1024 * 1024;
/// How long a request is held open for its answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Which agent is meant.
#[derive(Clone, Debug, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AgentQuery {
    /// The agent that is begun: `mock`. Only the first message needs it.
    #[param(nullable = false, example = "mock")]
    agent: Option<String>,
}

impl FromParams for AgentQuery {
    fn from_params(params: &Params<'_>) -> Result<Self, Problem> {
        Ok(Self { agent: params.optional("agent")? })
    }
}

/// Somebody, and the name by which he means his agent.
pub(super) struct Addressed {
    app: Arc<App>,
    caller: Caller,
    id: String,
}

impl FromRequestParts<Arc<App>> for Addressed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(stranger)?;
        let id: Result<Path<String>, PathRejection> = Path::from_request_parts(parts, app).await;
        let Path(id) =
            id.map_err(|err| Problem::unreadable(StatusCode::BAD_REQUEST, err.body_text()))?;
        Ok(Self { app: Arc::clone(app), caller, id })
    }
}

impl Addressed {
    fn find(&self) -> Option<Server> {
        self.app.agents.find(self.caller.actor, &self.id)
    }

    /// The agent, or which one is to be begun.
    fn choose(&self, asked: Option<&str>) -> Result<Choice, Problem> {
        let known = |name: &str| match errors::agent_named(name) {
            // There is no such agent, whether or not one was begun.
            Err(problem) if problem.details().status == 400 => Err(problem),
            named => Ok(named),
        };
        match (self.find(), asked) {
            (Some(server), None) => Ok(Choice::Begun(server)),
            (Some(server), Some(name)) => match known(name)? {
                Ok(kind) if kind == server.kind => Ok(Choice::Begun(server)),
                _ => Err(errors::mismatch(&self.id, server.kind, name)),
            },
            (None, Some(name)) => known(name)?.map(Choice::New),
            (None, None) => Err(errors::missing_agent(&self.id)),
        }
    }

    fn begin(&self, choice: Choice) -> Result<Server, Problem> {
        match choice {
            Choice::Begun(server) => Ok(server),
            Choice::New(kind) => self.app.agents.open(self.caller.actor, &self.id, kind),
        }
    }
}

/// An agent that is there, or one that is to be.
enum Choice {
    Begun(Server),
    New(Kind),
}

/// The agents that you talk with.
#[utoipa::path(
    get,
    path = "/v1/acp",
    operation_id = "listAgents",
    tag = "agents",
    responses((status = 200, description = "Your own", body = AgentServerList), AgentProblems),
    security(("bearer" = []))
)]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: axum::Extension<Caller>,
) -> axum::Json<AgentServerList> {
    axum::Json(AgentServerList { servers: app.agents.list(caller.actor) })
}

/// Send a message to an agent: one JSON-RPC 2.0 object of the Agent Client Protocol.
///
/// The first message begins the agent that it names. A request is held open for its answer, which
/// comes on the event stream as well; anything else is only accepted.
#[utoipa::path(
    post,
    path = "/v1/acp/{server_id}",
    operation_id = "tellAgent",
    tag = "agents",
    params(
        ("server_id" = String, Path, description = "A name that you choose: 1 to 256 bytes"),
        AgentQuery
    ),
    request_body(content = AgentMessage, content_type = "application/json"),
    responses(
        (status = 200, description = "The answer to a request", body = AgentMessage),
        (status = 202, description = "A notification or an answer was accepted"),
        AgentProblems
    ),
    security(("bearer" = []))
)]
pub(super) async fn post(
    addressed: Addressed,
    Query(AgentQuery { agent }): Query<AgentQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers();
    if !json_body::is_json(headers) {
        return Err(errors::not_json());
    }
    if !accepts(headers, "application", "json") {
        return Err(errors::not_acceptable("application/json"));
    }
    intake::refuse_encoded(headers)?;
    let body = json_body::gather(request.into_body(), &addressed.app, LONGEST).await?;
    let value = serde_json::from_slice::<Value>(&body)
        .map_err(|err| errors::no_message(&format!("invalid JSON body: {err}")))?;
    let choice = addressed.choose(agent.as_deref())?;
    let message = message(value)?;
    let server = addressed.begin(choice)?;
    let Some(answer) = server.agent.hear(message) else {
        return Ok(StatusCode::ACCEPTED.into_response());
    };
    // Only the table holds an agent: one that is closed ends, and nobody waits for it.
    drop(server);
    let answer = tokio::select! {
        answer = timeout(PATIENCE, answer) => answer,
        () = addressed.app.ending.cancelled() => return Err(ending()),
    };
    match answer {
        Ok(Ok(reply)) => {
            let json = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
            Ok((json, reply.render()).into_response())
        }
        Ok(Err(_)) => Err(errors::unknown(&addressed.id)),
        Err(_) => Err(errors::timeout(PATIENCE.as_secs())),
    }
}

/// The message that a body is.
fn message(value: Value) -> Result<Message, Problem> {
    if !value.is_object() {
        return Err(errors::no_message("request body must be a JSON-RPC object"));
    }
    match Message::of(value) {
        Message::Invalid(reply) => {
            let words = reply.failure().map(|failure| failure.message.as_str());
            Err(errors::no_message(words.unwrap_or("this is no JSON-RPC message")))
        }
        message @ (Message::Request(..) | Message::Notification(_) | Message::Response(..)) => {
            Ok(message)
        }
    }
}

/// Listen to an agent: server-sent events, each with one JSON-RPC 2.0 message.
///
/// Whoever was cut off comes back with the id of the last event that he saw, and gets exactly what he
/// missed; without one he gets everything that is still there, of the last 1,024.
#[utoipa::path(
    get,
    path = "/v1/acp/{server_id}",
    operation_id = "hearAgent",
    tag = "agents",
    params(
        ("server_id" = String, Path, description = "The name under which the agent was begun"),
        ("Last-Event-ID" = Option<u64>, Header, description = "The id of the last event seen")
    ),
    responses(
        (status = 200, description = "The messages", content_type = "text/event-stream",
            body = EventOfStream),
        AgentProblems
    ),
    security(("bearer" = []))
)]
pub(super) async fn events(
    addressed: Addressed,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if !accepts(&headers, "text", "event-stream") {
        return Err(errors::not_acceptable("text/event-stream"));
    }
    let after = stream::last_event_id(&headers)?;
    let server = addressed.find().ok_or_else(|| errors::unknown(&addressed.id))?;
    // Whoever only asks how it begins takes nobody's place.
    if method == Method::HEAD {
        return Ok(stream::beginning());
    }
    let reader = server.outbox.listen(after);
    Ok(stream::respond(reader, stream::over(addressed.app, addressed.caller)))
}

/// End an agent. What is not there is ended already.
#[utoipa::path(
    delete,
    path = "/v1/acp/{server_id}",
    operation_id = "closeAgent",
    tag = "agents",
    params(("server_id" = String, Path, description = "The name under which it was begun")),
    responses((status = 204, description = "It is ended"), AgentProblems),
    security(("bearer" = []))
)]
pub(super) async fn close(addressed: Addressed) -> StatusCode {
    addressed.app.agents.close(addressed.caller.actor, &addressed.id);
    StatusCode::NO_CONTENT
}

fn ending() -> Problem {
    let message = "the server ends";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Class::STREAM_ERROR, message)
        .message(message)
        .kind("unavailable")
        .hint("try again when it is back")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::Router;
    use engine::{Limits, Sandbox, SandboxId, SandboxPath, Store};
    use http_body_util::BodyExt as _;
    use serde_json::json;
    use tower::ServiceExt as _;

    use super::*;
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

    async fn post(server: &Router, method: &str, params: Value) -> (u16, Value) {
        let mut message = json!({"jsonrpc": "2.0", "id": method, "method": method});
        message["params"] = params;
        let request = Request::post("/v1/acp/s1?agent=mock")
            .header("host", "localhost")
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(message.to_string()))
            .unwrap();
        let response = server.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_is_waited_for_for_two_minutes_and_its_answer_comes_on_the_stream() {
        let server = server().await;
        post(&server, "session/new", json!({"cwd": "/", "mcpServers": []})).await;
        let prompt = json!([{"type": "text", "text": "wait 50\nwait 50\nwait 50"}]);
        let params = json!({"sessionId": "mock-session-1", "prompt": prompt});
        let began = tokio::time::Instant::now();
        let (status, problem) = post(&server, "session/prompt", params).await;
        assert_eq!((status, began.elapsed()), (504, PATIENCE));
        assert_eq!(problem["type"], "urn:sandbox-agent:error:timeout");
        assert_eq!(problem["kind"], "timeout");
        let request = Request::get("/v1/acp/s1").header("host", "localhost");
        let request = request.header("last-event-id", "1").body(Body::empty()).unwrap();
        let mut events = server.clone().oneshot(request).await.unwrap().into_body();
        loop {
            let frame = events.frame().await.unwrap().unwrap().into_data().unwrap();
            let text = std::str::from_utf8(&frame).unwrap();
            if text.starts_with("event: message\nid: 2\n") {
                assert!(text.contains(r#""id":"session/prompt""#), "{text}");
                assert!(text.contains(r#""stopReason":"end_turn""#), "{text}");
                break;
            }
            assert_eq!(text, ": heartbeat\n\n");
        }
        assert_eq!(began.elapsed().as_secs(), 150);
    }
}
