//! Snapshots of host trees: the same records, pages and chunks as those of virtual trees.

mod compare;
mod content;
mod fingerprint;
mod index;
mod keeper;
mod known_names;
mod level;
mod reader;
mod restore;
mod scan;
mod stage;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Mutex, OnceCell};

use self::fingerprint::Fingerprints;
use self::index::Index;
use self::reader::Reader;
use super::virtual_tree::keep;
use super::{DifferenceStream, NewSnapshot, Point, Snapshot, SnapshotId, Snapshots};
use crate::host_fs::{Meaning as _, Tree};
use crate::virtual_fs::{State, Store, Trunk, VirtualFs};
use crate::{
    ByteStream, Error, ErrorKind, FileSystem, Limits, Result, SandboxId, SandboxPath, blocking,
};

/// The snapshots of one host tree, in a store.
#[derive(Debug)]
pub(crate) struct HostSnapshots {
    tree: Arc<Tree>,
    store: Store,
    id: SandboxId,
    /// The sandbox in the store that the snapshots belong to. Its own tree stays empty.
    kept: OnceCell<VirtualFs>,
    index: Index,
    /// Held by who scans or restores: two at once would only be in each other's way.
    turn: Arc<Mutex<()>>,
}

#[async_trait]
impl Snapshots for HostSnapshots {
    async fn create(&self, new: NewSnapshot) -> Result<Snapshot> {
        let trunk = self.trunk().await?;
        // Known before the scan, which may take long.
        if let Some(id) = &new.id
            && trunk.snapshots().load(id).await.is_ok()
        {
            let message = format!("a snapshot `{id}` exists");
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        let state = self.scan().await?;
        keep(trunk, &state.root, new).await
    }

    async fn list(&self, after: Option<&SnapshotId>, limit: usize) -> Result<Vec<Snapshot>> {
        Snapshots::list(self.kept().await?, after, limit).await
    }

    async fn stat(&self, id: &SnapshotId) -> Result<Snapshot> {
        Snapshots::stat(self.kept().await?, id).await
    }

    async fn open(&self, id: &SnapshotId) -> Result<Arc<dyn FileSystem>> {
        Snapshots::open(self.kept().await?, id).await
    }

    async fn diff(&self, from: Point, to: Point) -> Result<DifferenceStream> {
        let (from, to) = if from == to {
            let state = self.state_at(&from).await?;
            (Arc::clone(&state), state)
        } else {
            (self.state_at(&from).await?, self.state_at(&to).await?)
        };
        Ok(super::diff::diff(Arc::clone(self.trunk().await?), from, to))
    }

    async fn restore(&self, id: &SnapshotId, path: &SandboxPath) -> Result<()> {
        let trunk = Arc::clone(self.trunk().await?);
        // Held until all of it was read, even if the snapshot is deleted meanwhile.
        let state = trunk.snapshots().state(id).await?;
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let reader = Reader::new(trunk, state.root.clone());
        let (tree, path) = (Arc::clone(&self.tree), path.clone());
        blocking::run_awaited(move |waiting| {
            let restored = restore::restore(&tree, &reader, &path, waiting);
            drop((turn, state));
            restored
        })
        .await
    }

    async fn fork(&self, from: Point, to: &SandboxId, limits: Limits) -> Result<()> {
        // Held until the new sandbox leads to it.
        let state = match from {
            Point::Live => self.scan().await?,
            Point::Snapshot(_) => self.trunk().await?.state_to_copy(&from).await?,
        };
        super::virtual_tree::fork(self.trunk().await?, state.root.clone(), to, limits).await
    }

    async fn delete(&self, id: &SnapshotId) -> Result<()> {
        self.trunk().await?.snapshots().delete(id).await
    }

    async fn export(&self, from: Point, since: Option<&SnapshotId>) -> Result<ByteStream> {
        let trunk = self.trunk().await?;
        let known = match since {
            Some(id) => Some(trunk.snapshots().state(id).await?),
            None => None,
        };
        Ok(super::export::export(Arc::clone(trunk), self.state_at(&from).await?, known))
    }

    async fn import(&self, stream: ByteStream, new: NewSnapshot) -> Result<Snapshot> {
        Snapshots::import(self.kept().await?, stream, new).await
    }
}

impl HostSnapshots {
    pub(crate) fn new(tree: Arc<Tree>, store: Store, id: SandboxId) -> Self {
        let (kept, index, turn) = (OnceCell::new(), Index::default(), Arc::default());
        Self { tree, store, id, kept, index, turn }
    }

    /// The sandbox in the store, made when it is first needed.
    async fn kept(&self) -> Result<&VirtualFs> {
        self.kept.get_or_try_init(|| self.open_kept()).await
    }

    async fn open_kept(&self) -> Result<VirtualFs> {
        let kept = self.find_kept().await?;
        self.check_origin(kept.trunk()).await?;
        Ok(kept)
    }

    async fn find_kept(&self) -> Result<VirtualFs> {
        let kept = self.store.sandbox_or_new(&self.id, Limits::default()).await?;
        if kept.trunk().state().root.usage().nodes() == 1 {
            return Ok(kept);
        }
        let message = format!("`{}` is a virtual sandbox of the store", self.id);
        Err(Error::new(ErrorKind::AlreadyExists, message))
    }

    /// Refuses snapshots that were taken of another directory: taken together, their history would
    /// be that of neither, and a restore would replace all that is here.
    async fn check_origin(&self, trunk: &Arc<Trunk>) -> Result<()> {
        let Some(last) = self.index.load(trunk).await?.state else { return Ok(()) };
        let tree = Arc::clone(&self.tree);
        let root = blocking::run(move || tree.dir.stat(Path::new("")).meaning()).await?;
        if last.root.tree.stamp == Fingerprints::of(&last.root.family).origin(&root) {
            return Ok(());
        }
        let message = format!(
            "`{}` has the snapshots of another directory: choose another name for those of this \
             one, or adopt them if it took that one's place",
            self.id
        );
        Err(Error::new(ErrorKind::PreconditionFailed, message))
    }

    /// Makes sure that the snapshots are those of this directory.
    pub(crate) async fn check(&self) -> Result<()> {
        self.kept().await.map(drop)
    }

    /// Makes the snapshots those of this directory, whoever had them.
    pub(crate) async fn adopt(&self) -> Result<()> {
        self.index.forget(self.find_kept().await?.trunk()).await?;
        self.scan().await.map(drop)
    }

    async fn trunk(&self) -> Result<&Arc<Trunk>> {
        Ok(self.kept().await?.trunk())
    }

    /// A state, to be read for as long as it is held. The tree as it is now has to be scanned for
    /// that.
    async fn state_at(&self, point: &Point) -> Result<Arc<State>> {
        match point {
            Point::Live => self.scan().await,
            Point::Snapshot(id) => self.trunk().await?.snapshots().state(id).await,
        }
    }

    /// The tree as it is now; the next scan reads only what changed since.
    async fn scan(&self) -> Result<Arc<State>> {
        let trunk = self.trunk().await?;
        let turn = Arc::clone(&self.turn).lock_owned().await;
        // What the scan stores is led to by nothing until the index is.
        let stored = trunk.shelf.begin();
        let known = self.index.load(trunk).await?;
        let (tree, reader) = (Arc::clone(&self.tree), self.reader(trunk));
        let last = known.state.as_ref().map(|state| state.root.clone());
        let scanned = blocking::run_awaited(move |waiting| {
            Ok((scan::scan(&tree, reader, last, waiting), turn))
        });
        let (root, turn) = match scanned.await? {
            // The index is only there to save time.
            (Err(err), turn) if err.kind() == ErrorKind::Io && known.state.is_some() => {
                tracing::warn!(error = &err as &dyn std::error::Error, "a scan failed; again");
                let (tree, reader) = (Arc::clone(&self.tree), self.reader(trunk));
                let again = blocking::run_awaited(move |waiting| {
                    Ok((scan::scan(&tree, reader, None, waiting)?, turn))
                });
                again.await?
            }
            (scanned, turn) => (scanned?, turn),
        };
        let state = trunk.shelf.hold(State { root, token: None });
        self.index.keep(trunk, &state, known, stored).await?;
        drop(turn);
        Ok(state)
    }

    fn reader(&self, trunk: &Arc<Trunk>) -> Reader {
        Reader::new(Arc::clone(trunk), trunk.state().root.clone())
    }
}
