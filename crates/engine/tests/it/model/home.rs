//! Stores in which trees are tried, one for many of them.

use std::sync::Arc;

use sandkeep_engine::{CollectOptions, Collected, Limits, SandboxId, Store, VirtualFs};
use storage::MemoryStorage;

use crate::contents::sandbox;

/// A store, and what it takes to open it again.
pub(super) struct Home {
    store: Option<Store>,
    kept: Kept,
    /// What the names of new sandboxes begin with.
    names: String,
    made: u32,
}

enum Kept {
    InMemory,
    AsObjects(Arc<MemoryStorage>),
    InFiles(String),
}

impl Home {
    pub(super) fn in_memory() -> Self {
        Self::new(Some(Store::in_memory()), Kept::InMemory, "n")
    }

    pub(super) fn as_objects() -> Self {
        let storage = Arc::new(MemoryStorage::default());
        let store = Some(Store::flushing(storage.clone()));
        Self::new(store, Kept::AsObjects(storage), "n")
    }

    /// The store of files at a URL. Names say who made a sandbox: others have used it before.
    pub(super) async fn in_files(url: &str, names: &str) -> Self {
        let mut home = Self::new(None, Kept::InFiles(url.to_owned()), names);
        home.open().await;
        home
    }

    fn new(store: Option<Store>, kept: Kept, names: &str) -> Self {
        Self { store, kept, names: names.to_owned(), made: 0 }
    }

    async fn open(&mut self) {
        self.store = match &self.kept {
            Kept::InMemory => self.store.take(),
            Kept::AsObjects(storage) => Some(Store::flushing(storage.clone())),
            Kept::InFiles(url) => {
                // What is open must be closed first: nobody else may use the directory.
                drop(self.store.take());
                Some(Store::open(url).await.unwrap())
            }
        };
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub(super) fn fresh_id(&mut self) -> SandboxId {
        self.made += 1;
        sandbox(&format!("{}{}", self.names, self.made))
    }

    /// A new sandbox.
    pub(super) async fn fresh(&self, id: &SandboxId) -> VirtualFs {
        self.store().create(id, Limits::default()).await.unwrap()
    }

    /// A sandbox that exists.
    pub(super) async fn sandbox(&self, id: &SandboxId) -> VirtualFs {
        self.store().sandbox(id).await.unwrap()
    }

    /// A sandbox after the store was closed, which nobody has open, and opened again.
    pub(super) async fn reopened(&mut self, id: &SandboxId) -> VirtualFs {
        self.open().await;
        self.sandbox(id).await
    }

    /// Takes a sandbox away.
    pub(super) async fn forget(&self, id: &SandboxId) {
        self.store().remove(id).await.unwrap();
    }

    /// Takes all sandboxes away.
    pub(super) async fn forget_all(&self) {
        for id in self.store().list(None, usize::MAX).await.unwrap() {
            self.forget(&id).await;
        }
    }

    /// Frees whatever nothing leads to, however new it is.
    pub(super) async fn collect(&self) -> Collected {
        let options = CollectOptions { grace: std::time::Duration::ZERO };
        self.store().collect(options).await.unwrap()
    }
}
