//! The same [`FileSystem`](engine::FileSystem), spoken over HTTP.
//!
//! A server's sandboxes, and everything that can be done in each, over `/v1/sandboxes`:
//!
//! ```no_run
//! # use sandkeep_client as client;
//! # async fn example() -> engine::Result<()> {
//! use engine::{FileSystem as _, SandboxId, SandboxPath, Span};
//!
//! let server = client::Server::connect("http://127.0.0.1:2468", Some("secret"))?;
//! let files = server.sandbox(&SandboxId::parse("alice")?);
//! let notes = files.read(&SandboxPath::clamped("notes.txt")?, Span::Whole).await?;
//! # drop(notes);
//! # Ok(())
//! # }
//! ```
//!
//! And the files of one sandbox over `/v1/fs`, where a [`SandboxPath`](engine::SandboxPath) is an
//! absolute path as the server's clients see it. What that interface cannot express, such as
//! symbolic links themselves, modes, and the merging of directories, is
//! [`Unsupported`](engine::ErrorKind::Unsupported):
//!
//! ```no_run
//! # use sandkeep_client as client;
//! # async fn example() -> engine::Result<()> {
//! use engine::{FileSystem as _, Span};
//!
//! let files = client::Remote::connect("http://127.0.0.1:2468", Some("secret"))?;
//! let home = files.working_directory(None).await?;
//! let notes = files.read(&home.join("notes.txt")?, Span::Whole).await?;
//! # drop(notes);
//! # Ok(())
//! # }
//! ```

mod arriving;
#[cfg(test)]
mod canned;
mod conditions;
mod connection;
mod elements;
mod endpoint;
mod handle;
mod hint;
mod incoming;
mod lines;
mod listing;
mod outgoing;
mod problem;
mod remote;
mod remote_fs;
mod sandboxes;
mod transport;
mod wire;

pub use hint::{hint, is_stranger};
pub use remote::Remote;
pub use sandboxes::{Key, KeyPage, KeyWish, MadeKey, Presence, SandboxFs, Server};
