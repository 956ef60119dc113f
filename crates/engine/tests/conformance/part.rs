//! A view of a part of a tree as a tree of its own, so that what every tree promises can be asked of
//! it: paths begin at its floor.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use sandkeep_engine::{
    ArchiveFormat, ArchiveLimits, ByteStream, Content, Depth, DotDot, Entry, EntryStream, Error,
    FileSystem, If, Leader, Links, Made, MetadataChange, Notice, NoticeKind, NoticeStream,
    OpenFile, OpenOptions, Page, Parents, Result, SandboxPath, Snapshots, Span, Step, Target,
    Unpacked, Usage, Watch, WriteOptions, Written,
};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// Where the part lies in the whole.
pub(crate) const FLOOR: &str = "/jail/part";

/// A view whose paths begin at its floor.
#[derive(Debug)]
pub(crate) struct Part {
    view: Arc<dyn FileSystem>,
}

impl Part {
    /// The part of a tree, made first.
    pub(crate) fn of(whole: &dyn FileSystem) -> Arc<dyn FileSystem> {
        let floor = floor();
        let made = whole.create_dir(&floor, Parents::Create);
        block_in_place(|| Handle::current().block_on(made)).unwrap();
        Arc::new(Self { view: whole.within(&floor).unwrap() })
    }
}

fn floor() -> SandboxPath {
    SandboxPath::parse(FLOOR, DotDot::Refuse).unwrap()
}

fn down(path: &SandboxPath) -> Result<SandboxPath> {
    floor().resolve(path.as_str(), DotDot::Refuse)
}

fn up(path: &SandboxPath) -> SandboxPath {
    // Whatever a view tells lies in it.
    let rest = path.strip(&floor()).unwrap();
    rest.split('/')
        .filter(|name| !name.is_empty())
        .fold(SandboxPath::root(), |path, name| path.join(name).unwrap())
}

fn entry_up(entry: Entry) -> Entry {
    Entry { path: up(&entry.path), ..entry }
}

fn error_up(err: Error) -> Error {
    let Some(path) = err.path().map(up) else { return err };
    Error::new(err.kind(), err.message().to_owned()).on(&path)
}

fn notice_up(notice: Notice) -> Notice {
    let kind = match notice.kind {
        NoticeKind::Created { path, entry } => NoticeKind::Created { path: up(&path), entry },
        NoticeKind::Modified { path, entry } => NoticeKind::Modified { path: up(&path), entry },
        NoticeKind::Removed { path, entry } => NoticeKind::Removed { path: up(&path), entry },
        NoticeKind::Renamed { from, path, entry } => {
            NoticeKind::Renamed { from: up(&from), path: up(&path), entry }
        }
        kind @ (NoticeKind::Here | NoticeKind::Resync { .. }) => kind,
    };
    Notice { kind, ..notice }
}

fn steps_down(step: Step) -> Result<Step> {
    Ok(match step {
        Step::Write { file, content, mode, parents, expected } => {
            Step::Write { file: down(&file)?, content, mode, parents, expected }
        }
        Step::CreateDir { dir, parents } => Step::CreateDir { dir: down(&dir)?, parents },
        Step::Symlink { link, target } => Step::Symlink { link: down(&link)?, target },
        Step::Remove { path, depth, expected } => {
            Step::Remove { path: down(&path)?, depth, expected }
        }
        Step::Rename { from, to, target } => {
            Step::Rename { from: down(&from)?, to: down(&to)?, target }
        }
        Step::Copy { from, to, target } => {
            Step::Copy { from: down(&from)?, to: down(&to)?, target }
        }
        Step::SetMetadata { path, change } => Step::SetMetadata { path: down(&path)?, change },
        Step::Check { path, expected } => Step::Check { path: down(&path)?, expected },
    })
}

/// A handle that tells paths of the part.
#[derive(Debug)]
struct PartFile(Arc<dyn OpenFile>);

#[async_trait]
impl OpenFile for PartFile {
    async fn stat(&self) -> Result<Entry> {
        self.0.stat().await.map(entry_up).map_err(error_up)
    }

    async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.0.read_at(offset, len).await.map_err(error_up)
    }

    async fn write_at(&self, offset: u64, bytes: Bytes) -> Result<()> {
        self.0.write_at(offset, bytes).await.map_err(error_up)
    }

    async fn set_len(&self, len: u64) -> Result<()> {
        self.0.set_len(len).await.map_err(error_up)
    }

    async fn sync(&self) -> Result<()> {
        self.0.sync().await.map_err(error_up)
    }
}

#[async_trait]
impl FileSystem for Part {
    async fn stat(&self, path: &SandboxPath, links: Links) -> Result<Entry> {
        self.view.stat(&down(path)?, links).await.map(entry_up).map_err(error_up)
    }

    async fn list(&self, dir: &SandboxPath, page: Page) -> Result<EntryStream> {
        let entries = self.view.list(&down(dir)?, page).await.map_err(error_up)?;
        Ok(entries.map(|entry| entry.map(entry_up).map_err(error_up)).boxed())
    }

    async fn read(&self, file: &SandboxPath, span: Span) -> Result<Content> {
        let content = self.view.read(&down(file)?, span).await.map_err(error_up)?;
        Ok(Content { entry: entry_up(content.entry), ..content })
    }

    async fn write(
        &self,
        file: &SandboxPath,
        body: ByteStream,
        options: WriteOptions,
    ) -> Result<Written> {
        let written = self.view.write(&down(file)?, body, options).await.map_err(error_up)?;
        Ok(Written { entry: entry_up(written.entry), ..written })
    }

    async fn open(&self, file: &SandboxPath, options: OpenOptions) -> Result<Arc<dyn OpenFile>> {
        let opened = self.view.open(&down(file)?, options).await.map_err(error_up)?;
        Ok(Arc::new(PartFile(opened)))
    }

    async fn create_dir(&self, dir: &SandboxPath, parents: Parents) -> Result<Made> {
        let made = self.view.create_dir(&down(dir)?, parents).await.map_err(error_up)?;
        Ok(Made { entry: entry_up(made.entry), ..made })
    }

    async fn symlink(&self, link: &SandboxPath, target: &str) -> Result<Entry> {
        self.view.symlink(&down(link)?, target).await.map(entry_up).map_err(error_up)
    }

    async fn read_link(&self, link: &SandboxPath) -> Result<String> {
        self.view.read_link(&down(link)?).await.map_err(error_up)
    }

    async fn remove(&self, path: &SandboxPath, depth: Depth, expected: If) -> Result<()> {
        self.view.remove(&down(path)?, depth, expected).await.map_err(error_up)
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let moved = self.view.rename(&down(from)?, &down(to)?, target).await;
        moved.map(entry_up).map_err(error_up)
    }

    async fn copy(&self, from: &SandboxPath, to: &SandboxPath, target: Target) -> Result<Entry> {
        let copied = self.view.copy(&down(from)?, &down(to)?, target).await;
        copied.map(entry_up).map_err(error_up)
    }

    async fn set_metadata(&self, path: &SandboxPath, change: MetadataChange) -> Result<Entry> {
        self.view.set_metadata(&down(path)?, change).await.map(entry_up).map_err(error_up)
    }

    async fn usage(&self) -> Result<Usage> {
        self.view.usage().await.map_err(error_up)
    }

    async fn unpack(
        &self,
        dir: &SandboxPath,
        archive: ByteStream,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<Unpacked> {
        let unpacked =
            self.view.unpack(&down(dir)?, archive, format, limits).await.map_err(error_up)?;
        Ok(Unpacked { paths: unpacked.paths.iter().map(up).collect(), ..unpacked })
    }

    async fn pack(
        &self,
        path: &SandboxPath,
        format: ArchiveFormat,
        limits: ArchiveLimits,
    ) -> Result<ByteStream> {
        let packed = self.view.pack(&down(path)?, format, limits).await.map_err(error_up)?;
        Ok(packed.map(|piece| piece.map_err(error_up)).boxed())
    }

    async fn batch(&self, steps: Vec<Step>) -> Result<Vec<Option<Entry>>> {
        let steps = steps.into_iter().map(steps_down).collect::<Result<_>>()?;
        let entries = self.view.batch(steps).await.map_err(error_up)?;
        Ok(entries.into_iter().map(|entry| entry.map(entry_up)).collect())
    }

    async fn watch(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        let notices = self.view.watch(&down(dir)?, wish).await.map_err(error_up)?;
        Ok(notices.map(|notice| notice.map(notice_up).map_err(error_up)).boxed())
    }

    fn snapshots(&self) -> Option<&dyn Snapshots> {
        self.view.snapshots()
    }

    async fn refresh(&self) -> Result<()> {
        self.view.refresh().await
    }

    fn leader(&self) -> Option<Leader> {
        self.view.leader()
    }

    fn within(&self, path: &SandboxPath) -> Result<Arc<dyn FileSystem>> {
        self.view.within(&down(path)?).map_err(error_up)
    }
}
