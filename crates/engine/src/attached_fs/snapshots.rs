//! The snapshots of an attached tree.

use std::sync::Arc;

use async_trait::async_trait;

use super::Attachment;
use super::guard::{guarded, lasting};
use super::hold::Hold;
use crate::{
    ByteStream, DifferenceStream, Error, ErrorKind, FileSystem, Limits, NewSnapshot, Point, Result,
    SandboxId, SandboxPath, Snapshot, SnapshotId, Snapshots,
};

/// The snapshots of a tree, whichever process it is found by at any moment.
#[derive(Debug)]
pub(super) struct AttachedSnapshots {
    pub(super) attachment: Arc<Attachment>,
}

impl AttachedSnapshots {
    async fn hold(&self) -> Result<Arc<Hold>> {
        self.attachment.hold().await
    }
}

/// The snapshots of the tree as it is held now.
fn of(hold: &Hold) -> Result<&dyn Snapshots> {
    let none = || Error::new(ErrorKind::Unsupported, "the sandbox keeps no snapshots");
    hold.files.snapshots().ok_or_else(none)
}

#[async_trait]
impl Snapshots for AttachedSnapshots {
    async fn create(&self, new: NewSnapshot) -> Result<Snapshot> {
        let hold = self.hold().await?;
        lasting(&hold, of(&hold)?.create(new)).await
    }

    async fn list(&self, after: Option<&SnapshotId>, limit: usize) -> Result<Vec<Snapshot>> {
        of(&*self.hold().await?)?.list(after, limit).await
    }

    async fn stat(&self, id: &SnapshotId) -> Result<Snapshot> {
        of(&*self.hold().await?)?.stat(id).await
    }

    async fn open(&self, id: &SnapshotId) -> Result<Arc<dyn FileSystem>> {
        of(&*self.hold().await?)?.open(id).await
    }

    async fn diff(&self, from: Point, to: Point) -> Result<DifferenceStream> {
        let hold = self.hold().await?;
        Ok(guarded(&hold, lasting(&hold, of(&hold)?.diff(from, to)).await?))
    }

    async fn restore(&self, id: &SnapshotId, path: &SandboxPath) -> Result<()> {
        let hold = self.hold().await?;
        lasting(&hold, of(&hold)?.restore(id, path)).await
    }

    async fn fork(&self, from: Point, to: &SandboxId, limits: Limits) -> Result<()> {
        let hold = self.hold().await?;
        lasting(&hold, of(&hold)?.fork(from, to, limits)).await
    }

    async fn delete(&self, id: &SnapshotId) -> Result<()> {
        of(&*self.hold().await?)?.delete(id).await
    }

    async fn export(&self, from: Point, since: Option<&SnapshotId>) -> Result<ByteStream> {
        let hold = self.hold().await?;
        Ok(guarded(&hold, lasting(&hold, of(&hold)?.export(from, since)).await?))
    }

    async fn import(&self, stream: ByteStream, new: NewSnapshot) -> Result<Snapshot> {
        let hold = self.hold().await?;
        lasting(&hold, of(&hold)?.import(guarded(&hold, stream), new)).await
    }
}
