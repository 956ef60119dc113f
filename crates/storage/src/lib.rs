//! Where trees keep their bytes. Knows nothing of files.
//!
//! A [`Storage`] is two things in one place: [`Objects`], immutable bytes by name, and [`Refs`],
//! small values that change by compare-and-swap. Whoever wants to change a tree stores new objects
//! and then swaps the one ref that points at them ([`Storage::commit`]); of two who do so at once
//! one loses and looks again. [`open`] finds the backend that a URL names and refuses it if it does
//! not keep these promises ([`probe()`]).
//!
//! ```
//! # use sandkeep_storage::{self as storage, Domain, Expected, ObjectId, ObjectKey, RefKey, Swap, frame};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> storage::Result<()> {
//! let storage = storage::open("memory:").await?;
//! let object = ObjectKey { domain: Domain::random(), id: ObjectId([7; 32]) };
//! let root = RefKey::new("s/demo/root")?;
//!
//! let objects = vec![(object, frame::seal(b"hello"))];
//! let swap = storage.commit(objects, &root, &Expected::Absent, "first".into()).await?;
//! let Swap::Won(token) = swap else { panic!("somebody else made the ref") };
//!
//! let stored = storage.get(&object).await?.expect("it was just stored");
//! assert_eq!(&frame::open(&stored)?[..], b"hello");
//! storage.swap(&root, &Expected::Token(token), "second".into()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! - `backend`: the traits that a backend implements
//! - `frame`: how an object is sealed
//! - `memory`, `fjall`, `sqlite`, `postgres`, `redis`, `blobs`, `dynamodb`: the backends
//! - `split`: one backend of two
//! - `steady`: what a backend needs that is reached over a network
//! - `address`, `settings`, `url`: how a backend is named and found
//! - `probe`: the race that a backend must survive to be opened

#![cfg_attr(
    not(all(
        feature = "blobs",
        feature = "dynamodb",
        feature = "postgres",
        feature = "redis",
        feature = "sqlite"
    )),
    allow(dead_code, reason = "a build without some backends does not need all that they share")
)]

mod address;
mod backend;
#[cfg(feature = "blobs")]
mod blobs;
mod blocking;
mod copy;
mod disk_cache;
#[cfg(feature = "dynamodb")]
mod dynamodb;
mod error;
mod fjall;
pub mod frame;
mod key;
mod memory;
mod page;
#[cfg(feature = "postgres")]
mod postgres;
mod probe;
#[cfg(feature = "redis")]
mod redis;
mod settings;
mod split;
#[cfg(feature = "sqlite")]
mod sqlite;
mod steady;
mod token;
mod url;

pub use backend::{Capabilities, Objects, Refs, Storage};
pub use copy::{Amount, Copied, Progress, copy, is_unfinished_copy};
pub use disk_cache::DiskCache;
pub use error::{Error, ErrorKind, Result};
pub use key::{Domain, ObjectId, ObjectKey, RefKey};
pub use memory::MemoryStorage;
pub use probe::probe;
pub use steady::steady;
pub use token::{Expected, Listed, Ref, Swap, Token};
pub use url::{connect, open};
