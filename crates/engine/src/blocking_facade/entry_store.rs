//! Entries, for programs that do not know async.

use std::sync::Arc;

use super::{BlockingIter, OwnRuntime};
use crate::{CancellationToken, Depth, EntryStore, Result, SandboxPath, StoredEntry};

/// An [`EntryStore`] whose operations wait: each is the one of the same name there. They take no
/// token, since whoever waits cannot cancel.
///
/// ```
/// # use sandkeep_engine::{BlockingStore, Limits, SandboxId, StoredEntry};
/// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
/// # store.create(&id, Limits::default())?;
/// let entries = store.entries(&id)?;
/// entries.set(StoredEntry::file("config/app.toml", "debug = true")?)?;
/// assert_eq!(entries.get("config/app.toml")?.expect("it was just set").size(), 12);
/// # Ok::<(), sandkeep_engine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockingEntryStore {
    entries: EntryStore,
    runtime: Arc<OwnRuntime>,
}

/// A token that nobody cancels.
fn never() -> CancellationToken {
    CancellationToken::new()
}

impl BlockingEntryStore {
    pub(super) fn on(entries: EntryStore, runtime: Arc<OwnRuntime>) -> Self {
        Self { entries, runtime }
    }

    /// The entry at `path`; none if nothing is there.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// # store.create(&id, Limits::default())?;
    /// # let entries = store.entries(&id)?;
    /// assert!(entries.get("/")?.expect("the root is always there").is_directory());
    /// assert!(entries.get("/missing")?.is_none());
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn get(&self, path: &str) -> Result<Option<StoredEntry>> {
        self.runtime.wait(self.entries.get(path, &never()))
    }

    /// Puts an entry in place.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId, StoredEntry};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// # store.create(&id, Limits::default())?;
    /// # let entries = store.entries(&id)?;
    /// entries.set(StoredEntry::directory("src")?)?;
    /// assert!(entries.exists("src")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn set(&self, entry: StoredEntry) -> Result<()> {
        self.runtime.wait(self.entries.set(entry, &never()))
    }

    /// Puts many entries in place, all or none.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId, StoredEntry};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// # store.create(&id, Limits::default())?;
    /// # let entries = store.entries(&id)?;
    /// entries.set_many(vec![StoredEntry::file("a", "1")?, StoredEntry::file("b", "2")?])?;
    /// assert_eq!(entries.count()?, 3);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn set_many(&self, entries: Vec<StoredEntry>) -> Result<()> {
        self.runtime.wait(self.entries.set_many(entries, &never()))
    }

    /// Removes the entry at `path` and says whether there was one.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Depth, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// # store.create(&id, Limits::default())?;
    /// # let entries = store.entries(&id)?;
    /// assert!(!entries.delete("missing", Depth::One)?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn delete(&self, path: &str, depth: Depth) -> Result<bool> {
        self.runtime.wait(self.entries.delete(path, depth, &never()))
    }

    /// Whether there is an entry at `path`.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// # store.create(&id, Limits::default())?;
    /// assert!(store.entries(&id)?.exists("/")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn exists(&self, path: &str) -> Result<bool> {
        self.runtime.wait(self.entries.exists(path, &never()))
    }

    /// How many entries there are, the root among them.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// # store.create(&id, Limits::default())?;
    /// assert_eq!(store.entries(&id)?.count()?, 1);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn count(&self) -> Result<u64> {
        self.runtime.wait(self.entries.count(&never()))
    }

    /// All paths, as they are found.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// # store.create(&id, Limits::default())?;
    /// assert_eq!(store.entries(&id)?.paths()?.count(), 1);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn paths(&self) -> Result<BlockingIter<SandboxPath>> {
        let stream = self.runtime.wait(self.entries.paths(&never()))?;
        Ok(BlockingIter::on(stream, Arc::clone(&self.runtime)))
    }

    /// The paths that begin with a text.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// store.create(&id, Limits::default())?.write("src/main.rs", "")?;
    /// assert_eq!(store.entries(&id)?.paths_beginning_with("src/m")?.count(), 1);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn paths_beginning_with(&self, prefix: &str) -> Result<BlockingIter<SandboxPath>> {
        let stream = self.runtime.wait(self.entries.paths_beginning_with(prefix, &never()))?;
        Ok(BlockingIter::on(stream, Arc::clone(&self.runtime)))
    }

    /// The paths of what a directory holds itself.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// store.create(&id, Limits::default())?.write("src/main.rs", "")?;
    /// assert_eq!(store.entries(&id)?.children("/")?.count(), 1);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn children(&self, dir: &str) -> Result<BlockingIter<SandboxPath>> {
        let stream = self.runtime.wait(self.entries.children(dir, &never()))?;
        Ok(BlockingIter::on(stream, Arc::clone(&self.runtime)))
    }

    /// All entries with their contents, each read when it is asked for.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// store.create(&id, Limits::default())?.write("a", "12345")?;
    /// let sizes = store.entries(&id)?.entries()?.map(|entry| Ok(entry?.size()));
    /// assert_eq!(sizes.collect::<sandkeep_engine::Result<Vec<_>>>()?, [0, 5]);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn entries(&self) -> Result<BlockingIter<StoredEntry>> {
        let stream = self.runtime.wait(self.entries.entries(&never()))?;
        Ok(BlockingIter::on(stream, Arc::clone(&self.runtime)))
    }

    /// Removes every entry but the root, in one step.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let (store, id) = (BlockingStore::in_memory()?, SandboxId::parse("a")?);
    /// store.create(&id, Limits::default())?.write("a", "1")?;
    /// store.entries(&id)?.clear()?;
    /// assert!(!store.entries(&id)?.exists("a")?);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn clear(&self) -> Result<()> {
        self.runtime.wait(self.entries.clear(&never()))
    }
}
