//! Real servers for tests of stores, on free ports of this machine, a proxy that makes trouble, and
//! real containers.
//!
//! A [`Server`] runs until it is dropped; it dies with the process that started it, however that
//! ends. What it runs was installed by `scripts/install-test-servers`; nothing is installed by a
//! test.
//!
//! ```no_run
//! # use sandkeep_servers::{Kind, Proxy, Server};
//! let server = Server::start(Kind::Redis);
//! let proxy = Proxy::to(server.address());
//! let url = server.url_via(proxy.address(), "some-store");
//! ```

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a server that does not start is a panic, which is how a test fails"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "no client's path is seen here, only the directories of servers"
)]

mod azurite;
mod certificates;
mod containers;
mod http;
mod installed;
mod kind;
mod leftovers;
mod ministack;
mod place;
mod port;
mod postgres;
mod process;
mod proxy;
mod recipe;
mod redis;
mod s3;
mod s3rver;
mod seaweedfs;
mod server;
mod together;

pub use containers::{Container, Engine, Namespace, containers_are_left_out};
pub use kind::Kind;
pub use proxy::{Proxy, Traffic, Trouble};
pub use server::Server;
pub use together::together;
