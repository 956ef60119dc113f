//! A tree that is isolated from every host: pages and chunks in a store, or just in memory.

mod body;
mod change;
mod content;
mod copies;
mod current;
mod entry;
mod fresh;
mod gc;
mod handles;
mod lease;
mod list;
mod meaning;
mod merge;
mod objects;
mod options;
mod pins;
mod queue;
mod root;
mod sandboxes;
mod shelf;
mod snapshot_refs;
mod trunk;
mod unpack;
mod verify;
mod watching;

use std::sync::Arc;

use async_trait::async_trait;

pub(crate) use self::body::Intake;
pub(crate) use self::change::Change;
use self::change::{Applied, not_a_directory, not_found};
pub(crate) use self::entry::entry;
#[cfg(fuzzing)]
pub(crate) use self::gc::condemned_again;
pub use self::gc::{CollectOptions, Collected};
pub use self::lease::Leader;
pub(crate) use self::meaning::{doubtful, meaning};
pub(crate) use self::objects::{Family, damaged, for_one};
pub use self::options::{DiskCache, StoreOptions};
pub(crate) use self::pins::Hold;
pub(crate) use self::root::Root;
#[cfg(test)]
pub(crate) use self::root::tests::golden as root_golden;
use self::shelf::Resident;
pub use self::shelf::Store;
pub(crate) use self::shelf::now;
pub(crate) use self::trunk::{State, Trunk};
pub use self::verify::{Problem, Verified};
use crate::archive::{self, ArchiveFormat, ArchiveLimits, Unpacked};
use crate::tree::{Body, End, Node, Source, Stop, Way, glance, outside, resolve_within};
use crate::within::Within;
use crate::{
    ByteStream, Content, Depth, Entry, EntryStream, Error, ErrorKind, FileSystem, If, Limits,
    Links, Made, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page, Parents, Result,
    SandboxPath, Snapshots, Span, Step, Target, UnixTime, Usage, Watch, WriteOptions, Written,
    blocking,
};

/// A virtual tree. Cheap to clone.
#[derive(Clone, Debug)]
pub struct VirtualFs {
    trunk: Arc<Trunk>,
    /// The one state that is shown, for a tree that does not change.
    frozen: Option<Arc<State>>,
    /// What this is a view of: the root if it is the whole tree.
    floor: SandboxPath,
    /// A tree in memory keeps the others of its store, which it may be asked to restore or fork.
    _resident: Option<Arc<Resident>>,
}

impl VirtualFs {
    /// The tree of a sandbox as it is at any moment.
    pub(crate) fn live(trunk: Arc<Trunk>) -> Self {
        let resident = trunk.shelf.resident.upgrade();
        Self { trunk, frozen: None, floor: SandboxPath::root(), _resident: resident }
    }

    /// The tree in one state, which it keeps.
    pub(crate) fn at(&self, state: Arc<State>) -> Self {
        Self { frozen: Some(state), ..self.clone() }
    }

    pub(crate) fn trunk(&self) -> &Arc<Trunk> {
        &self.trunk
    }

    /// The state to read, no older than the store lets it be.
    async fn state(&self) -> Result<Arc<State>> {
        match &self.frozen {
            Some(state) => Ok(Arc::clone(state)),
            None => self.trunk.fresh_state().await,
        }
    }

    /// What is at a path, whatever it takes to find it.
    async fn resolved(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        let state = self.state().await?;
        let found = self.trunk.read(&state, |root, source| {
            let Way { end, .. } = self.way(root, path, links, source)?;
            match end {
                End::Root => Ok(entry(path.clone(), &root.tree)),
                End::Item(item) => Ok(entry(path.clone(), &item.node)),
                End::Missing(_) => Err(not_found().into()),
            }
        });
        found.await
    }

    /// What a look at a node tells, if a look is enough to find it.
    fn glance<T>(&self, path: &SandboxPath, tell: impl FnOnce(&Node) -> Option<T>) -> Option<T> {
        self.trunk.check_there().ok()?;
        // Whatever is refused in a part of a tree needs more than a look.
        let tell = |node: &Node| {
            let is_floor = path == &self.floor && node.is_link();
            if is_floor || !path.starts_with(&self.floor) { None } else { tell(node) }
        };
        match &self.frozen {
            Some(state) => glance(&state.root.tree, path).and_then(tell),
            None if !self.trunk.is_fresh() => None,
            None => glance(&self.trunk.state.look().root.tree, path).and_then(tell),
        }
    }

    /// The trunk, if this tree may change.
    fn writable(&self) -> Result<&Arc<Trunk>> {
        match self.frozen {
            None => Ok(&self.trunk),
            Some(_) => Err(Error::new(ErrorKind::ReadOnly, "a snapshot never changes")),
        }
    }

    /// Where a path leads in a state of the tree.
    fn way(
        &self,
        root: &Root,
        path: &SandboxPath,
        links: Links,
        source: &dyn Source,
    ) -> Result<Way, Stop> {
        resolve_within(&root.tree, &self.floor, path, links, source)
    }

    /// Makes one change.
    async fn change(&self, change: Change) -> Result<Applied> {
        self.writable()?.change(change.within(&self.floor)).await
    }

    /// What the tree may hold.
    pub fn limits(&self) -> Limits {
        self.frozen.as_ref().map_or_else(|| self.trunk.state(), Arc::clone).root.limits
    }

    /// Whether nobody removed the sandbox, as far as it is known here.
    pub(crate) fn is_there(&self) -> bool {
        self.trunk.check_there().is_ok()
    }

    /// When the sandbox was made.
    pub(crate) fn created(&self) -> UnixTime {
        self.frozen.as_ref().map_or_else(|| self.trunk.state(), Arc::clone).root.created
    }

    /// Says what the tree may hold from now on. What it holds already stays.
    pub async fn set_limits(&self, limits: Limits) -> Result<()> {
        // Others may have set them to something else a moment ago.
        let trunk = self.writable()?;
        trunk.refresh().await?;
        if trunk.state().root.limits == limits {
            return Ok(());
        }
        trunk.change(Change::SetLimits(limits)).await.map(drop)
    }
}

#[async_trait]
impl FileSystem for VirtualFs {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        let seen = self.glance(path, |node| {
            (links == Links::Keep || !node.is_link()).then(|| entry(path.clone(), node))
        });
        match seen {
            Some(entry) => Ok(entry),
            // Made when it is needed, which is seldom: it would be most of what every look is made of.
            None => Box::pin(self.resolved(path, links)).await,
        }
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        self.list_dir(dir, page).await
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
        let trunk = self.writable()?;
        let stored = trunk.shelf.begin();
        let path = (&self.floor, file);
        let (content, bytes) = body::take_in(trunk, body, path, &options).await?;
        let WriteOptions { mode, parents, expected, .. } = options;
        let change = Change::Write { file: file.clone(), content, mode, parents, expected };
        trunk.change_holding(change.within(&self.floor), stored).await?.written(bytes)
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        self.open_file(file, options).await
    }

    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        let change = Change::CreateDir { dir: dir.clone(), parents };
        self.change(change).await?.made()
    }

    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        let change = Change::Symlink { link: link.clone(), target: target.into() };
        self.change(change).await?.entry()
    }

    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        let state = self.state().await?;
        let found = self.trunk.read(&state, |root, source| {
            let way = self.way(root, link, Links::Keep, source)?;
            match (&way.end, way.item().map(|item| &item.node.body)) {
                (_, Some(Body::Symlink(target))) => Ok((**target).to_owned()),
                (End::Missing(_), _) => Err(not_found().into()),
                (End::Root | End::Item(_), _) => {
                    let message = "path is not a symbolic link";
                    Err(Error::new(ErrorKind::InvalidArgument, message).into())
                }
            }
        });
        found.await
    }

    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        let change = Change::Remove { path: path.clone(), depth, expected };
        self.change(change).await.map(drop)
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let change = Change::Rename { from: from.clone(), to: to.clone(), target };
        self.change(change).await?.entry()
    }

    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let change = Change::Copy { from: from.clone(), to: to.clone(), target };
        self.change(change).await?.entry()
    }

    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        let change = Change::SetMetadata { path: path.clone(), change };
        self.change(change).await?.entry()
    }

    async fn usage(&self) -> Result<Usage> {
        let state = self.state().await?;
        if self.floor.is_root() {
            return Ok(state.root.usage());
        }
        let usage = self.trunk.read(&state, |root, source| {
            let way = self.way(root, &self.floor, Links::Keep, source)?;
            let item = way.item().ok_or_else(not_found)?;
            Ok(root::usage(&item.node.directory().ok_or_else(not_a_directory)?.sum))
        });
        usage.await
    }

    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        let trunk = Arc::clone(self.writable()?);
        let stored = trunk.shelf.begin();
        let (reader, feed) = archive::feed(archive);
        let (dir, staging) = (dir.clone(), Arc::clone(&trunk));
        let work = blocking::run(move || unpack::unpack(&staging, &dir, reader, format, limits));
        let (unpacked, graft) = archive::drive(feed, work).await?;
        trunk.change_holding(graft.within(&self.floor), stored).await?;
        Ok(unpacked)
    }

    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        archive::pack(Arc::new(self.at(self.state().await?)), path, format, limits).await
    }

    async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        let changes =
            steps.into_iter().map(|step| Change::from(step).within(&self.floor)).collect();
        let applied = self.writable()?.commit(changes).await?;
        Ok(applied.into_iter().map(|applied| applied.entry).collect())
    }

    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        self.watch_dir(dir, wish).await
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        (self.frozen.is_none() && self.floor.is_root()).then_some(self)
    }

    async fn refresh(&self) -> Result<()> {
        if self.frozen.is_some() { Ok(()) } else { self.trunk.refresh().await }
    }

    fn leader(&self) -> Option<Leader> {
        if self.frozen.is_some() { None } else { self.trunk.leader() }
    }

    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        if path.is_root() {
            return Ok(Arc::new(self.clone()));
        }
        if !path.starts_with(&self.floor) {
            return Err(outside());
        }
        let part = Self { floor: path.clone(), ..self.clone() };
        Ok(Within::of(Arc::new(part), path))
    }
}
