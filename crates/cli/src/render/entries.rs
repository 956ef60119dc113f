//! Entries as rows of a table, or as an array of JSON objects; either way as they come.

use anyhow::Result;
use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};
use engine::{Entry, EntryKind, UnixTime};
use jiff::Timestamp;
use serde::Serialize;

use super::{Output, shown, size, time};

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
            kind: kind(entry.kind),
            size: entry.size,
            mode: entry.mode.map(mode),
            created: entry.created.and_then(exact),
            modified: entry.modified.and_then(exact),
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
    written: usize,
}

impl EntryRows {
    /// An empty listing; `long` shows all that is known.
    pub(crate) fn new(long: bool) -> Self {
        let columns = if long { Columns::All } else { Columns::Few };
        Self { columns, block: Vec::new(), written: 0 }
    }

    /// Adds an entry.
    pub(crate) fn push(&mut self, entry: Entry, out: &mut Output) -> Result<()> {
        if out.json() {
            out.bytes(if self.written == 0 { b"[\n" } else { b",\n" })?;
            self.written += 1;
            return out.bytes(serde_json::to_string(&EntryJson::new(&entry))?.as_bytes());
        }
        self.block.push(entry);
        if self.block.len() >= BLOCK { self.lay_out(out) } else { Ok(()) }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Output) -> Result<()> {
        match (out.json(), self.written) {
            (true, 0) => out.line("[]"),
            (true, _) => out.line("\n]"),
            (false, _) => self.lay_out(out),
        }
    }

    fn lay_out(&mut self, out: &mut Output) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        if out.coloured {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        if self.written == 0 {
            table.set_header(self.header());
        }
        for entry in &self.block {
            table.add_row(self.row(entry));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        self.written += self.block.len();
        self.block.clear();
        table.lines().try_for_each(|line| out.line(line.trim_end()))
    }

    fn header(&self) -> Vec<Cell> {
        let titles: &[&str] = match self.columns {
            Columns::Few => &["SIZE", "MODIFIED", "NAME"],
            Columns::All => &["KIND", "MODE", "SIZE", "MODIFIED", "VERSION", "NAME"],
        };
        titles
            .iter()
            .map(|title| match *title {
                "SIZE" => Cell::new(title).set_alignment(CellAlignment::Right),
                _ => Cell::new(title),
            })
            .map(|cell| cell.add_attribute(Attribute::Dim))
            .collect()
    }

    fn row(&self, entry: &Entry) -> Vec<Cell> {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
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
                Cell::new(kind(entry.kind)),
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

fn kind(kind: EntryKind) -> &'static str {
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

fn exact(time: UnixTime) -> Option<String> {
    let nanoseconds = i32::try_from(time.nanoseconds).ok()?;
    Timestamp::new(time.seconds, nanoseconds).ok().map(|time| time.to_string())
}
