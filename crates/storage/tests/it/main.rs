//! What is not a promise of every backend: the sealed frame, URLs, the probe, and what only a store
//! in a directory goes through.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what goes wrong in a test is a failed test, and its files are its own"
)]

#[cfg(feature = "blobs")]
mod blobs;
mod broken;
mod copying;
mod directory;
mod disk;
mod disk_cache;
#[cfg(feature = "dynamodb")]
mod dynamodb;
mod frame;
mod full;
mod golden;
#[cfg(feature = "postgres")]
mod postgres;
mod power;
mod probe;
#[cfg(feature = "redis")]
mod redis;
mod split;
#[cfg(feature = "sqlite")]
mod sqlite;
mod steady;
mod url;
mod watched;
