//! How results look: tables for people, JSON for programs.

mod entries;
mod keys;
mod output;
mod readable;
mod rows;
mod sandboxes;
mod snapshots;
mod table;
mod usage;

pub(crate) use entries::{EntryJson, EntryRows, entry_kind};
pub(crate) use keys::KeyJson;
pub(crate) use output::Output;
pub(crate) use readable::{counted, exact_time, harmless, quoted, shown, size, time};
pub(crate) use rows::{JsonArray, Rows, show_rows};
pub(crate) use sandboxes::RegisteredJson;
pub(crate) use snapshots::SnapshotJson;
pub(crate) use usage::{LimitsJson, StoredJson, UsageJson};
