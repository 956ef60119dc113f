//! `/v1/acp`: agents that clients talk with, as the `sandbox-agent` client knows them, and the one
//! that the server brings.

pub(super) mod agent;
pub(super) mod errors;
pub(super) mod mock;
mod servers;
mod transport;
mod wire;

use std::sync::Arc;

use http::{Method, Uri};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::faces::{Subject, spelled};
use crate::jsonrpc::{Id, Reply};

pub(in crate::faces) use errors::problem_components;
#[cfg(test)]
pub(in crate::faces) use errors::table;
pub(crate) use servers::AgentServers;

const OPERATIONS: &[(&str, &str, &str)] = &[
    ("GET", "/v1/acp", "list_agents"),
    ("HEAD", "/v1/acp", "list_agents"),
    ("POST", "/v1/acp/{server_id}", "tell_agent"),
    ("GET", "/v1/acp/{server_id}", "hear_agent"),
    ("HEAD", "/v1/acp/{server_id}", "hear_agent"),
    ("DELETE", "/v1/acp/{server_id}", "close_agent"),
];

/// What an agent says.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::faces::acp) enum Said {
    /// The answer to the request with this id.
    Reply(Id, Reply),
    /// A request or a notification of its own.
    Message(Value),
}

pub(in crate::faces) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(transport::list)).routes(routes!(
        transport::post,
        transport::events,
        transport::close
    ))
}

/// What a request of a route is called in the audit.
pub(in crate::faces) fn operation(route: &str, method: &Method) -> Option<&'static str> {
    let mut rows = OPERATIONS.iter();
    rows.find(|(verb, at, _)| method == verb && *at == route).map(|(_, _, word)| *word)
}

/// Whether a route is one of these.
pub(in crate::faces) fn speaks_for(route: &str) -> bool {
    OPERATIONS.iter().any(|(_, at, _)| *at == route)
}

/// What a request is about: the name by which an agent is meant.
pub(in crate::faces) fn subject(uri: &Uri) -> Subject {
    let name = uri.path().split('/').nth(3).unwrap_or_default();
    let name = percent_decode_str(name).decode_utf8_lossy();
    Subject { path: None, id: spelled(&name).filter(|name| !name.is_empty()) }
}
