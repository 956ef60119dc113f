//! Everything spoken over HTTP.
//!
//! [`run`] accepts connections and gives each request to a face; a face parses it, makes one call
//! of an [`engine::Workspace`] and renders the answer.

mod accept;
mod app;
mod archives;
mod auth;
mod browsers;
mod caller;
mod conditions;
mod connection;
mod cors;
mod dates;
mod deadline;
mod deeds;
mod expectation;
mod faces;
mod framing;
#[cfg(fuzzing)]
pub mod fuzzing;
mod intake;
mod json_body;
mod jsonrpc;
pub mod mcp;
mod measured;
mod media;
mod metrics;
mod observe;
mod openapi;
mod options;
mod pace;
mod passage;
mod patching;
mod peers;
mod places;
mod problem;
mod query;
mod quota;
mod ranges;
mod reading;
mod refusals;
mod remains;
mod visit;

pub use accept::run;
pub use app::{App, SetupError};
pub use faces::EventBody;
pub use openapi::openapi_json;
pub use options::{Access, AgentRoom, Cors, Options, Timeouts, ToolOptions};
pub use quota::PerKey;
