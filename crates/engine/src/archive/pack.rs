//! Writes a tree as an archive, as it is read.

use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt as _, TryStreamExt as _};

use super::{ArchiveFormat, ArchiveLimits, tar, zip};
use crate::walk::Walk;
use crate::{
    ByteStream, Entry, EntryKind, ErrorKind, FileSystem, Links, Result, SandboxPath, Span, name,
};

/// Something that goes into an archive.
pub(super) struct Member {
    /// Its path relative to what is packed.
    pub(super) name: String,
    pub(super) entry: Entry,
    pub(super) kind: MemberKind,
}

pub(super) enum MemberKind {
    Directory,
    /// So many bytes.
    File(u64, ByteStream),
    Symlink(Vec<u8>),
}

/// An archive of what `path` is: its members relative to it, or the one file.
pub(crate) async fn pack(
    files: Arc<dyn FileSystem>,
    path: &SandboxPath,
    format: ArchiveFormat,
    limits: ArchiveLimits,
) -> Result<ByteStream> {
    let entry = files.stat(path, Links::Follow).await?;
    if limits.any() {
        measure(&files, &entry, limits).await?;
    }
    let members = members(files, path, &entry).await?;
    match format {
        ArchiveFormat::Tar => Ok(tar::frame(members)),
        ArchiveFormat::TarGz => Ok(tar::gzip(tar::frame(members))),
        ArchiveFormat::TarZst => tar::zstd(tar::frame(members)),
        ArchiveFormat::Zip => Ok(zip::pack(members)),
    }
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

async fn members(
    files: Arc<dyn FileSystem>,
    path: &SandboxPath,
    entry: &Entry,
) -> Result<BoxStream<'static, Result<Member>>> {
    let walk = Walk::begin(Arc::clone(&files), entry).await?;
    let top = if entry.kind == EntryKind::Directory { Some(path.clone()) } else { path.parent() };
    let top = top.unwrap_or_else(SandboxPath::root);
    let members = walk.into_stream().try_filter_map(move |entry| {
        let (files, top) = (Arc::clone(&files), top.clone());
        async move {
            match open(&*files, &top, entry).await {
                // It vanished meanwhile.
                Err(err) if err.kind() == ErrorKind::NotFound => Ok(None),
                outcome => outcome.map(Some),
            }
        }
    });
    Ok(members.boxed())
}

async fn open(files: &dyn FileSystem, top: &SandboxPath, entry: Entry) -> Result<Member> {
    let name = entry.path.strip(top).unwrap_or_default().to_owned();
    let (entry, kind) = match entry.kind {
        EntryKind::File => {
            let content = files.read(&entry.path, Span::Whole).await?;
            (content.entry, MemberKind::File(content.range.end, content.body))
        }
        EntryKind::Symlink => {
            let target = files.read_link(&entry.path).await?;
            (entry, MemberKind::Symlink(name::to_bytes(&target).into_owned()))
        }
        EntryKind::Directory | EntryKind::Special => (entry, MemberKind::Directory),
    };
    Ok(Member { name, entry, kind })
}
