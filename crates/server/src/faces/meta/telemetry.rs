//! `GET /metrics`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::app::App;
use crate::caller::Caller;
use crate::metrics::MEDIA_TYPE;
use crate::problem::{Class, Problem, ProblemDetails};

/// Counters and histograms, as Prometheus reads them.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "server",
    responses(
        (status = 200, description = "OpenMetrics text",
            content_type = "application/openmetrics-text", body = String),
        (status = 401, description = "The token is missing or wrong",
            content_type = "application/problem+json", body = ProblemDetails),
        (status = 403, description = "An open server does not answer to this host name",
            content_type = "application/problem+json", body = ProblemDetails),
        (status = 500, description = "They could not be written",
            content_type = "application/problem+json", body = ProblemDetails)
    ),
    security(("bearer" = []))
)]
pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    if !caller.sees_all() {
        let message = "a key for some sandboxes may not see figures of all";
        return Err(Problem::new(StatusCode::FORBIDDEN, Class::PERMISSION_DENIED, message)
            .message(message)
            .kind("forbidden")
            .hint("ask with a key for all sandboxes"));
    }
    app.metrics.tell_lost(app.audit.lost());
    app.metrics.tell_agents(app.connections.count());
    let text = app.metrics.render().map_err(|_| {
        let message = "the metrics could not be written";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, Class::STREAM_ERROR, message)
            .message(message)
            .kind("io")
            .hint("try again; every other route still answers")
    })?;
    Ok(([(CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}
