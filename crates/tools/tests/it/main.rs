//! What tools promise, on every kind of tree.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test is a failed test"
)]

mod batches;
mod directories;
mod failures;
mod fixture;
mod names;
mod reach;
mod reading;
mod relocating;
mod schemas;
mod searching;
mod settings;
mod snapshots;
mod stalled;
mod writing;
