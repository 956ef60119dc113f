//! A tree that takes an hour for everything but the bytes of a file.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::{
    ArchiveFormat, ArchiveLimits, ByteStream, Content, Depth, Entry, EntryStream, FileSystem, If,
    Leader, Links, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page, Parents, Result,
    SandboxPath, Snapshots, Span, Step, Target, Unpacked, Usage, Watch, WriteOptions, Written,
};

const AN_HOUR: Duration = Duration::from_hours(1);

#[derive(Debug)]
pub(crate) struct Stalled(Arc<dyn FileSystem>);

impl Stalled {
    pub(crate) fn over(tree: &Arc<dyn FileSystem>) -> Arc<dyn FileSystem> {
        Arc::new(Self(Arc::clone(tree)))
    }

    async fn tree(&self) -> &dyn FileSystem {
        tokio::time::sleep(AN_HOUR).await;
        &*self.0
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
    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Entry> {
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
        self.0.snapshots()
    }
    async fn refresh(&self) -> Result<()> {
        self.tree().await.refresh().await
    }
    fn leader(&self) -> Option<Leader> {
        self.0.leader()
    }
    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        self.0.within(path).map(|tree| Self::over(&tree))
    }
}
