//! Stores in which trees are tried, one for many of them.

use std::sync::Arc;

use sandkeep_engine::{Limits, SandboxId, Store, VirtualFs};
use storage::MemoryStorage;
use tempfile::TempDir;

use crate::contents::sandbox;

/// A store, and what it takes to open it again.
pub(super) struct Home {
    store: Option<Store>,
    kept: Kept,
    made: u32,
}

enum Kept {
    InMemory,
    AsObjects(Arc<MemoryStorage>),
    InFiles(TempDir),
}

impl Home {
    pub(super) fn in_memory() -> Self {
        Self { store: Some(Store::in_memory()), kept: Kept::InMemory, made: 0 }
    }

    pub(super) fn as_objects() -> Self {
        let storage = Arc::new(MemoryStorage::default());
        let store = Some(Store::flushing(storage.clone()));
        Self { store, kept: Kept::AsObjects(storage), made: 0 }
    }

    pub(super) async fn in_files() -> Self {
        let kept = Kept::InFiles(tempfile::tempdir().unwrap());
        let mut home = Self { store: None, kept, made: 0 };
        home.open().await;
        home
    }

    async fn open(&mut self) {
        self.store = match &self.kept {
            Kept::InMemory => self.store.take(),
            Kept::AsObjects(storage) => Some(Store::flushing(storage.clone())),
            Kept::InFiles(dir) => {
                // What is open must be closed first: nobody else may use the directory.
                drop(self.store.take());
                Some(Store::open(&format!("file:{}", dir.path().display())).await.unwrap())
            }
        };
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub(super) fn fresh_id(&mut self) -> SandboxId {
        self.made += 1;
        sandbox(&format!("n{}", self.made))
    }

    /// A new sandbox.
    pub(super) async fn fresh(&mut self) -> (SandboxId, VirtualFs) {
        let id = self.fresh_id();
        let files = self.store().create(&id, Limits::default()).await.unwrap();
        (id, files)
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
}
