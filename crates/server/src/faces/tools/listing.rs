//! `GET /v1/tools`: which tools there are.

use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use engine::Role;
use http::Uri;
use tools::{TOOLS, ToolEntry};

use super::failures::Failures;
use super::naming::tool_in;
use super::queries::FormatQuery;
use super::wire::{ToolDescription, ToolList, ToolName};
use crate::browsers::ASK_AGAIN;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::query::Query;
use crate::visit::Visit;

/// Which tools there are, as far as the caller's role may call them.
///
/// With `sandbox`, only those that are of use there: not every tree can take many steps as one, or
/// keep snapshots.
#[utoipa::path(
    get,
    path = "/v1/tools",
    operation_id = "listTools",
    tag = "tools",
    params(
        FormatQuery,
        ("sandbox" = Option<String>, Query, nullable = false,
            description = "Only the tools that are of use in this sandbox")
    ),
    responses((status = 200, description = "The tools", body = ToolList), Failures),
    security(("bearer" = []))
)]
pub(super) async fn list(
    Extension(caller): Extension<Caller>,
    visit: Option<Extension<Visit>>,
    Query(query): Query<FormatQuery>,
) -> Response {
    let looks_only = caller.role() < Role::Developer;
    let offered: Vec<&ToolEntry> = match visit {
        Some(Extension(visit)) => {
            let is_read_only = looks_only || visit.tools.programs.read_only;
            tools::offered(&visit.workspace, is_read_only).await
        }
        None => TOOLS.iter().filter(|tool| tool.only_looks() || !looks_only).collect(),
    };
    let format = query.format();
    let tools = offered.into_iter().map(|tool| format.spell(tool)).collect();
    (ASK_AGAIN, Json(ToolList { tools })).into_response()
}

/// What one tool does, and what it takes and gives.
#[utoipa::path(
    get,
    path = "/v1/tools/{name}",
    operation_id = "getTool",
    tag = "tools",
    params(("name" = inline(ToolName), Path, description = "The tool"), FormatQuery),
    responses((status = 200, description = "The tool", body = ToolDescription), Failures),
    security(("bearer" = []))
)]
pub(super) async fn show(uri: Uri, Query(query): Query<FormatQuery>) -> Result<Response, Problem> {
    let tool = tool_in(&uri)?;
    Ok((ASK_AGAIN, Json(query.format().spell(tool))).into_response())
}
