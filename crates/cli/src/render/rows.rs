//! Lists, as they come: rows of a table for people, an array for programs.

use anyhow::Result;
use comfy_table::Cell;
use serde::Serialize;

use super::Output;
use super::table::lay_out;

/// A JSON array on its way out, one value a line.
#[derive(Default)]
pub(crate) struct JsonArray {
    begun: bool,
}

impl JsonArray {
    /// Adds a value.
    pub(crate) fn push(&mut self, value: &impl Serialize, out: &mut Output) -> Result<()> {
        out.bytes(if self.begun { b",\n" } else { b"[\n" })?;
        self.begun = true;
        out.bytes(serde_json::to_string(value)?.as_bytes())
    }

    /// Writes the end.
    pub(crate) fn finish(self, out: &mut Output) -> Result<()> {
        out.line(if self.begun { "\n]" } else { "[]" })
    }
}

/// What can be listed.
pub(crate) trait Listed {
    /// The titles of its columns.
    const TITLES: &'static [&'static str];

    /// Its row.
    fn cells(&self) -> Vec<Cell>;

    /// The same for programs.
    fn json(&self) -> impl Serialize;
}

/// A list on its way out.
#[derive(Default)]
pub(crate) struct Rows {
    array: JsonArray,
    titled: bool,
}

impl Rows {
    /// Writes a page of the list.
    pub(crate) fn page<T: Listed>(&mut self, page: &[T], out: &mut Output) -> Result<()> {
        if out.json() {
            return page.iter().try_for_each(|one| self.array.push(&one.json(), out));
        }
        if page.is_empty() {
            return Ok(());
        }
        let titles = if self.titled { &[] } else { T::TITLES };
        self.titled = true;
        lay_out(titles, page.iter().map(Listed::cells), out)
    }

    /// Writes the end.
    pub(crate) fn finish(self, out: &mut Output) -> Result<()> {
        if out.json() { self.array.finish(out) } else { Ok(()) }
    }
}

/// What is known of one thing: a word and its value a line.
pub(crate) fn show_rows(
    rows: impl IntoIterator<Item = (&'static str, String)>,
    out: &mut Output,
) -> Result<()> {
    rows.into_iter()
        .try_for_each(|(word, value)| out.line(format!("{word:<13} {value}").trim_end()))
}
