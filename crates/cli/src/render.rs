//! How results look: tables for people, JSON for programs.

mod entries;
mod output;
mod readable;
mod rows;
mod snapshots;
mod table;
mod usage;

pub(crate) use entries::{EntryJson, EntryRows};
pub(crate) use output::Output;
pub(crate) use readable::{counted, exact_time, harmless, quoted, shown, size, time};
pub(crate) use rows::{JsonArray, Rows};
pub(crate) use snapshots::SnapshotJson;
pub(crate) use usage::UsageJson;
