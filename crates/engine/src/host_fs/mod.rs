//! A tree in a real directory, confined by the kernel.

mod budget;
mod changes;
mod handle;
mod insert;
mod list;
mod locks;
mod meaning;
mod read;
mod recent;
mod restoring;
mod spool;
mod tender;
mod unpack;
mod watching;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use self::budget::Budget;
pub(crate) use self::changes::note;
use self::locks::Locks;
pub(crate) use self::meaning::{Meaning, host_path, host_time, is_gone, is_settled, unix_time};
use self::watching::Posts;
use crate::archive::{self, ArchiveFormat, ArchiveLimits, Unpacked};
use crate::blocking::Waiting;
use crate::snapshot::HostSnapshots;
use crate::within::Within;
use crate::{
    AttachedOptions, ByteStream, Content, Depth, Entry, EntryStream, Error, ErrorKind, FileSystem,
    If, Leader, Limits, Links, Made, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page,
    Parents, Result, SandboxId, SandboxPath, Snapshots, Span, Step, Store, Target, Usage, Watch,
    WriteMode, WriteOptions, Written, blocking,
};

/// A tree in a real directory. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HostFs {
    tree: Arc<Tree>,
    snapshots: Option<Arc<HostSnapshots>>,
}

#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) dir: Arc<host::Dir>,
    pub(crate) limits: Limits,
    budget: Option<Arc<Budget>>,
    locks: Arc<Locks>,
    posts: Arc<Posts>,
}

/// Whether an answer waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// An acknowledged change survives a power cut.
    Full,
    /// An acknowledged change survives the end of the process, not a power cut.
    Relaxed,
}

/// Whether paths may lead into file systems mounted beneath the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounts {
    /// They end at a mount point.
    Stay,
    /// They may cross.
    Cross,
}

/// How a directory is served.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// How much it may hold.
    pub limits: Limits,
    /// Whether an answer waits for the disk.
    pub durability: Durability,
    /// Whether mounts are crossed.
    pub mounts: Mounts,
    /// Directories that may hold unfinished files, the best first. The first from which a rename
    /// into the root works is used; with none, unfinished files lie hidden beside their target.
    pub staging: Vec<PathBuf>,
}

impl HostFs {
    /// Opens the directory `root`, which must exist. Blocks; meant for start-up.
    ///
    /// What dead processes left unfinished in a staging directory is removed, but for a restore of
    /// this tree, which is finished.
    pub fn open(root: &Path, options: HostOptions) -> Result<Self> {
        let limits = options.limits;
        Self::over(host::Dir::open_root(root, options.into()).meaning()?, limits)
    }

    /// Opens the directory at `path` in the world of a process, such as a container. Blocks.
    pub(crate) fn of_process(
        process: Arc<host::Process>,
        path: &SandboxPath,
        options: AttachedOptions,
    ) -> Result<Self> {
        let AttachedOptions { limits, durability } = options;
        let dir = host::Dir::of_process(process, &host_path(path), durability.into());
        Self::over(dir.meaning()?, limits)
    }

    /// Opens a directory of this tree as a tree of its own, served as this one is. No link on the way
    /// is followed. Blocks.
    pub(crate) fn open_beneath(&self, path: &SandboxPath, limits: Limits) -> Result<Self> {
        let dir = self.tree.dir.open_beneath(&host_path(path));
        Self::over(dir.meaning().map_err(|err| err.on(path))?, limits)
    }

    fn over(dir: host::Dir, limits: Limits) -> Result<Self> {
        let budget = Budget::open(&dir, limits)?.map(Arc::new);
        let (dir, locks, posts) = (Arc::new(dir), Arc::default(), Arc::default());
        let tree = Arc::new(Tree { dir, limits, budget, locks, posts });
        Ok(Self { tree, snapshots: None })
    }

    /// The same tree with snapshots, which `store` keeps as those of the sandbox `id`.
    #[must_use]
    pub fn with_snapshots(self, store: Store, id: SandboxId) -> Self {
        let snapshots = HostSnapshots::new(Arc::clone(&self.tree), store, id);
        Self { tree: self.tree, snapshots: Some(Arc::new(snapshots)) }
    }

    /// Makes sure that the snapshots in the store are those of this directory.
    ///
    /// It is the same one as long as its number and the time of its making stay: it may be moved
    /// within its file system, but a copy of it is another one. Every use of the snapshots of
    /// another directory is refused.
    pub async fn check_snapshots(&self) -> Result<()> {
        self.own_snapshots()?.check().await
    }

    /// Makes the snapshots in the store those of this directory, which took the place of another.
    pub async fn adopt_snapshots(&self) -> Result<()> {
        self.own_snapshots()?.adopt().await
    }

    fn own_snapshots(&self) -> Result<&HostSnapshots> {
        let none = || Error::new(ErrorKind::Unsupported, "the directory keeps no snapshots");
        self.snapshots.as_deref().ok_or_else(none)
    }

    /// Takes care of the tree for as long as it is open, on one thread for all trees: removes what
    /// dead processes left unfinished in it, and counts it from time to time if it has limits, since
    /// others change it without asking us.
    pub fn tend(&self) -> Result<()> {
        tender::tend(&self.tree)
    }

    /// Where the directory is, without any link.
    pub(crate) fn real_path(&self) -> &Path {
        self.tree.dir.path()
    }

    /// The number of the directory, and when it was made.
    pub(crate) fn identity(&self) -> Result<(u64, Option<host::Time>)> {
        let stat = self.tree.dir.stat(Path::new("")).meaning()?;
        Ok((stat.inode, stat.created))
    }

    /// Whether unfinished files lie outside the tree.
    pub fn has_staging(&self) -> bool {
        self.tree.dir.has_staging()
    }

    /// Runs `work` on the tree where it may block.
    async fn on_tree<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Tree>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tree = Arc::clone(&self.tree);
        blocking::run(move || work(&tree)).await
    }

    /// The same for a change, which is short where it waits for no disk.
    async fn changing<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Tree>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if !self.tree.dir.changes_in_memory() {
            return self.on_tree(work).await;
        }
        let tree = Arc::clone(&self.tree);
        blocking::run_soon(move || work(&tree)).await
    }

    /// The same for what may take long and ends when nobody waits for it any more.
    async fn on_tree_awaited<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Tree>, &Waiting) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tree = Arc::clone(&self.tree);
        blocking::run_awaited(move |waiting| work(&tree, waiting)).await
    }
}

impl From<HostOptions> for host::Options {
    fn from(options: HostOptions) -> Self {
        Self {
            mounts: match options.mounts {
                Mounts::Stay => host::Mounts::Stay,
                Mounts::Cross => host::Mounts::Cross,
            },
            durability: options.durability.into(),
            staging: options.staging,
        }
    }
}

impl From<Durability> for host::Durability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::Full => Self::Full,
            Durability::Relaxed => Self::Relaxed,
        }
    }
}

#[async_trait]
impl FileSystem for HostFs {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        self.stat_at(path, links).await
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        let dir = dir.clone();
        self.on_tree(move |tree| list::open(tree, dir, page)).await
    }

    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        self.read_span(file, &span).await
    }

    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        match options.mode {
            WriteMode::CreateNew | WriteMode::Replace => self.replace(file, body, options).await,
            WriteMode::Append | WriteMode::Part(_) => self.insert(file, body, options).await,
        }
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        let file = file.clone();
        self.on_tree(move |tree| handle::open(tree, file, options)).await
    }

    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        let dir = dir.clone();
        self.changing(move |tree| tree.create_dir(&dir, parents)).await
    }

    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        let (link, target) = (link.clone(), target.to_owned());
        self.changing(move |tree| tree.symlink(&link, &target)).await
    }

    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        let link = link.clone();
        self.on_tree(move |tree| tree.read_link(&link)).await
    }

    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        let path = path.clone();
        self.on_tree_awaited(move |tree, waiting| tree.remove(&path, depth, &expected, waiting))
            .await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let (from, to) = (from.clone(), to.clone());
        self.changing(move |tree| tree.rename(&from, &to, target)).await
    }

    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let (from, to) = (from.clone(), to.clone());
        self.on_tree_awaited(move |tree, waiting| tree.copy(&from, &to, target, waiting)).await
    }

    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        let path = path.clone();
        self.changing(move |tree| tree.set_metadata(&path, change)).await
    }

    async fn usage(&self) -> Result<Usage> {
        self.on_tree(|tree| {
            let host::Tally { bytes, files, directories } = tree.dir.tally().meaning()?;
            Ok(Usage { bytes, files, directories })
        })
        .await
    }

    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        let dir = dir.clone();
        let (reader, feed) = archive::feed(archive);
        let work = self.on_tree(move |tree| unpack::unpack(tree, &dir, reader, format, limits));
        archive::drive(feed, work).await
    }

    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        archive::pack(Arc::new(self.clone()), path, format, limits).await
    }

    async fn batch(&self, _: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        let message = "a host directory cannot take many steps as one; a virtual sandbox can";
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        self.watch_dir(dir, wish).await
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        self.snapshots.as_deref().map(|snapshots| snapshots as &dyn Snapshots)
    }

    /// Whoever changes a directory of this machine is seen at once.
    async fn refresh(&self) -> Result<()> {
        Ok(())
    }

    fn leader(&self) -> Option<Leader> {
        None
    }

    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        if path.is_root() {
            return Ok(Arc::new(self.clone()));
        }
        let dir = Arc::new(self.tree.dir.within(&host_path(path)).meaning()?);
        let (limits, budget) = (self.tree.limits, self.tree.budget.clone());
        let (locks, posts) = (Arc::clone(&self.tree.locks), Arc::clone(&self.tree.posts));
        let tree = Arc::new(Tree { dir, limits, budget, locks, posts });
        Ok(Within::of(Arc::new(Self { tree, snapshots: None }), path))
    }
}

impl Tree {
    /// The spot of a path that is not the root.
    fn spot(&self, path: &SandboxPath, links: Links, parents: Parents) -> Result<host::Spot> {
        if path.is_root() {
            return Err(Error::new(ErrorKind::IsADirectory, "path is not a file").on(path));
        }
        let links = match links {
            Links::Follow => host::Links::Follow,
            Links::Keep => host::Links::Keep,
        };
        let parents = match parents {
            Parents::Create => host::Parents::Create,
            Parents::Require => host::Parents::Require,
        };
        self.dir.spot(&host_path(path), links, parents).meaning()
    }
}
