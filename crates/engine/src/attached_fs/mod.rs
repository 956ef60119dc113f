//! A tree of a container, found by the root of a process in it.
//!
//! Before every operation it is made sure that the process still lives and has the same root. When it
//! ended, everything fails with [`ErrorKind::SandboxUnavailable`] until the container runs again,
//! perhaps as another process; one that was named by its process id stays away for good.

mod attachment;
mod guard;
mod hold;
mod snapshots;
mod target;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use parking_lot::Mutex;

use self::attachment::{Attachment, Source};
use self::guard::{GuardedFile, guarded, guarded_body, lasting};
use self::hold::Hold;
use self::snapshots::AttachedSnapshots;
pub use self::target::{AttachTarget, ContainerName, ContainerState, Containers};
use crate::archive::{ArchiveFormat, ArchiveLimits, Unpacked};
use crate::{
    ByteStream, Content, Depth, Durability, Entry, EntryStream, Error, ErrorKind, FileSystem, If,
    Leader, Limits, Links, Made, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page,
    Parents, Result, SandboxId, SandboxPath, Snapshots, Span, Step, Store, Target, Usage, Watch,
    WriteOptions, Written,
};

/// A tree of a container or of a process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AttachedFs {
    attachment: Arc<Attachment>,
    snapshots: Option<Arc<AttachedSnapshots>>,
    /// What a view is confined to; the root for the whole.
    floor: SandboxPath,
}

/// Who knows containers, if anybody does.
type Engines = Option<Arc<dyn Containers>>;

/// How an attached tree is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachedOptions {
    /// How much it may hold.
    pub limits: Limits,
    /// Whether an answer waits for the disk.
    pub durability: Durability,
}

impl AttachedFs {
    /// The tree at `path` of a container or process, which need not be there yet. `containers` tells
    /// what containers there are; without it, only processes can be meant.
    pub fn new(
        target: AttachTarget,
        path: SandboxPath,
        options: AttachedOptions,
        containers: Engines,
    ) -> Result<Self> {
        Self::with(target, path, options, (containers, None))
    }

    /// The same tree with snapshots, which `store` keeps as those of the sandbox `id`.
    pub fn new_with_snapshots(
        target: AttachTarget,
        path: SandboxPath,
        options: AttachedOptions,
        containers: Engines,
        kept: (Store, SandboxId),
    ) -> Result<Self> {
        Self::with(target, path, options, (containers, Some(kept)))
    }

    fn with(
        target: AttachTarget,
        path: SandboxPath,
        options: AttachedOptions,
        (containers, kept): (Engines, Option<(Store, SandboxId)>),
    ) -> Result<Self> {
        let source = match (&target, containers) {
            (AttachTarget::Container(name), Some(containers)) => {
                Source::Container(name.clone(), containers)
            }
            (AttachTarget::Container(_), None) => {
                let message = "nobody here knows which containers there are";
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
            (AttachTarget::Process { pid, birth }, _) => {
                Source::Process { pid: *pid, birth: birth.clone(), found: Mutex::default() }
            }
        };
        let attachment = Attachment::new((source, target), path, options, kept);
        let snapshots = attachment
            .snapshots
            .is_some()
            .then(|| Arc::new(AttachedSnapshots { attachment: Arc::clone(&attachment) }));
        Ok(Self { attachment, snapshots, floor: SandboxPath::root() })
    }

    /// Makes sure that the tree is there now. What there never was is
    /// [`NotFound`](ErrorKind::NotFound). Needs a tokio runtime, as every operation does.
    pub async fn attach(&self) -> Result<()> {
        self.attachment.attach().await.map(drop)
    }

    /// Whose tree it is, with what no other process of the same number has. It must be there.
    pub async fn target(&self) -> Result<AttachTarget> {
        let hold = self.attachment.hold().await?;
        Ok(match &self.attachment.target {
            AttachTarget::Container(name) => AttachTarget::Container(name.clone()),
            target @ AttachTarget::Process { pid, .. } => {
                let birth = hold.process.birth().map_err(|err| hold::meaning(err, target))?;
                AttachTarget::Process { pid: *pid, birth: Some(birth) }
            }
        })
    }

    /// Takes care of the tree for as long as it is held, as of a directory.
    pub fn tend(&self) -> Result<()> {
        self.attachment.tended.store(true, Ordering::SeqCst);
        self.attachment.held().map_or(Ok(()), |hold| hold.files.tend())
    }

    /// Makes sure that the snapshots in the store are those of this tree, as
    /// [`HostFs::check_snapshots`](crate::HostFs::check_snapshots) does.
    pub async fn check_snapshots(&self) -> Result<()> {
        self.attachment.hold().await?.files.check_snapshots().await
    }

    /// Makes the snapshots in the store those of this tree, which took the place of another.
    pub async fn adopt_snapshots(&self) -> Result<()> {
        self.attachment.hold().await?.files.adopt_snapshots().await
    }

    /// The tree as it is now, and what it is held by.
    async fn files(&self) -> Result<(Arc<dyn FileSystem>, Arc<Hold>)> {
        let hold = self.attachment.hold().await?;
        let files: Arc<dyn FileSystem> = match self.floor.is_root() {
            true => Arc::new(hold.files.clone()),
            false => hold.files.within(&self.floor)?,
        };
        Ok((files, hold))
    }
}

/// The error of a tree whose process is not there.
fn gone(target: &AttachTarget) -> Error {
    let message = match target {
        AttachTarget::Container(_) => format!("{target} does not run"),
        AttachTarget::Process { .. } => {
            format!("{target} ended, and with it the sandbox that was attached to it")
        }
    };
    Error::new(ErrorKind::SandboxUnavailable, message)
}

#[async_trait]
impl FileSystem for AttachedFs {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.stat(path, links)).await
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        let (files, hold) = self.files().await?;
        Ok(guarded(&hold, lasting(&hold, files.list(dir, page)).await?))
    }

    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        let (files, hold) = self.files().await?;
        let Content { entry, range, body } = lasting(&hold, files.read(file, span)).await?;
        Ok(Content { entry, range, body: guarded(&hold, body) })
    }

    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.write(file, guarded_body(&hold, body), options)).await
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        let (files, hold) = self.files().await?;
        let file = lasting(&hold, files.open(file, options)).await?;
        Ok(Arc::new(GuardedFile::new(&hold, file)))
    }

    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.create_dir(dir, parents)).await
    }

    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.symlink(link, target)).await
    }

    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.read_link(link)).await
    }

    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.remove(path, depth, expected)).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.rename(from, to, target)).await
    }

    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.copy(from, to, target)).await
    }

    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.set_metadata(path, change)).await
    }

    async fn usage(&self) -> Result<Usage> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.usage()).await
    }

    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.unpack(dir, guarded_body(&hold, archive), format, limits)).await
    }

    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        let (files, hold) = self.files().await?;
        Ok(guarded(&hold, lasting(&hold, files.pack(path, format, limits)).await?))
    }

    async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        let (files, hold) = self.files().await?;
        lasting(&hold, files.batch(steps)).await
    }

    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        let (files, hold) = self.files().await?;
        Ok(guarded(&hold, lasting(&hold, files.watch(dir, wish)).await?))
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        self.snapshots.as_deref().map(|snapshots| snapshots as &dyn Snapshots)
    }

    /// Whoever changes the tree in the container is seen at once.
    async fn refresh(&self) -> Result<()> {
        self.attachment.hold().await.map(drop)
    }

    fn leader(&self) -> Option<Leader> {
        None
    }

    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        if !path.starts_with(&self.floor) {
            let message = format!("path is outside {}", self.floor);
            return Err(Error::new(ErrorKind::OutsideSandbox, message).on(path));
        }
        let attachment = Arc::clone(&self.attachment);
        let snapshots = self.snapshots.clone().filter(|_| path.is_root());
        Ok(Arc::new(Self { attachment, snapshots, floor: path.clone() }))
    }
}
