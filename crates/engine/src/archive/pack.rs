//! Writes a tree as an archive, as it is read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use super::ArchiveLimits;
use crate::walk::Walk;
use crate::{
    ByteStream, Entry, EntryKind, Error, ErrorKind, FileSystem, Links, Result, SandboxPath, Span,
};

const BLOCK: u64 = 512;

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
