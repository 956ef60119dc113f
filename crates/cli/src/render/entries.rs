//! Entries as rows of a table, or as an array of JSON objects; either way as they come.

use anyhow::Result;
use comfy_table::{Cell, Color};
use engine::{Entry, EntryKind};
use serde::Serialize;

use super::rows::JsonArray;
use super::table::{lay_out, right};
use super::{Output, exact_time, shown, size, time};

/// Rows that are laid out together: a longer listing keeps its memory and becomes several blocks.
const BLOCK: usize = 1000;

/// An entry as a program reads it.
#[derive(Serialize)]
pub(crate) struct EntryJson<'a> {
    name: &'a str,
    path: &'a str,
    pub(crate) kind: &'static str,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    /// Levels beneath the directory that was asked for; only in a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<usize>,
}

impl<'a> EntryJson<'a> {
    /// What is known of an entry.
    pub(crate) fn new(entry: &'a Entry) -> Self {
        Self {
            name: entry.path.name(),
            path: entry.path.as_str(),
            kind: entry_kind(entry.kind),
            size: entry.size,
            mode: entry.mode.map(mode),
            created: entry.created.and_then(exact_time),
            modified: entry.modified.and_then(exact_time),
            version: entry.version.as_ref().map(engine::Version::as_str),
            depth: None,
        }
    }
}

/// Which columns a listing has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Columns {
    Few,
    All,
}

/// A listing on its way out.
pub(crate) struct EntryRows {
    columns: Columns,
    block: Vec<Entry>,
    array: JsonArray,
    titled: bool,
}

impl EntryRows {
    /// An empty listing; `long` shows all that is known.
    pub(crate) fn new(long: bool) -> Self {
        let columns = if long { Columns::All } else { Columns::Few };
        Self { columns, block: Vec::new(), array: JsonArray::default(), titled: false }
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: Entry, out: &mut Output) -> Result<()> {
        if out.json() {
            return self.array.push(&EntryJson::new(&entry), out);
        }
        self.block.push(entry);
        if self.block.len() >= BLOCK { self.lay_out(out) } else { Ok(()) }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Output) -> Result<()> {
        if out.json() { self.array.finish(out) } else { self.lay_out(out) }
    }

    fn lay_out(&mut self, out: &mut Output) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let titles = if self.titled { &[] } else { self.titles() };
        let rows = self.block.iter().map(|entry| self.row(entry));
        lay_out(titles, rows, out)?;
        self.titled = true;
        self.block.clear();
        Ok(())
    }

    fn titles(&self) -> &'static [&'static str] {
        match self.columns {
            Columns::Few => &["SIZE", "MODIFIED", "NAME"],
            Columns::All => &["KIND", "MODE", "SIZE", "MODIFIED", "VERSION", "NAME"],
        }
    }

    fn row(&self, entry: &Entry) -> Vec<Cell> {
        let modified = Cell::new(entry.modified.map_or_else(|| "-".into(), time));
        let name = name_cell(entry);
        match self.columns {
            Columns::Few => {
                let size = match entry.kind {
                    EntryKind::Directory => "-".into(),
                    EntryKind::File | EntryKind::Symlink | EntryKind::Special => size(entry.size),
                };
                vec![right(size), modified, name]
            }
            Columns::All => vec![
                Cell::new(entry_kind(entry.kind)),
                Cell::new(entry.mode.map_or_else(|| "-".into(), mode)),
                right(entry.size.to_string()),
                modified,
                Cell::new(entry.version.as_ref().map_or("-", engine::Version::as_str)),
                name,
            ],
        }
    }
}

fn name_cell(entry: &Entry) -> Cell {
    let name = shown(entry.path.name());
    match entry.kind {
        EntryKind::Directory => Cell::new(format!("{name}/")).fg(Color::Blue),
        EntryKind::Symlink => Cell::new(format!("{name}@")).fg(Color::Cyan),
        EntryKind::Special => Cell::new(name).fg(Color::Yellow),
        EntryKind::File => Cell::new(name),
    }
}

/// The kind of an entry in one word.
pub(crate) fn entry_kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Symlink => "symlink",
        EntryKind::Special => "special",
    }
}

fn mode(bits: u32) -> String {
    format!("{bits:04o}")
}
