//! A tree as keys and values: paths, and entries with their content.

mod cancel;
mod list;
mod put;
mod stored_entry;
mod walk;

use std::sync::Arc;

use futures::stream::BoxStream;
pub use tokio_util::sync::CancellationToken;

use self::cancel::unless;
pub use self::stored_entry::StoredEntry;
use self::stored_entry::load;
use crate::files::is_absence;
use crate::tree::{Body, Node, Stamp};
use crate::virtual_fs::{Change, now};
use crate::{Depth, FileSystem as _, If, Links, Result, SandboxPath, VirtualFs};

/// Paths as they are found. An error ends it.
pub type PathStream = BoxStream<'static, Result<SandboxPath>>;
/// Entries as they are read. An error ends it.
pub type StoredEntryStream = BoxStream<'static, Result<StoredEntry>>;

/// The key-value view of a virtual tree: a path is a key, an entry with its content a value.
///
/// The root is an entry like every directory, and it is always there. Paths are text by the rules
/// of [`SandboxPath::clamped`]. A symbolic link is an entry whose content is what it holds.
///
/// Every answer comes from one state of the tree: a stream goes on showing the state in which it
/// began, whatever is set or deleted meanwhile.
///
/// Every operation takes a token. One that is cancelled before its commit has no effect; during
/// the commit it happens whole or not at all. Either way it answers with
/// [`Timeout`](crate::ErrorKind::Timeout), the kind of everything that was not waited for.
///
/// ```
/// # use sandkeep_engine::*;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let tree = Store::in_memory().create(&SandboxId::parse("agent-7")?, Limits::default()).await?;
/// let entries = EntryStore::new(tree);
/// let token = CancellationToken::new();
/// entries.set(StoredEntry::file("config/app.toml", "debug = true")?, &token).await?;
/// let entry = entries.get("config/app.toml", &token).await?.expect("it was just set");
/// assert_eq!((entry.name(), entry.size(), entry.mode), ("app.toml", 12, Some(0o644)));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct EntryStore {
    tree: VirtualFs,
}

impl EntryStore {
    /// The entries of a tree.
    ///
    /// ```
    /// # use sandkeep_engine::{CancellationToken, EntryStore, Limits, Result, SandboxId, Store};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let id = SandboxId::parse("agent-7")?;
    /// let tree = Store::in_memory().create(&id, Limits::default()).await?;
    /// let entries = EntryStore::new(tree);
    /// assert_eq!(entries.count(&CancellationToken::new()).await?, 1);
    /// # Ok(()) }
    /// ```
    pub fn new(tree: VirtualFs) -> Self {
        Self { tree }
    }

    /// The entry at `path`; none if nothing is there.
    ///
    /// ```
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("a/b", "content")?, &token).await?;
    /// assert_eq!(entries.get("a/b", &token).await?.expect("it was set").content, "content");
    /// assert!(entries.get("a", &token).await?.expect("its parent was made").is_directory());
    /// assert!(entries.get("x", &token).await?.is_none());
    /// # Ok(()) }
    /// ```
    pub async fn get(&self, path: &str, token: &CancellationToken) -> Result<Option<StoredEntry>> {
        let path = SandboxPath::clamped(path)?;
        let tree = unless(token, self.pinned()).await?;
        let work = async {
            match tree.stat(&path, Links::Keep).await {
                Err(err) if is_absence(err.kind()) => Ok(None),
                found => load(&tree, found?).await.map(Some),
            }
        };
        unless(token, work).await.map_err(|err| err.on(&path))
    }

    /// Puts an entry in place, over the file that is there. Missing directories are made. A file
    /// never takes the place of a directory, nor the reverse.
    ///
    /// ```
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// let script = StoredEntry::file("bin/run", "#!/bin/sh")?;
    /// entries.set(StoredEntry { mode: Some(0o755), ..script }, &token).await?;
    /// let refused = entries.set(StoredEntry::file("bin", "")?, &token).await.unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::IsADirectory);
    /// # Ok(()) }
    /// ```
    pub async fn set(&self, entry: StoredEntry, token: &CancellationToken) -> Result<()> {
        let path = entry.path.clone();
        self.set_many(vec![entry], token).await.map_err(|err| err.on(&path))
    }

    /// Puts many entries in place, all or none: nobody sees some of them without the others. Of
    /// two entries of one path the later one counts.
    ///
    /// ```
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// let both = vec![StoredEntry::file("a", "1")?, StoredEntry::file("a/b", "2")?];
    /// assert!(entries.set_many(both, &token).await.is_err());
    /// assert!(!entries.exists("a", &token).await?);
    /// # Ok(()) }
    /// ```
    pub async fn set_many(
        &self,
        entries: Vec<StoredEntry>,
        token: &CancellationToken,
    ) -> Result<()> {
        unless(token, put::put_all(&self.tree, entries)).await
    }

    /// Removes the entry at `path` and says whether there was one. A directory that holds others
    /// goes only with [`Depth::All`]; the root never.
    ///
    /// ```
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("a/b", "")?, &token).await?;
    /// assert!(entries.delete("a", Depth::One, &token).await.is_err());
    /// assert!(entries.delete("a", Depth::All, &token).await?);
    /// assert!(!entries.delete("a", Depth::All, &token).await?);
    /// # Ok(()) }
    /// ```
    pub async fn delete(
        &self,
        path: &str,
        depth: Depth,
        token: &CancellationToken,
    ) -> Result<bool> {
        let path = SandboxPath::clamped(path)?;
        match unless(token, self.tree.remove(&path, depth, If::Always)).await {
            Ok(()) => Ok(true),
            Err(err) if is_absence(err.kind()) => Ok(false),
            Err(err) => Err(err.on(&path)),
        }
    }

    /// Whether there is an entry at `path`.
    ///
    /// ```
    /// # use sandkeep_engine::{CancellationToken, EntryStore, Limits, Result, SandboxId, Store};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// assert!(entries.exists("/", &token).await?);
    /// assert!(!entries.exists("/a", &token).await?);
    /// # Ok(()) }
    /// ```
    pub async fn exists(&self, path: &str, token: &CancellationToken) -> Result<bool> {
        let path = SandboxPath::clamped(path)?;
        match unless(token, self.tree.stat(&path, Links::Keep)).await {
            Ok(_) => Ok(true),
            Err(err) if is_absence(err.kind()) => Ok(false),
            Err(err) => Err(err.on(&path)),
        }
    }

    /// Removes every entry but the root, in one step, whatever was set meanwhile.
    ///
    /// ```
    /// # use sandkeep_engine::*;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let tree = Store::in_memory().create(&SandboxId::parse("a")?, Limits::default()).await?;
    /// # let (entries, token) = (EntryStore::new(tree), CancellationToken::new());
    /// entries.set(StoredEntry::file("a/b", "")?, &token).await?;
    /// entries.clear(&token).await?;
    /// assert_eq!(entries.count(&token).await?, 1);
    /// # Ok(()) }
    /// ```
    pub async fn clear(&self, token: &CancellationToken) -> Result<()> {
        let trunk = self.tree.trunk();
        let old = &trunk.fresh_state().await?.root;
        // No state had this stamp: the time is the last commit's, the salt is nobody's.
        let stamp = Stamp { time: old.clock, salt: rand::random() };
        let body = Body::Directory(Box::default());
        let node = Node { modified: now(), stamp, body, ..old.tree };
        let change = Change::Restore { path: SandboxPath::root(), node: Some(node) };
        unless(token, trunk.change(change)).await.map(drop)
    }

    /// The tree as it is at this moment, for as long as anybody reads it.
    async fn pinned(&self) -> Result<Arc<VirtualFs>> {
        Ok(Arc::new(self.tree.at(self.tree.trunk().fresh_state().await?)))
    }
}
