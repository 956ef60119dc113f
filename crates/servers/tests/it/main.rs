//! The servers start, keep what they are told, and leave nothing behind; the proxy makes trouble.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and looks at the directories of servers"
)]

mod azurite;
mod life;
mod ministack;
mod orphans;
mod postgres;
mod proxy;
mod redis;
mod s3;
mod wire;
