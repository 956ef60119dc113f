//! How results look: tables for people, JSON for programs.

mod entries;
mod output;
mod readable;

pub(crate) use entries::{EntryJson, EntryRows};
pub(crate) use output::Output;
pub(crate) use readable::{counted, harmless, quoted, shown, size, time};
