//! What a client sends and gets, for the description of the interface.
#![expect(dead_code, reason = "only the schemas are used: what is read and sent is any JSON")]

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// One message, or a batch of them.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum RpcBody {
    /// A message by itself.
    One(RpcMessage),
    /// A batch: from 1 to 64 of them.
    Many(Vec<RpcMessage>),
}

/// A request, or a notification if it has no id.
#[derive(Serialize, ToSchema)]
pub(super) struct RpcMessage {
    /// Always `2.0`.
    #[schema(example = "2.0", pattern = "^2\\.0$")]
    jsonrpc: String,
    /// What the answer is told by.
    #[schema(required = false)]
    id: Option<RpcId>,
    /// What is asked for.
    #[schema(example = "_sandboxagent/fs/stat")]
    method: String,
    /// What it is asked of.
    #[schema(nullable = false, value_type = Option<Object>)]
    params: Option<Value>,
}

/// A text, or a number.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum RpcId {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
}

/// The answer to one message, or those to a batch.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum RpcAnswer {
    /// The answer to a message by itself.
    One(Box<RpcReply>),
    /// The answers to a batch.
    Many(Vec<RpcReply>),
}

/// The answer to one message: a result or an error.
#[derive(Serialize, ToSchema)]
pub(super) struct RpcReply {
    /// Always `2.0`.
    #[schema(example = "2.0")]
    jsonrpc: String,
    /// That of the message; null if it could not be found out.
    #[schema(required = true)]
    id: Option<RpcId>,
    /// What came of it, whatever the method says.
    result: Option<Value>,
    /// Why nothing came of it.
    #[schema(nullable = false)]
    error: Option<RpcError>,
}

/// Why nothing came of a message.
#[derive(Serialize, ToSchema)]
pub(super) struct RpcError {
    /// As JSON-RPC 2.0 says; -32002 for what is not there, -32001 for what was refused otherwise.
    #[schema(example = -32602)]
    code: i32,
    /// What went wrong.
    message: String,
    /// The problem, as `/v1/fs` would tell it.
    #[schema(nullable = false)]
    data: Option<crate::problem::ProblemDetails>,
}

/// One event of the stream.
#[derive(Serialize, ToSchema)]
pub(super) struct EventOfStream {
    /// Always `message`.
    event: String,
    /// Its number; whoever comes back with it as `Last-Event-ID` gets what came behind it.
    id: String,
    /// A JSON-RPC message.
    data: String,
}
