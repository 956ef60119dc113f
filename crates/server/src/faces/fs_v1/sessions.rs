//! `POST /v1/sessions/{id}`.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use engine::SandboxPath;
use http::StatusCode;

use super::errors::{Problems, session_problem};
use super::wire::SessionResponse;
use crate::problem::Problem;
use crate::visit::Visit;

/// Open a session: relative paths that name it begin at the server's working directory.
///
/// A body is not needed and not read.
#[utoipa::path(
    post,
    path = "/v1/sessions/{id}",
    operation_id = "createSession",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id: 1 to 256 bytes")),
    responses((status = 200, description = "It is open", body = SessionResponse), Problems),
    security(("bearer" = []))
)]
pub(super) async fn create(
    app: Visit,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<SessionResponse>, Problem> {
    let Path(id) =
        id.map_err(|err| Problem::unreadable(StatusCode::BAD_REQUEST, err.body_text()))?;
    let created = app.sessions.create(&app.owner(), &id, usual_directory(&app), BTreeMap::new());
    created.map_err(|err| session_problem(&err, &id))?;
    Ok(Json(SessionResponse { healthy: true }))
}

/// Where the relative paths of a session begin whose client says nothing about it.
pub(in crate::faces) fn usual_directory(app: &Visit) -> SandboxPath {
    // Where the server works means something in its own sandbox alone.
    match app.is_main() {
        true => app.working_directory.clone(),
        false => app.workspace.sandbox().home.clone(),
    }
}
