//! What goes over the wire.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The agents that somebody talks with.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentServerList {
    pub(super) servers: Vec<AgentServerInfo>,
}

/// An agent that somebody talks with.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentServerInfo {
    /// The name that the client chose.
    pub(super) server_id: String,
    /// Which agent it is.
    #[schema(example = "mock")]
    pub(super) agent: String,
    /// When it was begun, in milliseconds since 1970.
    pub(super) created_at_ms: u64,
}

/// One message of JSON-RPC 2.0: a request, a notification or an answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentMessage {
    /// Always `2.0`.
    #[schema(example = "2.0")]
    pub(super) jsonrpc: String,
    /// What tells answers apart: a text or a number. A notification has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<serde_json::Value>,
    /// What is asked for. An answer has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "initialize")]
    pub(super) method: Option<String>,
    /// What the method is called with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) params: Option<serde_json::Value>,
    /// What came of a request, in its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<serde_json::Value>,
    /// Why nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<serde_json::Value>,
}
