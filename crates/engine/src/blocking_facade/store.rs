//! Stores, for programs that do not know async.

use std::sync::Arc;

use super::{BlockingEntryStore, BlockingFiles, OwnRuntime};
use crate::{EntryStore, Files, Limits, Result, SandboxId, Store};

/// A [`Store`] whose operations wait. Whatever it opens shares its runtime.
///
/// ```
/// # use sandkeep_engine::{BlockingStore, Limits, Result, SandboxId};
/// # fn main() -> Result<()> {
/// let store = BlockingStore::in_memory()?;
/// let files = store.create(&SandboxId::parse("agent-7")?, Limits::default())?;
/// files.write("hello.txt", "hello")?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct BlockingStore {
    store: Store,
    runtime: Arc<OwnRuntime>,
}

impl BlockingStore {
    /// Opens the store at `url`, as [`Store::open`] does.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Result};
    /// let store = BlockingStore::open("memory:")?;
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn open(url: &str) -> Result<Self> {
        let runtime = OwnRuntime::start()?;
        Ok(Self { store: runtime.wait(Store::open(url))?, runtime })
    }

    /// A store whose trees are in memory and end with it.
    ///
    /// ```
    /// let store = sandkeep_engine::BlockingStore::in_memory()?;
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn in_memory() -> Result<Self> {
        Ok(Self { store: Store::in_memory(), runtime: OwnRuntime::start()? })
    }

    /// The files of a new, empty sandbox. One that exists is left as it is.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, ErrorKind, Limits, SandboxId};
    /// # let store = BlockingStore::in_memory()?;
    /// let id = SandboxId::parse("agent-7")?;
    /// store.create(&id, Limits::default())?;
    /// let again = store.create(&id, Limits::default()).unwrap_err();
    /// assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn create(&self, id: &SandboxId, limits: Limits) -> Result<BlockingFiles> {
        let tree = self.runtime.wait(self.store.create(id, limits))?;
        Ok(self.over(Files::new(Arc::new(tree))))
    }

    /// The files of a sandbox that exists.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, ErrorKind, SandboxId};
    /// # let store = BlockingStore::in_memory()?;
    /// let missing = store.files(&SandboxId::parse("agent-7")?).unwrap_err();
    /// assert_eq!(missing.kind(), ErrorKind::NotFound);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn files(&self, id: &SandboxId) -> Result<BlockingFiles> {
        let tree = self.runtime.wait(self.store.sandbox(id))?;
        Ok(self.over(Files::new(Arc::new(tree))))
    }

    /// The entries of a sandbox that exists.
    ///
    /// ```
    /// # use sandkeep_engine::{BlockingStore, Limits, SandboxId};
    /// # let store = BlockingStore::in_memory()?;
    /// let id = SandboxId::parse("agent-7")?;
    /// store.create(&id, Limits::default())?.write("a", "1")?;
    /// assert_eq!(store.entries(&id)?.count()?, 2);
    /// # Ok::<(), sandkeep_engine::Error>(())
    /// ```
    pub fn entries(&self, id: &SandboxId) -> Result<BlockingEntryStore> {
        let tree = self.runtime.wait(self.store.sandbox(id))?;
        Ok(BlockingEntryStore::on(EntryStore::new(tree), Arc::clone(&self.runtime)))
    }

    fn over(&self, files: Files) -> BlockingFiles {
        BlockingFiles::on(files, Arc::clone(&self.runtime))
    }
}
