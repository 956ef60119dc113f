//! `restore`: the tree as it was.

use anyhow::Result;
use engine::{DotDot, Point, SandboxPath, SnapshotId, Snapshots};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::json;

use crate::ask;
use crate::render::{Output, counted, shown};

/// Differences that are counted before somebody is asked.
const COUNTED: usize = 1000;

/// Brings back the tree at a path.
pub(super) async fn run(
    id: &SnapshotId,
    path: &str,
    sure: bool,
    snapshots: &dyn Snapshots,
    out: &mut Output,
) -> Result<()> {
    let path = SandboxPath::root().resolve(path, DotDot::Clamp)?;
    if !sure && ask::somebody_is_there() {
        confirm(id, &path, snapshots).await?;
    }
    snapshots.restore(id, &path).await.map_err(|err| err.on(&path))?;
    let what = if path.is_root() { "everything".into() } else { shown(path.as_str()) };
    let remark = format!("{what} is again as in {id}");
    out.done(&remark, &json!({ "id": id.as_str(), "path": path.as_str() }))
}

/// Asks, if anything would change.
async fn confirm(id: &SnapshotId, path: &SandboxPath, snapshots: &dyn Snapshots) -> Result<()> {
    let differences = snapshots.diff(Point::Live, Point::Snapshot(id.clone())).await?;
    let beneath = format!("{}/", path.as_str().trim_end_matches('/'));
    let concerned =
        |found: &SandboxPath| found == path || found.as_str().starts_with(beneath.as_str());
    let found: Vec<_> = differences
        .try_filter(|difference| std::future::ready(concerned(&difference.path)))
        .take(COUNTED)
        .try_collect()
        .await?;
    if found.is_empty() {
        return Ok(());
    }
    let least = if found.len() == COUNTED { "at least " } else { "" };
    let count = counted(found.len() as u64, "path");
    ask::insist(&format!("This changes {least}{count}; what is there now is lost. Restore {id}?"))
}
