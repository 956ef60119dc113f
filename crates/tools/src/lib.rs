//! File operations as tools that a model or a workflow calls. Knows no transport.
//!
//! A tool is one struct: its fields are the schema of its arguments, its doc comment is what a
//! model reads about it. [`TOOLS`] is the list of them; whoever speaks a protocol offers what is on
//! it and hands each call to [`Call::run`]. What comes back is always a [`ToolResult`].
//!
//! - `tool`: what a tool is, and the list
//! - `tools/`: one file a tool, or a few that belong together
//! - `call`: one call, from arguments to a result
//! - `settings`: how much a call may do, and where; `reach`: where, as the tree enforces it
//! - `outcome`: what came of a call; `failure`: what went wrong, and what to do next
//! - `encoding`: bytes as text, or as base64
//! - `formats`: the list as others spell it

mod call;
mod encoding;
mod failure;
mod formats;
mod outcome;
mod reach;
mod settings;
mod shown;
mod tool;
mod tools;

pub use call::{Call, Progress, ProgressSink};
pub use encoding::TextEncoding;
pub use failure::hint;
pub use formats::Format;
pub use outcome::{Metadata, ToolResult, Truncation, Unit, Why};
pub use settings::{Beginning, CallSettings, Settings};
pub use tool::{Effect, TOOLS, ToolEntry, named, offered};
