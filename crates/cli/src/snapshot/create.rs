//! `create`: the tree as it is now.

use anyhow::Result;
use engine::{NewSnapshot, Snapshot, SnapshotId, Snapshots};

use crate::command_line::WordFlags;
use crate::render::{Output, SnapshotJson, counted, size};

/// Keeps the tree as it is now.
pub(super) async fn run(
    name: Option<&SnapshotId>,
    words: &WordFlags,
    snapshots: &dyn Snapshots,
    out: &mut Output,
) -> Result<()> {
    let snapshot = snapshots.create(wanted(name, words)).await?;
    say("kept", &snapshot, out)
}

/// A snapshot that is to be made.
pub(super) fn wanted(name: Option<&SnapshotId>, words: &WordFlags) -> NewSnapshot {
    NewSnapshot {
        id: name.cloned(),
        message: words.message.clone(),
        labels: words.labels.iter().cloned().collect(),
    }
}

/// Its name on stdout, where a script finds it, and what it holds beside it.
#[expect(clippy::print_stderr, reason = "a remark for people goes beside the data")]
pub(super) fn say(verb: &str, snapshot: &Snapshot, out: &mut Output) -> Result<()> {
    if out.json() {
        return out.value(&SnapshotJson::new(snapshot));
    }
    out.line(snapshot.id.as_str())?;
    out.flush()?;
    let (files, bytes) = (counted(snapshot.usage.files, "file"), size(snapshot.usage.bytes));
    eprintln!("{verb} {files}, {bytes}");
    Ok(())
}
