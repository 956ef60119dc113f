//! `/v1/sandboxes`: many sandboxes, and everything that can be done in each of them.

mod diff;
mod files;
mod keys;
mod search;
mod server;
mod snapshots;
mod steps;
mod tree;
mod watch;
mod wire;

pub use self::keys::{Key, KeyPage, KeyWish, MadeKey};
pub use self::server::Server;
pub use self::tree::SandboxFs;
pub use self::watch::Presence;
