//! One file a tool, or a few that belong together.

mod batch;
mod create_directory;
mod delete;
mod diff;
mod edit_file;
mod list_directory;
mod look;
mod read_file;
mod reading;
mod relocate;
mod room;
mod search;
mod snapshots;
mod tree;
mod write_file;

pub(crate) use batch::Batch;
pub(crate) use create_directory::CreateDirectory;
pub(crate) use delete::Delete;
pub(crate) use diff::Diff;
pub(crate) use edit_file::EditFile;
pub(crate) use list_directory::ListDirectory;
pub(crate) use look::{Exists, FileInfo};
pub(crate) use read_file::ReadFile;
pub(crate) use relocate::{Copy, Move};
pub(crate) use search::Search;
pub(crate) use snapshots::{ListSnapshots, Restore, TakeSnapshot};
pub(crate) use tree::Tree;
pub(crate) use write_file::{AppendFile, WriteFile};
