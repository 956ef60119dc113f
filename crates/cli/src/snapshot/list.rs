//! `list` and `show`: which snapshots there are.

use anyhow::Result;
use engine::{Snapshot, SnapshotId, Snapshots};

use crate::render::{Output, Rows, SnapshotJson, shown, size, time};

/// Snapshots that are asked for at once.
const PAGE: usize = 500;

/// Lists the snapshots, page after page.
pub(super) async fn run(
    limit: Option<usize>,
    mut after: Option<SnapshotId>,
    snapshots: &dyn Snapshots,
    out: &mut Output,
) -> Result<()> {
    let mut left = limit.unwrap_or(usize::MAX);
    let mut rows = Rows::default();
    while left > 0 {
        let page = snapshots.list(after.as_ref(), left.min(PAGE)).await?;
        rows.page(&page, out)?;
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        left -= page.len().min(left);
    }
    rows.finish(out)
}

/// Shows what is known of one.
pub(super) async fn show(
    id: &SnapshotId,
    snapshots: &dyn Snapshots,
    out: &mut Output,
) -> Result<()> {
    let snapshot = snapshots.stat(id).await?;
    if out.json() {
        return out.value(&SnapshotJson::new(&snapshot));
    }
    described(&snapshot)
        .into_iter()
        .try_for_each(|(word, value)| out.line(format!("{word:<11} {value}").trim_end()))
}

fn described(snapshot: &Snapshot) -> Vec<(&'static str, String)> {
    let usage = snapshot.usage;
    let mut rows = vec![
        ("name", snapshot.id.to_string()),
        ("created", time(snapshot.created)),
        ("message", shown(&snapshot.message)),
        ("files", usage.files.to_string()),
        ("directories", usage.directories.to_string()),
        ("size", format!("{} ({} bytes)", size(usage.bytes), usage.bytes)),
    ];
    let label = |(key, value): (&String, &String)| ("label", shown(&format!("{key}={value}")));
    rows.extend(snapshot.labels.iter().map(label));
    rows
}
