//! `list` and `stat`: what there is.

use anyhow::Result;
use engine::{Entry, Links, Page};
use futures::TryStreamExt as _;

use crate::command_line::ListFlags;
use crate::render::{EntryJson, Output, shown, size, time};

use super::tree::Tree;

/// Lists a directory.
pub(super) async fn run(flags: &ListFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let dir = tree.locate(&flags.path)?;
    let page = Page { after: flags.after.clone(), limit: flags.limit };
    let mut entries = tree.files.list(&dir, page).await.map_err(|err| err.on(&dir))?;
    let mut rows = crate::render::EntryRows::new(flags.long);
    while let Some(entry) = entries.try_next().await? {
        rows.push(entry, out)?;
    }
    rows.finish(out)
}

/// Shows what is known of one path.
pub(super) async fn stat(path: &str, tree: &Tree, out: &mut Output) -> Result<()> {
    let path = tree.locate(path)?;
    let entry = tree.files.stat(&path, Links::Follow).await.map_err(|err| err.on(&path))?;
    if out.json() {
        return out.value(&EntryJson::new(&entry));
    }
    described(&entry).into_iter().try_for_each(|(word, value)| {
        value.map_or(Ok(()), |value| out.line(&format!("{word:<9} {value}")))
    })
}

fn described(entry: &Entry) -> [(&'static str, Option<String>); 7] {
    let json = EntryJson::new(entry);
    [
        ("path", Some(shown(entry.path.as_str()))),
        ("kind", Some(json.kind.to_owned())),
        ("size", Some(format!("{} ({} bytes)", size(entry.size), entry.size))),
        ("mode", json.mode),
        ("created", entry.created.map(time)),
        ("modified", entry.modified.map(time)),
        ("version", entry.version.as_ref().map(ToString::to_string)),
    ]
}
