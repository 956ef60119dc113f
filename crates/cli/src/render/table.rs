//! Rows that are laid out together.

use anyhow::Result;
use comfy_table::{Attribute, Cell, CellAlignment, Row, Table, presets};

use super::Output;

/// Titles of columns of numbers, which end at the right.
const NUMBERS: [&str; 3] = ["SIZE", "FILES", "DIRECTORIES"];

/// Writes rows in columns beneath their titles, if there are any.
pub(crate) fn lay_out<R: Into<Row>>(
    titles: &[&str],
    rows: impl IntoIterator<Item = R>,
    out: &mut Output,
) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if out.coloured {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    if !titles.is_empty() {
        table.set_header(titles.iter().map(|title| header(title)));
    }
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().try_for_each(|line| out.line(line.trim_end()))
}

/// A cell that ends at the right, as numbers do.
pub(crate) fn right(text: impl ToString) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn header(title: &str) -> Cell {
    let cell = if NUMBERS.contains(&title) { right(title) } else { Cell::new(title) };
    cell.add_attribute(Attribute::Dim)
}
