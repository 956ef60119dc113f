//! One who watches a tree and believes what he is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use sandkeep_engine::{
    Cursor, EntryKind, FileSystem, Links, NoticeKind, NoticeStream, Page, Result, SandboxPath,
    Span, Watch,
};
use tokio::time::timeout;

/// What is where: a directory, a link, or a file with its content.
pub(crate) type Picture = BTreeMap<SandboxPath, Known>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Directory,
    Link,
    File(Vec<u8>),
    /// It was gone when it was looked at, which will be told.
    Gone,
}

/// One who watches everything, and looks at nothing that he was not told of.
pub(crate) struct Client {
    files: Arc<dyn FileSystem>,
    stream: Option<NoticeStream>,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) known: Picture,
    pub(crate) resyncs: usize,
}

impl Client {
    /// One who watches from now on.
    pub(crate) async fn new(files: Arc<dyn FileSystem>) -> Self {
        let known = Picture::new();
        let mut client = Self { files, stream: None, cursor: None, known, resyncs: 0 };
        client.connect().await;
        assert!(client.hear(Duration::from_secs(5)).await);
        client.known = picture(&*client.files).await;
        client
    }

    /// Watches again from where he was.
    pub(crate) async fn connect(&mut self) {
        let after = self.cursor.clone();
        let wish = Watch { recursive: true, after };
        self.stream = Some(self.files.watch(&SandboxPath::root(), wish).await.unwrap());
    }

    pub(crate) fn cut_off(&mut self) {
        self.stream = None;
    }

    /// Takes the next notice; false if there is none for so long.
    pub(crate) async fn hear(&mut self, patience: Duration) -> bool {
        let stream = self.stream.as_mut().unwrap();
        let Ok(notice) = timeout(patience, stream.next()).await else { return false };
        let notice = notice.unwrap().unwrap();
        // As a client would, which keeps the text.
        self.cursor = Some(notice.cursor.to_string().parse().unwrap());
        self.apply(notice.kind).await;
        true
    }

    async fn apply(&mut self, kind: NoticeKind) {
        match kind {
            NoticeKind::Here => {}
            NoticeKind::Resync { .. } => {
                self.resyncs += 1;
                self.known = picture(&*self.files).await;
            }
            NoticeKind::Created { path, entry } | NoticeKind::Modified { path, entry } => {
                self.learn(path, entry).await;
            }
            NoticeKind::Removed { path, .. } => drop(self.take(&path)),
            NoticeKind::Renamed { from, path, entry } => {
                drop(self.take(&from));
                drop(self.take(&path));
                self.learn(path, entry).await;
            }
        }
    }

    async fn learn(&mut self, path: SandboxPath, entry: Option<EntryKind>) {
        let known = look(&*self.files, &path, entry).await;
        self.known.insert(path, known);
    }

    /// Forgets what is at a path and beneath it.
    fn take(&mut self, path: &SandboxPath) -> Picture {
        let rest = self.known.split_off(path);
        let (taken, mut kept): (Picture, Picture) =
            rest.into_iter().partition(|(known, _)| known.starts_with(path));
        self.known.append(&mut kept);
        taken
    }
}

async fn look(files: &dyn FileSystem, path: &SandboxPath, entry: Option<EntryKind>) -> Known {
    let entry = match entry {
        Some(kind) => Some(kind),
        None => files.stat(path, Links::Keep).await.ok().map(|entry| entry.kind),
    };
    match entry {
        Some(EntryKind::Directory) => Known::Directory,
        Some(EntryKind::Symlink) => Known::Link,
        Some(EntryKind::File | EntryKind::Special) | None => {
            match files.read(path, Span::Whole).await {
                Ok(content) => content.body.try_concat_all().await.map_or(Known::Gone, Known::File),
                Err(_) => Known::Gone,
            }
        }
    }
}

/// Everything that is there. What moves meanwhile may be missed, or seen twice; whoever watches is
/// told.
pub(crate) async fn picture(files: &dyn FileSystem) -> Picture {
    let (mut known, mut dirs) = (Picture::new(), vec![SandboxPath::root()]);
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = files.list(&dir, Page::default()).await else { continue };
        for entry in entries.try_collect::<Vec<_>>().await.unwrap_or_default() {
            if entry.kind == EntryKind::Directory {
                dirs.push(entry.path.clone());
            }
            let seen = look(files, &entry.path, Some(entry.kind)).await;
            known.insert(entry.path, seen);
        }
    }
    known
}

trait TryConcatAll {
    async fn try_concat_all(self) -> Result<Vec<u8>>;
}

impl TryConcatAll for sandkeep_engine::ByteStream {
    async fn try_concat_all(self) -> Result<Vec<u8>> {
        self.try_fold(Vec::new(), |mut all, part| async move {
            all.extend_from_slice(&part);
            Ok(all)
        })
        .await
    }
}
