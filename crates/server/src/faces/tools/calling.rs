//! `POST /v1/tools/{name}`: one call.

use std::sync::Arc;

use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use engine::{ErrorKind, Role};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use tools::{Call, ToolEntry, ToolResult};

use super::arguments;
use super::failures::Failures;
use super::naming::tool_in;
use super::queries::{CallParams, CallQuery};
use super::wire::{ToolAnswer, ToolArguments, ToolName};
use crate::faces::sandboxes_v1::{Asked, explain, status};
use crate::pace::Pace;
use crate::problem::{Class, Problem, render};
use crate::query::{FromParams as _, Params};
use crate::visit::{Visit, demand};

/// Call a tool in a sandbox: the caller's own, or the one that is named.
///
/// The body is the tool's arguments, as its schema says; no body means none. Whatever comes of it,
/// the answer has `success`, `data`, `error` and `metadata`. A client that closes the connection
/// cancels the call, which then happened whole or not at all.
#[utoipa::path(
    post,
    path = "/v1/tools/{name}",
    operation_id = "callTool",
    tag = "tools",
    params(
        ("name" = inline(ToolName), Path, description = "The tool"),
        ("sandbox" = Option<String>, Query, nullable = false,
            description = "The sandbox; the caller's own without it"),
        CallParams
    ),
    request_body = ToolArguments,
    responses((status = 200, description = "It was done", body = ToolAnswer), Failures),
    security(("bearer" = []))
)]
pub(super) async fn call(visit: Visit, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let tool = tool_in(&parts.uri)?;
    if !tool.only_looks() {
        // Asked before a body is read.
        let demanded = demand(&visit.caller, Role::Developer, "change files");
        demanded.map_err(|err| explain(&err))?;
    }
    let CallQuery(wish) = CallQuery::from_params(&Params::of(&parts.uri))?;
    let sandbox = visit.workspace.sandbox();
    let settings = visit.tools.programs.in_sandbox(sandbox).narrowed(&wish, sandbox);
    let settings = settings.map_err(|err| explain(&err))?;
    let longest = settings.max_file_size;
    let arguments = arguments::read(&parts.headers, body, visit.app(), longest).await?;
    let call = Call::new(visit.workspace.clone(), settings);
    tokio::select! {
        result = call.run(tool, arguments) => Ok(answer(tool, &result)),
        () = departure(&parts) => Err(departed()),
    }
}

fn answer(tool: &ToolEntry, result: &ToolResult) -> Response {
    let asked = if tool.only_looks() { Asked::Look } else { Asked::Any };
    let status = result.kind.map_or(StatusCode::OK, |kind| status(kind, asked));
    let body = render(result);
    let mut response = (status, [(CONTENT_TYPE, "application/json")], body).into_response();
    // Whoever repeats by himself what may have happened might do it twice.
    if status == StatusCode::SERVICE_UNAVAILABLE && result.kind != Some(ErrorKind::InDoubt) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Waits until the client goes away.
async fn departure(parts: &Parts) {
    match parts.extensions.get::<Arc<Pace>>() {
        Some(pace) => pace.departure().await,
        // Only a test asks without a connection.
        None => std::future::pending().await,
    }
}

/// Told to nobody, unless a client closed only its own side.
fn departed() -> Problem {
    let message = "the client closed the connection, so the call was cancelled";
    Problem::plain(StatusCode::BAD_REQUEST, Class::INVALID_REQUEST, message)
        .kind(ErrorKind::BrokenBody.word())
        .hint("keep the connection open in both directions until the answer came")
}
