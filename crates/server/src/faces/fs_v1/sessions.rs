//! `POST /v1/sessions/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use http::StatusCode;

use super::errors::{Problems, session_problem};
use super::wire::SessionResponse;
use crate::app::App;
use crate::problem::Problem;

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
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<SessionResponse>, Problem> {
    let Path(id) =
        id.map_err(|err| Problem::unreadable(StatusCode::BAD_REQUEST, err.body_text()))?;
    let created = app.sessions.create(&id, app.working_directory.clone());
    created.map_err(|err| session_problem(&err, &id))?;
    Ok(Json(SessionResponse { healthy: true }))
}
