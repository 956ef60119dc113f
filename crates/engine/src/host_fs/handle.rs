//! Open files.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use super::Tree;
use super::budget::whole;
use super::meaning::{Meaning as _, entry, host_path};
use super::spool::Spool;
use crate::buffers::Buffer;
use crate::{
    Create, Entry, ErrorKind, If, Links, MetadataChange, OpenFile, OpenOptions, Parents, Result,
    SandboxPath, WriteMode, WriteOptions, blocking,
};

/// The most that one read gives.
const MOST: usize = 4 << 20;

/// How often a file that gets another name meanwhile is made one of its own again.
const OWN_TRIES: usize = 4;

#[derive(Debug)]
struct HostFile {
    tree: Arc<Tree>,
    file: Arc<host::OpenedFile>,
    path: SandboxPath,
}

/// Opens a file as asked.
pub(super) fn open(
    tree: &Arc<Tree>,
    path: SandboxPath,
    options: OpenOptions,
) -> Result<Arc<dyn OpenFile>> {
    let file = match options {
        OpenOptions::Read => tree.dir.open_file(&host_path(&path)).meaning()?.0,
        OpenOptions::Write(Create::Never) => tree.open_own(&path)?,
        OpenOptions::Write(Create::New) => {
            tree.create_empty(&path)?;
            tree.open_own(&path)?
        }
        OpenOptions::Write(Create::IfMissing) => {
            match tree.create_empty(&path) {
                Err(err) if err.kind() == ErrorKind::AlreadyExists => {}
                outcome => outcome?,
            }
            tree.open_own(&path)?
        }
    };
    Ok(Arc::new(HostFile { tree: Arc::clone(tree), file: Arc::new(file), path }))
}

impl Tree {
    fn create_empty(&self, path: &SandboxPath) -> Result<()> {
        let options = WriteOptions {
            mode: WriteMode::CreateNew,
            parents: Parents::Create,
            expected: If::Always,
            length: None,
        };
        self.put(path, Spool::empty(), &options).map(drop)
    }

    /// Opens a file for writing in place, which only one with a single name may be.
    fn open_own(&self, path: &SandboxPath) -> Result<host::OpenedFile> {
        let spot = self.spot(path, Links::Follow, Parents::Require)?;
        for _ in 0..OWN_TRIES {
            match self.dir.open_spot(&spot) {
                Err(host::Error::Shared) => {}
                outcome => return Ok(outcome.meaning()?.0),
            }
            let guard = self.locks.hold(&spot)?;
            let (file, placed) = self.make_own(path, &spot, MetadataChange::default())?;
            drop(guard);
            // The copy is nobody else's. Across mounts it is yet another file that was placed.
            if file.stat().meaning()?.is_same_file(&placed) {
                return Ok(file);
            }
        }
        Err(super::meaning::meaning(host::Error::Shared))
    }

    fn write_at(&self, file: &host::OpenedFile, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.saturating_add(bytes.len() as u64);
        self.check_file_size(end)?;
        let size = file.stat().meaning()?.size;
        let taken = self.take(whole(end.saturating_sub(size)), 0)?;
        file.write_all_at(bytes, offset).meaning()?;
        file.set_modified(host::precise_now()).meaning()?;
        taken.keep();
        Ok(())
    }

    fn set_len(&self, file: &host::OpenedFile, len: u64) -> Result<()> {
        self.check_file_size(len)?;
        let size = file.stat().meaning()?.size;
        let taken = self.take(whole(len) - whole(size), 0)?;
        file.set_len(len).meaning()?;
        file.set_modified(host::precise_now()).meaning()?;
        taken.keep();
        Ok(())
    }
}

impl HostFile {
    async fn on_file<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tree, &host::OpenedFile) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (tree, file) = (Arc::clone(&self.tree), Arc::clone(&self.file));
        blocking::run(move || work(&tree, &file)).await.map_err(|err| err.on(&self.path))
    }
}

#[async_trait]
impl OpenFile for HostFile {
    async fn stat(&self) -> Result<Entry> {
        let stat = self.on_file(|_, file| file.stat().meaning()).await?;
        Ok(entry(self.path.clone(), &stat))
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        let mut buffer = Buffer::of(len.min(MOST));
        if let Some(read) = self.file.read_cached(buffer.space(), offset).meaning()? {
            return Ok(buffer.filled(read));
        }
        self.on_file(move |_, file| {
            let read = file.read_at(buffer.space(), offset).meaning()?;
            Ok(buffer.filled(read))
        })
        .await
    }

    async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<()> {
        self.on_file(move |tree, file| tree.write_at(file, offset, &bytes)).await
    }

    async fn set_len(&self, len: u64) -> Result<()> {
        self.on_file(move |tree, file| tree.set_len(file, len)).await
    }

    async fn sync(&self) -> Result<()> {
        self.on_file(|tree, file| tree.dir.sync(file).meaning()).await
    }
}
