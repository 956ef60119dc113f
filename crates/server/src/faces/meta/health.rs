//! Whether the server is well: `/v1/health`, `/v2/health`, `/healthz` and `/readyz`.

use std::error::Error as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{Links, SandboxPath};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::{Class, Problem, ProblemDetails};

/// How the server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HealthResponse {
    /// Always `ok`.
    #[schema(example = "ok")]
    pub(super) status: String,
}

/// Whether the server answers and the token is right.
#[utoipa::path(
    get,
    path = "/v1/health",
    operation_id = "health",
    tag = "server",
    responses(
        (status = 200, description = "It does", body = HealthResponse),
        (status = 401, description = "The token is missing or wrong",
            content_type = "application/problem+json", body = ProblemDetails),
        (status = 403, description = "An open server does not answer to this host name",
            content_type = "application/problem+json", body = ProblemDetails)
    ),
    security(("bearer" = []))
)]
pub(super) async fn health() -> Json<HealthResponse> {
    ok()
}

/// Whether the server answers and the token is right, for clients of `/v2`.
#[utoipa::path(
    get,
    path = "/v2/health",
    operation_id = "agentHealth",
    tag = "server",
    responses(
        (status = 200, description = "It does", body = HealthResponse),
        (status = 401, description = "The token is missing or wrong",
            content_type = "application/problem+json", body = ProblemDetails),
        (status = 403, description = "An open server does not answer to this host name",
            content_type = "application/problem+json", body = ProblemDetails)
    ),
    security(("bearer" = []))
)]
pub(super) async fn agent_health() -> Json<HealthResponse> {
    ok()
}

/// Whether the server answers.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "alive",
    tag = "server",
    responses((status = 200, description = "It does", body = HealthResponse))
)]
pub(super) async fn alive() -> Json<HealthResponse> {
    ok()
}

/// Whether the sandbox can be worked in.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "ready",
    tag = "server",
    responses(
        (status = 200, description = "It can", body = HealthResponse),
        (status = 503, description = "The sandbox's directory cannot be reached",
            content_type = "application/problem+json", body = ProblemDetails)
    )
)]
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<Json<HealthResponse>, Problem> {
    match app.registry.main().files.stat(&SandboxPath::root(), Links::Follow).await {
        Ok(_) => Ok(ok()),
        Err(err) => {
            let source = err.source().map(ToString::to_string);
            tracing::warn!(error = ?err.message(), ?source, "not ready");
            Err(unready())
        }
    }
}

fn ok() -> Json<HealthResponse> {
    Json(HealthResponse { status: "ok".to_owned() })
}

fn unready() -> Problem {
    let message = "the sandbox is unavailable";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Class::STREAM_ERROR, message)
        .message(message)
        .kind("unavailable")
        .hint("look whether the served directory is still there and mounted")
        .header(RETRY_AFTER, HeaderValue::from_static("1"))
}
