//! `upload`: local files and directories into a directory.

use anyhow::{Result, anyhow};
use engine::{ArchiveFormat, ArchiveLimits, SandboxPath, Unpacked};
use serde_json::json;

use crate::command_line::TransferFlags;
use crate::progress::Progress;
use crate::render::{Output, counted, shown, size};

use super::local_archive::LocalArchive;
use super::tree::Tree;

/// Sends local files and directories; each arrives under its own name.
pub(super) async fn run(flags: &TransferFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let dir = tree.locate(&flags.remote)?;
    let archive = LocalArchive::survey(&flags.locals)?;
    let bytes = archive.bytes;
    let sent = unpack(archive, &dir, tree).await?;
    let remark = format!(
        "sent {}, {}, to {}",
        counted(sent.entries, "entry"),
        size(bytes),
        shown(dir.as_str())
    );
    let value = json!({
        "path": dir.as_str(),
        "paths": sent.paths.iter().map(SandboxPath::as_str).collect::<Vec<_>>(),
        "entries": sent.entries,
        "truncated": sent.entries > sent.paths.len() as u64,
        "bytes": bytes,
    });
    out.done(&remark, &value)
}

async fn unpack(archive: LocalArchive, dir: &SandboxPath, tree: &Tree) -> Result<Unpacked> {
    let progress = Progress::new(Some(archive.bytes));
    let (body, thread) = archive.stream();
    let outcome = tree
        .files
        .unpack(dir, progress.watch(body), ArchiveFormat::Tar, ArchiveLimits::default())
        .await;
    let built = thread.join().map_err(|_| anyhow!("the local files cannot be read"))?;
    match (outcome, built) {
        (Ok(unpacked), _) => Ok(unpacked),
        // A file that could not be read is the reason why the other side was left with half.
        (Err(_), Err(err)) if err.kind() != std::io::ErrorKind::BrokenPipe => Err(err.into()),
        (Err(err), _) => Err(err.on(dir).into()),
    }
}
