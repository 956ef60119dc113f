//! What the library promises beyond what every tree promises.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test is a failed test"
)]

mod blocking_facade;
mod clamped_paths;
mod contents;
mod defects;
mod diff;
mod diff_random;
mod encodings;
mod entry_store;
mod export;
mod fixture;
mod gc;
mod gc_races;
mod growth;
mod host_snapshots;
mod library;
mod meddling;
mod sandboxes;
mod streams;
mod verify;
