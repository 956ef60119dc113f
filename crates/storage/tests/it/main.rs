//! What is not a promise of every backend: the sealed frame, URLs, the probe, and what only a store
//! in a directory goes through.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "what goes wrong in a test is a failed test, and its files are its own"
)]

mod broken;
mod directory;
mod disk;
mod frame;
mod full;
mod golden;
mod power;
mod probe;
mod url;
