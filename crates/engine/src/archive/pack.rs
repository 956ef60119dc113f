//! Writes a tree as an archive, as it is read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::ArchiveLimits;
use crate::{
    ByteStream, Entry, EntryKind, EntryStream, Error, ErrorKind, FileSystem, Links, Page, Result,
    SandboxPath, Span,
};

const BLOCK: u64 = 512;
/// How many listings stay open at once.
const OPEN_LEVELS: usize = 16;

/// An archive of what `path` is: its members relative to it, or the one file.
pub(crate) async fn pack(
    files: Arc<dyn FileSystem>,
    path: &SandboxPath,
    limits: ArchiveLimits,
) -> Result<ByteStream> {
    let entry = files.stat(path, Links::Follow).await?;
    if limits.any() {
        measure(&files, &entry, limits).await?;
    }
    let walk = Walk::begin(Arc::clone(&files), &entry).await?;
    let top = if entry.kind == EntryKind::Directory { Some(path.clone()) } else { path.parent() };
    let top = top.unwrap_or_else(SandboxPath::root);
    let members = walk.into_stream().and_then(move |entry| {
        let (files, top) = (Arc::clone(&files), top.clone());
        async move { member(&files, &top, entry).await }
    });
    let end = stream::once(async { Ok(Bytes::from_static(&[0; 2 * BLOCK as usize])) });
    Ok(members.try_flatten().chain(end).boxed())
}

/// Refuses a tree that exceeds the limits before the first byte goes out.
async fn measure(files: &Arc<dyn FileSystem>, top: &Entry, limits: ArchiveLimits) -> Result<()> {
    let (mut bytes, mut entries) = (0_u64, 0_u64);
    let above = top.path.depth() - usize::from(top.kind != EntryKind::Directory);
    let mut walk = Walk::begin(Arc::clone(files), top).await?.into_stream();
    while let Some(entry) = walk.try_next().await? {
        entries += 1;
        bytes = bytes.saturating_add(if entry.kind == EntryKind::File { entry.size } else { 0 });
        limits.check(bytes, entries, entry.path.depth().saturating_sub(above) as u64)?;
    }
    Ok(())
}

/// Everything beneath a directory, parents first, siblings in order; one file is just itself.
pub(crate) struct Walk {
    files: Arc<dyn FileSystem>,
    levels: Vec<Level>,
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
                let message = "unsupported: a FIFO, socket or device cannot be archived";
                return Err(Error::new(ErrorKind::NotAFile, message).on(&top.path));
            }
        };
        let first = Level { children: Some(children), dir: top.path.clone(), last: None };
        Ok(Self { files, levels: vec![first] })
    }

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

    async fn next(&mut self) -> Result<Option<Entry>> {
        while let Some(level) = self.levels.last_mut() {
            let children = match &mut level.children {
                Some(children) => children,
                closed => {
                    let page = Page { after: level.last.take(), limit: None };
                    closed.insert(self.files.list(&level.dir, page).await?)
                }
            };
            let Some(entry) = children.try_next().await? else {
                self.levels.pop();
                continue;
            };
            if entry.kind == EntryKind::Directory {
                level.last = Some(entry.path.name().to_owned());
                self.descend(entry.path.clone()).await?;
            }
            return Ok(Some(entry));
        }
        Ok(None)
    }

    async fn descend(&mut self, dir: SandboxPath) -> Result<()> {
        match self.files.list(&dir, Page::default()).await {
            Ok(children) => self.levels.push(Level { children: Some(children), dir, last: None }),
            // It vanished meanwhile; as an empty directory it is still told of.
            Err(err) if err.kind() == ErrorKind::NotFound => {}
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

async fn member(
    files: &Arc<dyn FileSystem>,
    top: &SandboxPath,
    entry: Entry,
) -> Result<ByteStream> {
    match entry.kind {
        EntryKind::File => {
            let content = match files.read(&entry.path, Span::Whole).await {
                // It vanished meanwhile.
                Err(err) if err.kind() == ErrorKind::NotFound => return Ok(stream::empty().boxed()),
                outcome => outcome?,
            };
            let size = content.range.end;
            let head = header(top, &content.entry, tar::EntryType::Regular, size, None)?;
            let rest = (BLOCK - size % BLOCK) % BLOCK;
            let padding = Bytes::from_static(&[0; BLOCK as usize]).slice(..rest as usize);
            let framed =
                stream::iter([Ok(head)]).chain(content.body).chain(stream::iter([Ok(padding)]));
            Ok(framed.boxed())
        }
        EntryKind::Symlink => {
            let target = match files.read_link(&entry.path).await {
                Err(err) if err.kind() == ErrorKind::NotFound => return Ok(stream::empty().boxed()),
                outcome => outcome?,
            };
            let target = crate::name::to_bytes(&target).into_owned();
            let head = header(top, &entry, tar::EntryType::Symlink, 0, Some(&target))?;
            Ok(stream::iter([Ok(head)]).boxed())
        }
        EntryKind::Directory | EntryKind::Special => {
            let head = header(top, &entry, tar::EntryType::Directory, 0, None)?;
            Ok(stream::iter([Ok(head)]).boxed())
        }
    }
}

/// A member's header, with whatever extension its name needs.
fn header(
    top: &SandboxPath,
    entry: &Entry,
    kind: tar::EntryType,
    size: u64,
    target: Option<&[u8]>,
) -> Result<Bytes> {
    let name = entry.path.strip(top).unwrap_or_default();
    let name = crate::name::to_bytes(name);
    let name = Path::new(OsStr::from_bytes(&name));
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(entry.mode.unwrap_or(0o644) & 0o777);
    header.set_mtime(entry.modified.map_or(0, |t| u64::try_from(t.seconds).unwrap_or_default()));
    let mut builder = tar::Builder::new(Vec::new());
    let written = match target {
        Some(target) => {
            builder.append_link(&mut header, name, Path::new(OsStr::from_bytes(target)))
        }
        None => builder.append_data(&mut header, name, std::io::empty()),
    };
    let mut bytes = written
        .and_then(|()| builder.into_inner())
        .map_err(|err| Error::new(ErrorKind::Io, "a header could not be made").because(err))?;
    // The builder closes every archive; ours goes on.
    bytes.truncate(bytes.len().saturating_sub(2 * BLOCK as usize));
    Ok(Bytes::from(bytes))
}
