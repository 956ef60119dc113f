//! `diff`: what differs between two states of a tree.

use anyhow::Result;
use clap::builder::styling::{AnsiColor, Style};
use engine::{Difference, DifferenceKind, Entry, EntryKind, Point, SandboxPath, Snapshots};
use futures::TryStreamExt as _;
use serde::Serialize;

use crate::render::{EntryJson, JsonArray, Output, shown};

/// A difference as a program reads it.
#[derive(Serialize)]
struct DifferenceJson<'a> {
    change: &'static str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<EntryJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<EntryJson<'a>>,
}

/// Shows what differs, as it is found.
pub(super) async fn run(
    from: &Point,
    to: &Point,
    snapshots: &dyn Snapshots,
    out: &mut Output,
) -> Result<()> {
    let mut found = snapshots.diff(from.clone(), to.clone()).await?;
    let mut array = JsonArray::default();
    while let Some(difference) = found.try_next().await? {
        if out.json() {
            array.push(&json(&difference), out)?;
        } else {
            out.line(&line(&difference, out.coloured))?;
        }
    }
    if out.json() { array.finish(out) } else { Ok(()) }
}

fn json(difference: &Difference) -> DifferenceJson<'_> {
    let (change, from) = match &difference.kind {
        DifferenceKind::Added => ("added", None),
        DifferenceKind::Removed => ("removed", None),
        DifferenceKind::Modified => ("modified", None),
        DifferenceKind::Renamed { from } => ("renamed", Some(from.as_str())),
    };
    DifferenceJson {
        change,
        path: difference.path.as_str(),
        from,
        before: difference.before.as_ref().map(EntryJson::new),
        after: difference.after.as_ref().map(EntryJson::new),
    }
}

/// A difference as `git diff --name-status` shows it.
fn line(difference: &Difference, coloured: bool) -> String {
    let (letter, colour) = match &difference.kind {
        DifferenceKind::Added => ('A', AnsiColor::Green),
        DifferenceKind::Removed => ('D', AnsiColor::Red),
        DifferenceKind::Modified => ('M', AnsiColor::Yellow),
        DifferenceKind::Renamed { .. } => ('R', AnsiColor::Cyan),
    };
    let style = if coloured { colour.on_default() } else { Style::new() };
    let entry = difference.after.as_ref().or(difference.before.as_ref());
    let path = named(&difference.path, entry);
    let words = match &difference.kind {
        DifferenceKind::Renamed { from } => format!("{}\t{path}", named(from, entry)),
        DifferenceKind::Added | DifferenceKind::Removed | DifferenceKind::Modified => path,
    };
    format!("{style}{letter}\t{words}{style:#}")
}

fn named(path: &SandboxPath, entry: Option<&Entry>) -> String {
    let is_dir = entry.is_some_and(|entry| entry.kind == EntryKind::Directory) && !path.is_root();
    format!("{}{}", shown(path.as_str()), if is_dir { "/" } else { "" })
}
