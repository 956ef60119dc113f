//! What a caller may do with the snapshots of a sandbox.

use std::sync::Arc;

use super::{Subject, Workspace};
use crate::audit::Told;
use crate::{
    ByteStream, DifferenceStream, Error, ErrorKind, FileSystem, NewSnapshot, Point, Result,
    Sandbox, SandboxPath, Snapshot, SnapshotId, Snapshots,
};

impl Workspace {
    /// Keeps the tree as it is now.
    pub async fn snapshot(&self, new: NewSnapshot) -> Result<Snapshot> {
        let wished = new.id.clone();
        let work = async { self.snapshots()?.create(new).await };
        self.change("snapshot", of(wished.as_ref(), &SandboxPath::root()), work, told).await
    }

    /// The snapshots in the order of their ids: those behind `after`, at most `limit`.
    pub async fn list_snapshots(
        &self,
        after: Option<&SnapshotId>,
        limit: usize,
    ) -> Result<Vec<Snapshot>> {
        let work = async { self.snapshots()?.list(after, limit).await };
        self.look("list_snapshots", &SandboxPath::root(), work).await
    }

    /// One snapshot.
    pub async fn stat_snapshot(&self, id: &SnapshotId) -> Result<Snapshot> {
        let work = async { self.snapshots()?.stat(id).await };
        self.look("stat_snapshot", &SandboxPath::root(), work).await
    }

    /// The same hold on the sandbox as it was. Nothing there can be changed.
    pub async fn at_snapshot(&self, id: &SnapshotId) -> Result<Self> {
        let work = async { self.snapshots()?.open(id).await };
        let files: Arc<dyn FileSystem> =
            self.look("open_snapshot", &SandboxPath::root(), work).await?;
        let sandbox = Sandbox { files, ..Sandbox::clone(&self.sandbox) };
        Ok(Self { sandbox: Arc::new(sandbox), ..self.clone() })
    }

    /// What must happen to `from` to become `to`.
    pub async fn diff(&self, from: Point, to: Point) -> Result<DifferenceStream> {
        let work = async { self.snapshots()?.diff(from, to).await };
        self.look("diff", &SandboxPath::root(), work).await
    }

    /// Brings back the tree at `path` as it was; the root brings back everything.
    pub async fn restore(&self, id: &SnapshotId, path: &SandboxPath) -> Result<()> {
        let work = async { self.snapshots()?.restore(id, path).await };
        self.change("restore", of(Some(id), path), work, |()| Told::default()).await
    }

    /// Forgets a snapshot.
    pub async fn delete_snapshot(&self, id: &SnapshotId) -> Result<()> {
        let work = async { self.snapshots()?.delete(id).await };
        let root = SandboxPath::root();
        self.change("delete_snapshot", of(Some(id), &root), work, |()| Told::default()).await
    }

    /// A state as one stream of bytes: whole, or only what `since` does not have.
    pub async fn export(&self, from: Point, since: Option<&SnapshotId>) -> Result<ByteStream> {
        let work = async { self.snapshots()?.export(from, since).await };
        self.look("export", &SandboxPath::root(), work).await
    }

    /// Takes in what [`Workspace::export`] gave, as a snapshot.
    pub async fn import(&self, stream: ByteStream, new: NewSnapshot) -> Result<Snapshot> {
        let wished = new.id.clone();
        let work = async { self.snapshots()?.import(stream, new).await };
        self.change("import", of(wished.as_ref(), &SandboxPath::root()), work, told).await
    }

    fn snapshots(&self) -> Result<&dyn Snapshots> {
        let none = || Error::new(ErrorKind::Unsupported, "the sandbox keeps no snapshots");
        self.sandbox.files.snapshots().ok_or_else(none)
    }
}

fn of<'a>(id: Option<&'a SnapshotId>, path: &'a SandboxPath) -> Subject<'a> {
    Subject { id: id.map(SnapshotId::as_str), ..Subject::at(path) }
}

fn told(snapshot: &Snapshot) -> Told {
    Told::subject(snapshot.id.as_str())
}
