//! A tree that takes an hour for everything but the bytes of a file.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use engine::{
    ArchiveFormat, ArchiveLimits, ByteStream, Content, Depth, DifferenceStream, Entry, EntryStream,
    FileSystem, If, Leader, Limits, Links, Made, MetadataChange, NewSnapshot, NoticeStream,
    OpenFile, OpenOptions, Page, Parents, Point, Result, SandboxId, SandboxPath, Snapshot,
    SnapshotId, Snapshots, Span, Step, Target, Unpacked, Usage, Watch, WriteOptions, Written,
};

const AN_HOUR: Duration = Duration::from_hours(1);

#[derive(Debug)]
pub(crate) struct Stalled {
    tree: Arc<dyn FileSystem>,
    /// How long the next operations take.
    delays: Arc<Mutex<VecDeque<Duration>>>,
}

impl Stalled {
    pub(crate) fn over(tree: &Arc<dyn FileSystem>) -> Arc<dyn FileSystem> {
        Self::after(tree, &[])
    }

    /// One whose first operations take as long as is said, and each after them an hour.
    pub(crate) fn after(tree: &Arc<dyn FileSystem>, delays: &[Duration]) -> Arc<dyn FileSystem> {
        let delays = Arc::new(Mutex::new(delays.iter().copied().collect()));
        Arc::new(Self { tree: Arc::clone(tree), delays })
    }

    async fn tree(&self) -> &dyn FileSystem {
        let delay = self.delays.lock().unwrap().pop_front();
        tokio::time::sleep(delay.unwrap_or(AN_HOUR)).await;
        &*self.tree
    }

    async fn kept(&self) -> &dyn Snapshots {
        self.tree().await.snapshots().unwrap()
    }
}

#[async_trait]
impl FileSystem for Stalled {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        self.tree().await.stat(path, links).await
    }
    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        self.tree().await.list(dir, page).await
    }
    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        self.tree().await.read(file, span).await
    }
    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        self.tree().await.write(file, body, options).await
    }
    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        self.tree().await.open(file, options).await
    }
    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        self.tree().await.create_dir(dir, parents).await
    }
    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        self.tree().await.symlink(link, target).await
    }
    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        self.tree().await.read_link(link).await
    }
    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        self.tree().await.remove(path, depth, expected).await
    }
    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.tree().await.rename(from, to, target).await
    }
    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.tree().await.copy(from, to, target).await
    }
    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        self.tree().await.set_metadata(path, change).await
    }
    async fn usage(&self) -> Result<Usage> {
        self.tree().await.usage().await
    }
    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        self.tree().await.unpack(dir, archive, format, limits).await
    }
    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        self.tree().await.pack(path, format, limits).await
    }
    async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        self.tree().await.batch(steps).await
    }
    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        self.tree().await.watch(dir, wish).await
    }
    fn snapshots(&self) -> Option<&dyn Snapshots> {
        self.tree.snapshots().map(|_| self as &dyn Snapshots)
    }
    async fn refresh(&self) -> Result<()> {
        self.tree().await.refresh().await
    }
    fn leader(&self) -> Option<Leader> {
        self.tree.leader()
    }
    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        let tree = self.tree.within(path)?;
        Ok(Arc::new(Self { tree, delays: Arc::clone(&self.delays) }))
    }
}

#[async_trait]
impl Snapshots for Stalled {
    async fn create(&self, new: NewSnapshot) -> Result<Snapshot> {
        self.kept().await.create(new).await
    }
    async fn list(&self, after: Option<&SnapshotId>, limit: usize) -> Result<Vec<Snapshot>> {
        self.kept().await.list(after, limit).await
    }
    async fn stat(&self, id: &SnapshotId) -> Result<Snapshot> {
        self.kept().await.stat(id).await
    }
    async fn open(&self, id: &SnapshotId) -> Result<Arc<dyn FileSystem>> {
        self.kept().await.open(id).await
    }
    async fn diff(&self, from: Point, to: Point) -> Result<DifferenceStream> {
        self.kept().await.diff(from, to).await
    }
    async fn restore(&self, id: &SnapshotId, path: &SandboxPath) -> Result<()> {
        self.kept().await.restore(id, path).await
    }
    async fn fork(&self, from: Point, to: &SandboxId, limits: Limits) -> Result<()> {
        self.kept().await.fork(from, to, limits).await
    }
    async fn delete(&self, id: &SnapshotId) -> Result<()> {
        self.kept().await.delete(id).await
    }
    async fn export(&self, from: Point, since: Option<&SnapshotId>) -> Result<ByteStream> {
        self.kept().await.export(from, since).await
    }
    async fn import(&self, stream: ByteStream, new: NewSnapshot) -> Result<Snapshot> {
        self.kept().await.import(stream, new).await
    }
}
