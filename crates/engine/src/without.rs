//! A tree of which some parts are hidden, for those who look at much of it at once.
//!
//! What is looked at is looked at in the widest part around it in which nothing is hidden, so that
//! no link leads to what is, whoever changes the tree meanwhile.

use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt as _, TryStreamExt as _, future};

use crate::archive::{ArchiveFormat, ArchiveLimits, Unpacked};
use crate::{
    ByteStream, Content, Depth, Entry, EntryStream, Error, ErrorKind, FileSystem, If, Leader,
    Links, Made, MetadataChange, NoticeStream, OpenFile, OpenOptions, Page, Parents, Result,
    SandboxPath, Snapshots, Span, Step, Target, Usage, Watch, WriteOptions, Written,
};

/// A view without some parts, in which nothing can be changed.
#[derive(Debug)]
pub(crate) struct Without {
    files: Arc<dyn FileSystem>,
    hidden: Arc<[SandboxPath]>,
}

impl Without {
    /// A view of a tree in which nothing at or beneath `hidden` is there.
    pub(crate) fn of(
        files: Arc<dyn FileSystem>,
        hidden: impl Into<Arc<[SandboxPath]>>,
    ) -> Arc<dyn FileSystem> {
        Arc::new(Self { files, hidden: hidden.into() })
    }

    /// The part of the tree in which a look at a path must stay.
    fn around(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        if is_hidden(&self.hidden, path) {
            let message = "path is in a directory that is blocked";
            return Err(Error::new(ErrorKind::OutsideSandbox, message).on(path));
        }
        let is_clear = |part: &SandboxPath| !self.hidden.iter().any(|one| one.starts_with(part));
        let up = std::iter::successors(Some(path.clone()), SandboxPath::parent);
        // Not every path above is one that the tree beneath shows.
        let mut around = self.files.within(path)?;
        for part in up.take_while(is_clear).skip(1) {
            match self.files.within(&part) {
                Ok(wider) => around = wider,
                Err(_) => break,
            }
        }
        Ok(around)
    }
}

fn is_hidden(hidden: &[SandboxPath], path: &SandboxPath) -> bool {
    hidden.iter().any(|one| path.starts_with(one))
}

fn refused<T>() -> Result<T> {
    Err(Error::new(
        ErrorKind::ReadOnly,
        "a part of the tree is hidden, so it can be looked at only",
    ))
}

#[async_trait]
impl FileSystem for Without {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        self.around(path)?.stat(path, links).await
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        let hidden = Arc::clone(&self.hidden);
        let entries = self.around(dir)?.list(dir, page).await?;
        let is_shown = move |entry: &Entry| future::ready(!is_hidden(&hidden, &entry.path));
        Ok(entries.try_filter(is_shown).boxed())
    }

    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        self.around(file)?.read(file, span).await
    }

    async fn write(&self, _: &SandboxPath, _: ByteStream, _: WriteOptions) -> Result<Written> {
        refused()
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        match options {
            OpenOptions::Read => self.around(file)?.open(file, options).await,
            OpenOptions::Write(_) => refused(),
        }
    }

    async fn create_dir(&self, _: &SandboxPath, _: Parents) -> Result<Made> {
        refused()
    }

    async fn symlink(&self, _: &SandboxPath, _: &str) -> Result<Entry> {
        refused()
    }

    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        self.around(link)?.read_link(link).await
    }

    async fn remove(&self, _: &SandboxPath, _: Depth, _: If) -> Result<()> {
        refused()
    }

    async fn rename(&self, _: &SandboxPath, _: &SandboxPath, _: Target) -> Result<Entry> {
        refused()
    }

    async fn copy(&self, _: &SandboxPath, _: &SandboxPath, _: Target) -> Result<Entry> {
        refused()
    }

    async fn set_metadata(&self, _: &SandboxPath, _: MetadataChange) -> Result<Entry> {
        refused()
    }

    async fn usage(&self) -> Result<Usage> {
        refused()
    }

    async fn unpack(
        &self,
        _: &SandboxPath,
        _: ByteStream,
        _: ArchiveFormat,
        _: ArchiveLimits,
    ) -> Result<Unpacked> {
        refused()
    }

    async fn pack(
        &self,
        _: &SandboxPath,
        _: ArchiveFormat,
        _: ArchiveLimits,
    ) -> Result<ByteStream> {
        refused()
    }

    async fn batch(&self, _: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        refused()
    }

    async fn watch(&self, _: &SandboxPath, _: Watch) -> Result<NoticeStream> {
        refused()
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        None
    }

    async fn refresh(&self) -> Result<()> {
        self.files.refresh().await
    }

    fn leader(&self) -> Option<Leader> {
        self.files.leader()
    }

    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        Ok(Self::of(self.files.within(path)?, Arc::clone(&self.hidden)))
    }
}
