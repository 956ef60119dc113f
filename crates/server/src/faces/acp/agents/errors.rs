//! What can go wrong between a client and its agent, in the words that clients know.

use std::collections::BTreeMap;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema as _};

use super::servers::Kind;
use crate::problem::{Class, Problem, ProblemDetails};

/// Agents that clients may know and the server does not bring.
const KNOWN: &[&str] = &["claude", "codex", "opencode", "amp"];

/// The agent that somebody asks for by its name.
pub(super) fn agent_named(name: &str) -> Result<Kind, Problem> {
    match name {
        name if name == Kind::Mock.word() => Ok(Kind::Mock),
        name if KNOWN.contains(&name) => Err(not_installed(name)),
        _ => Err(unsupported(name)),
    }
}

fn unsupported(name: &str) -> Problem {
    let message = format!("unsupported agent: {name}");
    Problem::plain(StatusCode::BAD_REQUEST, Class::UNSUPPORTED_AGENT, message)
        .agent(name)
        .kind("unsupported_agent")
        .hint("use the agent `mock`")
}

pub(in crate::faces::acp) fn not_installed(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, Class::AGENT_NOT_INSTALLED, name)
        .agent(name)
        .kind("agent_not_installed")
        .hint("the server brings the agent `mock` alone; run others where you like, on these files")
}

/// Nobody said which agent is meant.
pub(super) fn missing_agent(id: &str) -> Problem {
    let message =
        format!("missing required 'agent' query parameter for first POST to /v1/acp/{id}");
    Problem::invalid_request(&message).hint("add `?agent=mock` to the address")
}

/// Another agent was begun under this name.
pub(super) fn mismatch(id: &str, kind: Kind, asked: &str) -> Problem {
    let kind = kind.word();
    let message = format!("server '{id}' already exists for agent '{kind}'; requested '{asked}'");
    Problem::new(StatusCode::CONFLICT, Class::CONFLICT, &message)
        .message(&message)
        .agent(kind)
        .kind("conflict")
        .hint("choose another server id, or leave `agent` out")
}

pub(super) fn unknown(id: &str) -> Problem {
    let message = format!("session not found: {id}");
    Problem::plain(StatusCode::NOT_FOUND, Class::SESSION_NOT_FOUND, message)
        .session(id)
        .kind("session_not_found")
        .hint("begin it with POST /v1/acp/{server_id}?agent=mock")
}

pub(super) fn not_json() -> Problem {
    let message = "content-type must be application/json";
    Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Class::MEDIA_TYPE, message)
        .message(message)
        .kind("invalid_argument")
        .hint("send the header `Content-Type: application/json`")
}

pub(in crate::faces) fn not_acceptable(media: &str) -> Problem {
    let message = format!("accept must allow {media}");
    Problem::new(StatusCode::NOT_ACCEPTABLE, Class::NOT_ACCEPTABLE, &message)
        .message(&message)
        .kind("not_acceptable")
        .hint(format!("send the header `Accept: {media}`, or none"))
}

/// A body that is no message.
pub(super) fn no_message(message: &str) -> Problem {
    Problem::invalid_request(message)
        .hint("send one JSON-RPC 2.0 message: jsonrpc, and id, method and params")
}

/// There is no room for one more.
pub(super) fn too_many(message: &str) -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, Class::LIMIT_EXCEEDED, message)
        .message(message)
        .kind("too_many_requests")
        .hint("end one with DELETE /v1/acp/{server_id}, or wait until an idle one has ended")
        .header(RETRY_AFTER, HeaderValue::from_static("60"))
}

/// An agent that takes too long.
pub(super) fn timeout(seconds: u64) -> Problem {
    let message = format!("the agent did not answer for {seconds} seconds");
    Problem::new(StatusCode::GATEWAY_TIMEOUT, Class::TIMEOUT, &message)
        .message(&message)
        .kind("timeout")
        .hint("the answer comes on the event stream: GET /v1/acp/{server_id}")
}

/// The problems of these routes, for the description of the interface.
pub(super) struct AgentProblems;

impl IntoResponses for AgentProblems {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let statuses = ["400", "401", "404", "406", "409", "413", "415", "429", "503", "504"];
        let reference = |status| RefOr::Ref(Ref::from_response_name(format!("Problem{status}")));
        statuses.map(|status| (status.to_owned(), reference(status))).into()
    }
}

/// The problem of a client that does not take what there is.
pub(in crate::faces) struct NotAcceptable;

impl IntoResponses for NotAcceptable {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let reference = RefOr::Ref(Ref::from_response_name("Problem406"));
        [("406".to_owned(), reference)].into()
    }
}

/// What the description keeps of the problems that no other face has.
pub(in crate::faces) fn problem_components() -> BTreeMap<String, RefOr<Response>> {
    let schema = Ref::from_schema_name(ProblemDetails::name());
    let response = ResponseBuilder::new()
        .description("A problem of kind not_acceptable")
        .content("application/problem+json", ContentBuilder::new().schema(Some(schema)).build());
    [("Problem406".to_owned(), RefOr::T(response.build()))].into()
}

/// What `contract/errors.md` says of these problems.
#[cfg(test)]
pub(in crate::faces) fn table() -> String {
    use std::fmt::Write as _;

    let mut text = String::from(
        "
## /v1/acp

Problem details too, with `agent` or `sessionId` where one is to blame. What an agent says that it \
cannot do is no failed request, but an error of JSON-RPC in an answer with 200.

| kind | status | type | title | hint |
|---|---|---|---|---|
",
    );
    let problems = [
        no_message("…"),
        unsupported("…"),
        unknown("…"),
        not_installed("…"),
        not_acceptable("…"),
        mismatch("…", Kind::Mock, "…"),
        not_json(),
        too_many("…"),
        timeout(120),
    ];
    for problem in problems {
        let ProblemDetails { r#type, title, status, kind, hint, .. } = problem.details();
        let word = r#type.trim_start_matches("urn:sandbox-agent:error:");
        let [kind, hint] = [kind, hint].map(|text| text.as_deref().unwrap());
        writeln!(text, "| `{kind}` | {status} | `{word}` | {title} | {hint} |").unwrap();
    }
    text
}
