//! One who looks at nothing that he was not told of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use engine::{EntryKind, FileSystem, NoticeKind, Page, SandboxPath, Span};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long nothing must be told at the end.
const QUIET: Duration = Duration::from_secs(2);
/// How long something that must be told may take: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many notices are taken together, and how many things are looked at at once.
const TOGETHER: usize = 64;
const AT_ONCE: usize = 4;

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

/// One who keeps a picture of a tree by what he is told.
pub(crate) struct Believer {
    files: Arc<dyn FileSystem>,
    notices: mpsc::Receiver<NoticeKind>,
    pub(crate) known: Picture,
    pub(crate) told: usize,
    pub(crate) resyncs: usize,
}

impl Believer {
    /// One who hears these notices, of which the first says that they have begun.
    pub(crate) async fn new(
        files: Arc<dyn FileSystem>,
        mut notices: mpsc::Receiver<NoticeKind>,
    ) -> Self {
        let first = timeout(PATIENCE, notices.recv()).await.expect("the watch begins");
        assert_eq!(first, Some(NoticeKind::Here));
        let known = picture(&*files).await;
        Self { files, notices, known, told: 0, resyncs: 0 }
    }

    /// Believes what he is told until he knows of the last thing that was made, and it is quiet.
    pub(crate) async fn hear_out(mut self, last: SandboxPath) -> Self {
        loop {
            let is_last = self.known.contains_key(&last);
            let patience = if is_last { QUIET } else { PATIENCE };
            let mut notices = Vec::new();
            let heard = timeout(patience, self.notices.recv_many(&mut notices, TOGETHER)).await;
            if heard.is_err() && is_last {
                return self;
            }
            assert_ne!(heard.expect("the last thing is told in time"), 0, "the watch ended");
            self.take_in(notices).await;
        }
    }

    async fn take_in(&mut self, notices: Vec<NoticeKind>) {
        let mut unseen = BTreeMap::new();
        for notice in notices {
            self.told += 1;
            match notice {
                NoticeKind::Here => {}
                NoticeKind::Resync { .. } => {
                    self.resyncs += 1;
                    unseen.clear();
                    self.known = picture(&*self.files).await;
                }
                NoticeKind::Created { path, entry } | NoticeKind::Modified { path, entry } => {
                    unseen.insert(path, entry);
                }
                NoticeKind::Removed { path, .. } => self.forget(&path, &mut unseen),
                NoticeKind::Renamed { from, path, entry } => {
                    self.forget(&from, &mut unseen);
                    self.forget(&path, &mut unseen);
                    unseen.insert(path, entry);
                }
            }
        }
        let files = &*self.files;
        let looks = unseen.into_iter().map(|(path, entry)| async move {
            let known = look(files, &path, entry).await;
            (path, known)
        });
        let seen: Vec<_> = stream::iter(looks).buffer_unordered(AT_ONCE).collect().await;
        self.known.extend(seen);
    }

    /// Forgets what is at a path and beneath it.
    fn forget(
        &mut self,
        path: &SandboxPath,
        unseen: &mut BTreeMap<SandboxPath, Option<EntryKind>>,
    ) {
        self.known.retain(|known, _| !known.starts_with(path));
        unseen.retain(|known, _| !known.starts_with(path));
    }

    /// Asserts that the picture is the truth.
    #[track_caller]
    pub(crate) fn knows(&self, who: &str, truth: &Picture) {
        let paths: BTreeSet<_> = truth.keys().chain(self.known.keys()).collect();
        let wrong = paths.into_iter().filter(|path| truth.get(path) != self.known.get(path));
        let wrong: Vec<_> =
            wrong.map(|path| (path, truth.get(path), self.known.get(path))).collect();
        assert!(wrong.is_empty(), "the {who} missed (what, truth, belief): {wrong:?}");
    }
}

async fn look(files: &dyn FileSystem, path: &SandboxPath, entry: Option<EntryKind>) -> Known {
    let entry = match entry {
        Some(kind) => Some(kind),
        None => files.stat(path, engine::Links::Keep).await.ok().map(|entry| entry.kind),
    };
    match entry {
        Some(EntryKind::Directory) => Known::Directory,
        Some(EntryKind::Symlink) => Known::Link,
        Some(EntryKind::File | EntryKind::Special) | None => match content(files, path).await {
            Ok(content) => Known::File(content),
            Err(_) => Known::Gone,
        },
    }
}

async fn content(files: &dyn FileSystem, path: &SandboxPath) -> engine::Result<Vec<u8>> {
    let content = files.read(path, Span::Whole).await?;
    let pieces: Vec<_> = content.body.try_collect().await?;
    Ok(pieces.concat())
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
