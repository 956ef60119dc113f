//! What the library promises beyond what every tree promises.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    clippy::type_complexity,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test is a failed test"
)]

mod archives;
mod audit;
mod batch;
mod blocking_facade;
mod clamped_paths;
mod commit;
mod contents;
mod crash;
mod defects;
mod diff;
mod diff_random;
mod distant;
mod edit;
mod encodings;
mod ending;
mod entry_store;
mod export;
mod families;
mod fixture;
mod format;
mod gc;
mod gc_looks;
mod gc_races;
mod growth;
mod held;
mod host_snapshots;
mod keys;
mod library;
mod long;
mod meddling;
mod model;
mod refusals;
mod registry;
mod round_trips;
mod sandboxes;
mod search;
mod sharing;
mod streams;
mod troubled;
mod unpacking;
mod verify;
mod watch;
mod within;
mod writers;
