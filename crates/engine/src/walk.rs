//! Everything beneath a directory, parents first, siblings in order.

use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::{
    Entry, EntryKind, EntryStream, Error, ErrorKind, FileSystem, Page, Result, SandboxPath,
};

/// How many listings stay open at once.
const OPEN_LEVELS: usize = 16;

/// A walk through a tree; one file is just itself. Links are told of and not followed.
pub(crate) struct Walk {
    files: Arc<dyn FileSystem>,
    levels: Vec<Level>,
    /// The directory that was told of last, into which the walk goes next.
    ahead: Option<SandboxPath>,
    /// Into what lies as deep as this it does not go.
    deepest: usize,
}

/// A directory that the walk is in.
struct Level {
    /// What is still to come; none while the walk is too far below to keep it open.
    children: Option<EntryStream>,
    dir: SandboxPath,
    /// The last child that was visited.
    last: Option<String>,
}

impl Walk {
    pub(crate) async fn begin(files: Arc<dyn FileSystem>, top: &Entry) -> Result<Self> {
        let children = match top.kind {
            EntryKind::Directory => files.list(&top.path, Page::default()).await?,
            EntryKind::File | EntryKind::Symlink => stream::iter([Ok(top.clone())]).boxed(),
            EntryKind::Special => {
                let message = "unsupported: a FIFO, socket or device is never opened";
                return Err(Error::new(ErrorKind::NotAFile, message).on(&top.path));
            }
        };
        let first = Level { children: Some(children), dir: top.path.clone(), last: None };
        Ok(Self { files, levels: vec![first], ahead: None, deepest: usize::MAX })
    }

    /// A walk through a directory that goes on behind a path in it, which need not be there.
    pub(crate) fn resume(
        files: Arc<dyn FileSystem>,
        dir: &SandboxPath,
        after: &SandboxPath,
    ) -> Self {
        let mut levels = Vec::new();
        let mut at = Some(after.clone());
        while let Some(path) = at.filter(|path| path != dir) {
            let parent = path.parent();
            if let Some(dir) = parent.clone() {
                let last = Some(path.name().to_owned());
                levels.push(Level { children: None, dir, last });
            }
            at = parent;
        }
        levels.reverse();
        Self { files, levels, ahead: Some(after.clone()), deepest: usize::MAX }
    }

    /// Does not go into directories that lie as deep as this.
    pub(crate) fn stop_at(&mut self, deepest: usize) {
        self.deepest = deepest;
    }

    /// All of it but special files.
    pub(crate) fn into_stream(self) -> EntryStream {
        stream::try_unfold(self, |mut walk| async {
            while let Some(entry) = walk.next().await? {
                if entry.kind != EntryKind::Special {
                    return Ok(Some((entry, walk)));
                }
                tracing::warn!(path = ?entry.path, "left a special file out of an archive");
            }
            Ok(None)
        })
        .boxed()
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Entry>> {
        if let Some(dir) = self.ahead.take().filter(|dir| dir.depth() < self.deepest) {
            self.descend(dir).await?;
        }
        while let Some(level) = self.levels.last_mut() {
            let children = match &mut level.children {
                Some(children) => children,
                closed => {
                    let page = Page { after: level.last.take(), limit: None };
                    match self.files.list(&level.dir, page).await {
                        Ok(children) => closed.insert(children),
                        Err(err) if is_gone(&err) => {
                            self.levels.pop();
                            continue;
                        }
                        Err(err) => return Err(err.on(&level.dir)),
                    }
                }
            };
            let Some(entry) = children.try_next().await? else {
                self.levels.pop();
                continue;
            };
            if entry.kind == EntryKind::Directory {
                level.last = Some(entry.path.name().to_owned());
                self.ahead = Some(entry.path.clone());
            }
            return Ok(Some(entry));
        }
        Ok(None)
    }

    /// Does not go into the directory that was told of last.
    pub(crate) fn pass_by(&mut self) {
        self.ahead = None;
    }

    async fn descend(&mut self, dir: SandboxPath) -> Result<()> {
        match self.files.list(&dir, Page::default()).await {
            Ok(children) => self.levels.push(Level { children: Some(children), dir, last: None }),
            Err(err) if is_gone(&err) => {}
            Err(err) => return Err(err.on(&dir)),
        }
        // However deep the tree, only the innermost listings stay open.
        let far = self.levels.len().checked_sub(OPEN_LEVELS + 1);
        if let Some(level) = far.and_then(|far| self.levels.get_mut(far)) {
            level.children = None;
        }
        Ok(())
    }
}

/// Whether a directory vanished meanwhile, or is something else by now. It was told of all the same.
fn is_gone(err: &Error) -> bool {
    matches!(err.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
