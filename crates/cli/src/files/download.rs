//! `download`: a file or directory to this machine.
//!
//! What arrives is written by the same code that guards a sandbox, so that a hostile server cannot
//! write outside the directory that the user named either.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail};
use engine::{
    ArchiveFormat, ArchiveLimits, ByteStream, Content, EntryKind, FileSystem as _, If, Links,
    Parents, SandboxPath, Span, WriteMode, WriteOptions,
};
use futures::StreamExt as _;
use serde_json::json;

use crate::command_line::DownloadFlags;
use crate::local;
use crate::progress::Progress;
use crate::render::{Output, counted, shown, size};
use crate::trees::directory;

use super::outward_links::{self, LeftOut};
use super::read;
use super::tree::Tree;

/// Fetches a file or directory.
pub(super) async fn run(flags: &DownloadFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let path = tree.locate(&flags.path)?;
    let local = flags.local.as_deref();
    let entry = tree.files.stat(&path, Links::Follow).await.map_err(|err| err.on(&path))?;
    let to_stdout = local == Some(Path::new("-"));
    match entry.kind {
        EntryKind::Directory if to_stdout => {
            bail!("{} is a directory, which stdout cannot hold", shown(path.as_str()))
        }
        EntryKind::Directory => fetch_directory(&path, flags, tree, out).await,
        EntryKind::File | EntryKind::Symlink | EntryKind::Special => {
            let content = tree.files.read(&path, Span::Whole).await.map_err(|err| err.on(&path))?;
            if to_stdout {
                return read::as_bytes(content, out).await;
            }
            fetch_file(&path, content, local, out).await
        }
    }
}

async fn fetch_file(
    path: &SandboxPath,
    content: Content,
    local: Option<&Path>,
    out: &mut Output,
) -> Result<()> {
    let target = target(path, local)?;
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        bail!("{} cannot be a file", target.display());
    };
    let name = name.to_str().context("the name of the local file is not UTF-8")?;
    let place = directory(parent)?;
    let length = content.range.end - content.range.start;
    let options = WriteOptions {
        mode: WriteMode::Replace,
        parents: Parents::Require,
        expected: If::Always,
        length: Some(length),
    };
    let body = Progress::new(Some(length)).watch(content.body);
    let written = place.write(&SandboxPath::root().join(name)?, body, options).await?;
    let bytes = written.bytes;
    say(&Fetched { path, local: &target, bytes, entries: 1, skipped_links: 0 }, out)
}

async fn fetch_directory(
    path: &SandboxPath,
    flags: &DownloadFlags,
    tree: &Tree,
    out: &mut Output,
) -> Result<()> {
    let target = target(path, flags.local.as_deref())?;
    let archive = tree
        .files
        .pack(path, ArchiveFormat::Tar, ArchiveLimits::default())
        .await
        .map_err(|err| err.on(path))?;
    let (archive, bytes) = measured(Progress::new(None).watch(archive));
    let (archive, filter) = match flags.strict {
        true => (archive, Arc::default()),
        false => outward_links::leave_out(archive),
    };
    let new = local::make_dir(&target)?;
    let root = SandboxPath::root();
    let unpacked = directory(&target)?
        .unpack(&root, archive, ArchiveFormat::Tar, ArchiveLimits::default())
        .await;
    if unpacked.is_err() && new {
        local::remove_empty_dir(&target);
    }
    let entries = unpacked?.entries;
    let left_out = outward_links::left_out(&filter);
    warn(path, &left_out);
    let bytes = bytes.load(Ordering::Relaxed);
    say(&Fetched { path, local: &target, bytes, entries, skipped_links: left_out.count }, out)
}

/// Names the links that did not come along.
#[expect(clippy::print_stderr, reason = "a warning for people goes beside the data")]
fn warn(path: &SandboxPath, left_out: &LeftOut) {
    for name in &left_out.names {
        let link = format!("{}/{name}", path.as_str().trim_end_matches('/'));
        eprintln!("warning: left out a symbolic link that leads out: {}", shown(&link));
    }
    let more = left_out.count - left_out.names.len() as u64;
    if more > 0 {
        eprintln!("warning: left out {} more", counted(more, "symbolic link"));
    }
}

/// Where on this machine it goes, without links.
fn target(path: &SandboxPath, local: Option<&Path>) -> Result<PathBuf> {
    let name = Path::new(path.name());
    let target = match local {
        None if path.is_root() => bail!("the root has no name: say where it goes"),
        None => name.to_owned(),
        Some(local) => match local::look(local)? {
            Some(there) if there.is_dir() => local.join(name),
            Some(_) | None => local.to_owned(),
        },
    };
    if local::look(&target)?.is_some() {
        return local::canonical(&target);
    }
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = local::canonical(parent.unwrap_or(Path::new(".")))?;
    Ok(parent.join(target.file_name().context("the local path ends in `..`")?))
}

fn measured(body: ByteStream) -> (ByteStream, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let body = body.inspect(move |chunk| {
        let len = chunk.as_ref().map_or(0, |bytes| bytes.len() as u64);
        counter.fetch_add(len, Ordering::Relaxed);
    });
    (body.boxed(), count)
}

/// What came.
struct Fetched<'a> {
    path: &'a SandboxPath,
    local: &'a Path,
    bytes: u64,
    entries: u64,
    skipped_links: u64,
}

fn say(fetched: &Fetched<'_>, out: &mut Output) -> Result<()> {
    let Fetched { path, local, bytes, entries, skipped_links } = fetched;
    let place = shown(&local.display().to_string());
    let remark = format!("fetched {}, {}, to {place}", counted(*entries, "entry"), size(*bytes));
    let value = json!({
        "path": path.as_str(),
        "local": local.display().to_string(),
        "entries": entries,
        "bytes": bytes,
        "skippedLinks": skipped_links,
    });
    out.done(&remark, &value)
}
