//! `/v2`: files and sessions as agents ask for them, by JSON-RPC; and `/v1/acp`, the agents
//! themselves.

mod agents;
mod outbox;
mod stream;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

pub(crate) use agents::AgentServers;
pub(super) use agents::{operation, problem_components, speaks_for, subject};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(agents::routes())
}
