//! The same [`FileSystem`](engine::FileSystem), spoken over HTTP to a server's `/v1/fs`.
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
//!
//! A [`SandboxPath`](engine::SandboxPath) is an absolute path as the server's clients see it.
//! What the interface cannot express, such as symbolic links themselves, modes, and the merging
//! of directories, is [`Unsupported`](engine::ErrorKind::Unsupported).

#[cfg(test)]
mod canned;
mod conditions;
mod connection;
mod elements;
mod handle;
mod hint;
mod incoming;
mod listing;
mod outgoing;
mod problem;
mod remote;
mod remote_fs;
mod transport;
mod wire;

pub use hint::hint;
pub use remote::Remote;
