//! `/v1/sandboxes`: many sandboxes, and everything that can be done in each of them.

mod diff;
mod files;
mod search;
mod server;
mod snapshots;
mod steps;
mod tree;
mod wire;

pub use self::server::Server;
pub use self::tree::SandboxFs;
