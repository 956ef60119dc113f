//! A part of a tree under the paths of the whole, for those who may see no more of it.
//!
//! A path that lies elsewhere is refused here. That no link leads out is the business of the tree
//! beneath, which is confined itself: here it would be looked at before it is done.

use std::sync::Arc;

use async_trait::async_trait;

use crate::archive::{ArchiveFormat, ArchiveLimits, Unpacked};
use crate::{
    ByteStream, Content, Depth, Entry, EntryStream, Error, ErrorKind, FileSystem, If, Leader,
    Links, Made, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page, Parents, Result,
    SandboxPath, Snapshots, Span, Step, Target, Usage, Watch, WriteOptions, Written,
};

/// A view of what is at a path and beneath it.
#[derive(Debug)]
pub(crate) struct Within {
    /// The tree, confined to the same path.
    files: Arc<dyn FileSystem>,
    floor: SandboxPath,
}

impl Within {
    /// A view of a tree whose links lead no higher than `floor` already.
    pub(crate) fn of(files: Arc<dyn FileSystem>, floor: &SandboxPath) -> Arc<dyn FileSystem> {
        Arc::new(Self { files, floor: floor.clone() })
    }

    /// A path, if it lies in the view.
    fn inside<'a>(&self, path: &'a SandboxPath) -> Result<&'a SandboxPath> {
        if path.starts_with(&self.floor) {
            return Ok(path);
        }
        let message = format!("path is outside {}", self.floor);
        Err(Error::new(ErrorKind::OutsideSandbox, message).on(path))
    }

    /// A path, if it lies in the view and is not its floor, which stays what it is.
    fn beneath<'a>(&self, path: &'a SandboxPath, refusal: &'static str) -> Result<&'a SandboxPath> {
        if self.inside(path)? == &self.floor {
            return Err(Error::new(ErrorKind::InvalidArgument, refusal).on(path));
        }
        Ok(path)
    }

    fn check_link(&self, link: &SandboxPath) -> Result<()> {
        if self.inside(link)? == &self.floor {
            return Err(Error::new(ErrorKind::AlreadyExists, "destination already exists").on(link));
        }
        Ok(())
    }

    /// Refuses a move or copy that a whole tree would refuse of its root.
    fn check_trip(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<()> {
        if self.inside(from)? == self.inside(to)? {
            return Ok(());
        }
        self.beneath(from, "the directory that one is confined to cannot be moved or copied")?;
        if target == Target::New {
            return self.check_link(to);
        }
        self.beneath(to, "a directory cannot go into itself or replace its parent").map(drop)
    }

    fn check_step(&self, step: &Step) -> Result<()> {
        match step {
            Step::Write { file: path, .. }
            | Step::CreateDir { dir: path, .. }
            | Step::Check { path, .. } => self.inside(path).map(drop),
            Step::Symlink { link, .. } => self.check_link(link),
            Step::Remove { path, .. } => self.beneath(path, REMOVED).map(drop),
            Step::SetMetadata { path, .. } => self.beneath(path, CHANGED).map(drop),
            Step::Rename { from, to, target } | Step::Copy { from, to, target } => {
                self.check_trip(from, to, *target)
            }
        }
    }
}

const REMOVED: &str = "the directory that one is confined to cannot be removed";
const CHANGED: &str = "the mode and time of the directory that one is confined to stay";

#[async_trait]
impl FileSystem for Within {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        self.files.stat(self.inside(path)?, links).await
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        self.files.list(self.inside(dir)?, page).await
    }

    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        self.files.read(self.inside(file)?, span).await
    }

    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        self.files.write(self.inside(file)?, body, options).await
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        self.files.open(self.inside(file)?, options).await
    }

    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        self.files.create_dir(self.inside(dir)?, parents).await
    }

    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        self.check_link(link)?;
        self.files.symlink(link, target).await
    }

    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        self.files.read_link(self.inside(link)?).await
    }

    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        self.files.remove(self.beneath(path, REMOVED)?, depth, expected).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.check_trip(from, to, target)?;
        self.files.rename(from, to, target).await
    }

    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        self.check_trip(from, to, target)?;
        self.files.copy(from, to, target).await
    }

    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        self.files.set_metadata(self.beneath(path, CHANGED)?, change).await
    }

    async fn usage(&self) -> Result<Usage> {
        self.files.usage().await
    }

    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        self.files.unpack(self.inside(dir)?, archive, format, limits).await
    }

    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        self.files.pack(self.inside(path)?, format, limits).await
    }

    async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        steps.iter().try_for_each(|step| self.check_step(step))?;
        self.files.batch(steps).await
    }

    /// States are kept of whole trees.
    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        self.files.watch(self.inside(dir)?, wish).await
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        None
    }

    async fn refresh(&self) -> Result<()> {
        self.files.refresh().await
    }

    fn leader(&self) -> Option<Leader> {
        self.files.leader()
    }

    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        self.files.within(self.inside(path)?)
    }
}
