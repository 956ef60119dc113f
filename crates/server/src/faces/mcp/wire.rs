//! What a client sends and gets, for the description of the interface.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A message of JSON-RPC 2.0, as the Model Context Protocol has them.
#[derive(Serialize, ToSchema)]
pub(super) struct McpMessage {
    /// Always `2.0`.
    #[schema(example = "2.0", pattern = "^2\\.0$")]
    jsonrpc: String,
    /// What the answer is told by: a text or a number. A notification has none.
    #[schema(required = false)]
    id: Option<Value>,
    /// What is asked for.
    #[schema(example = "tools/list", nullable = false)]
    method: Option<String>,
    /// What it is asked of.
    #[schema(nullable = false, value_type = Option<Object>)]
    params: Option<Value>,
    /// What came of a request.
    #[schema(required = false)]
    result: Option<Value>,
    /// Why nothing came of it.
    #[schema(nullable = false)]
    error: Option<McpError>,
}

/// Why nothing came of a request.
#[derive(Serialize, ToSchema)]
pub(super) struct McpError {
    /// As JSON-RPC 2.0 and the protocol say.
    #[schema(example = -32602)]
    code: i32,
    /// What went wrong.
    message: String,
    /// What else there is to say.
    #[schema(required = false)]
    data: Option<Value>,
}
