//! Snapshots of virtual trees: each is one small record, whatever the size of the tree.

use std::sync::Arc;

use async_trait::async_trait;

use super::{DifferenceStream, NewSnapshot, Point, Record, Snapshot, SnapshotId, Snapshots};
use crate::tree::{End, LARGEST_FILE, resolve_within};
use crate::virtual_fs::{Change, Hold, Root, Trunk, VirtualFs, now};
use crate::{ByteStream, FileSystem, Limits, Links, Result, SandboxId, SandboxPath};

#[async_trait]
impl Snapshots for VirtualFs {
    async fn create(&self, new: NewSnapshot) -> Result<Snapshot> {
        let state = self.trunk().state_to_copy(&Point::Live).await?;
        keep(self.trunk(), &state.root, new).await
    }

    async fn list(&self, after: Option<&SnapshotId>, limit: usize) -> Result<Vec<Snapshot>> {
        let records = self.trunk().snapshots().list(after, limit).await?;
        Ok(records.into_iter().map(|(id, record)| record.snapshot(id)).collect())
    }

    async fn stat(&self, id: &SnapshotId) -> Result<Snapshot> {
        Ok(self.trunk().snapshots().load(id).await?.snapshot(id.clone()))
    }

    async fn open(&self, id: &SnapshotId) -> Result<Arc<dyn FileSystem>> {
        Ok(Arc::new(self.at(self.trunk().snapshots().state(id).await?)))
    }

    async fn diff(&self, from: Point, to: Point) -> Result<DifferenceStream> {
        let trunk = self.trunk();
        let (from, to) = (trunk.state_at(&from).await?, trunk.state_at(&to).await?);
        Ok(super::diff::diff(Arc::clone(trunk), from, to))
    }

    async fn restore(&self, id: &SnapshotId, path: &SandboxPath) -> Result<()> {
        let state = self.trunk().state_to_copy(&Point::Snapshot(id.clone())).await?;
        // A link on the way may lead elsewhere in either state, so that what is asked for and what
        // is meant would differ.
        let above = path.parent().unwrap_or_else(SandboxPath::root);
        let find = self.trunk().read(&state, |root, source| {
            Ok(match resolve_within(&root.tree, &above, path, Links::Keep, source)?.end {
                End::Root => Some(root.tree.clone()),
                End::Item(item) => Some(item.node.clone()),
                End::Missing(_) => None,
            })
        });
        let node = find.await?;
        let change = Change::Restore { path: path.clone(), node }.within(&above);
        self.trunk().change_holding(change, Some(Hold::State(state))).await.map(drop)
    }

    async fn fork(&self, from: Point, to: &SandboxId, limits: Limits) -> Result<()> {
        let state = self.trunk().state_to_copy(&from).await?;
        fork(self.trunk(), state.root.clone(), to, limits).await
    }

    async fn delete(&self, id: &SnapshotId) -> Result<()> {
        self.trunk().snapshots().delete(id).await
    }

    async fn export(&self, from: Point, since: Option<&SnapshotId>) -> Result<ByteStream> {
        let state = self.trunk().state_at(&from).await?;
        let known = match since {
            Some(id) => Some(self.trunk().snapshots().state(id).await?),
            None => None,
        };
        Ok(super::export::export(Arc::clone(self.trunk()), state, known))
    }

    async fn import(&self, stream: ByteStream, new: NewSnapshot) -> Result<Snapshot> {
        import(self.trunk(), self.trunk().shelf.begin(), stream, new).await
    }
}

/// Takes in a stream as a snapshot; until there is one, `stored` holds what came.
async fn import(
    trunk: &Arc<Trunk>,
    stored: Option<Hold>,
    stream: ByteStream,
    new: NewSnapshot,
) -> Result<Snapshot> {
    let imported = super::import::import(trunk, stream).await?;
    trunk.shelf.check_age(stored.as_ref())?;
    let kept = keep(trunk, &imported.root, new).await;
    drop((stored, imported));
    kept
}

/// Keeps a root as a snapshot of a sandbox.
pub(crate) async fn keep(trunk: &Arc<Trunk>, root: &Root, new: NewSnapshot) -> Result<Snapshot> {
    let created = now();
    let NewSnapshot { id, message, labels } = new;
    let id = id.unwrap_or_else(|| SnapshotId::new(created));
    let root = Root { created, writers: Vec::new(), lease: None, ..root.clone() };
    let record = Record { root, message, labels };
    record.check()?;
    let snapshot = record.snapshot(id.clone());
    trunk.snapshots().create(&id, record).await?;
    Ok(snapshot)
}

/// Makes a new sandbox that begins with a root.
pub(crate) async fn fork(
    trunk: &Arc<Trunk>,
    root: Root,
    to: &SandboxId,
    limits: Limits,
) -> Result<()> {
    let usage = root.usage();
    limits.check((0, 0), (usage.bytes, usage.nodes()))?;
    limits.check_file_size(root.sum().largest, LARGEST_FILE)?;
    let (sequence, writers, created) = (0, Vec::new(), now());
    let root = Root { sequence, writers, created, limits, lease: None, ..root };
    trunk.shelf.create(to, root).await.map(drop)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{ErrorKind, Store};

    #[tokio::test]
    async fn an_import_that_others_may_have_taken_for_garbage_is_not_kept() {
        let store = Store::shared();
        let id = SandboxId::parse("trial").unwrap();
        let files = store.create(&id, Limits::default()).await.unwrap();
        let import = async |hours| {
            let stream = files.export(Point::Live, None).await?;
            let stored = store.begun(Duration::from_hours(hours));
            import(files.trunk(), stored, stream, NewSnapshot::default()).await
        };
        assert_eq!(import(7).await.unwrap_err().kind(), ErrorKind::Timeout);
        assert!(Snapshots::list(&files, None, 10).await.unwrap().is_empty());
        import(5).await.unwrap();
        assert_eq!(Snapshots::list(&files, None, 10).await.unwrap().len(), 1);
    }
}
