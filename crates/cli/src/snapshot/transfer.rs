//! `export` and `import`: a snapshot as one stream of bytes.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use engine::{
    ByteStream, FileSystem as _, If, Parents, Point, SandboxPath, SnapshotId, Snapshots, WriteMode,
    WriteOptions,
};
use futures::TryStreamExt as _;
use serde_json::json;

use crate::command_line::WordFlags;
use crate::progress::Progress;
use crate::render::{Output, shown, size};
use crate::{body, local, trees};

use super::create;

/// Writes a snapshot to a file, or to stdout.
pub(super) async fn export(
    from: &Point,
    output: &Path,
    since: Option<&SnapshotId>,
    snapshots: &dyn Snapshots,
    out: &mut Output,
) -> Result<()> {
    let to_stdout = output == Path::new("-");
    if to_stdout && io::stdout().is_terminal() {
        bail!("an export is not for the eye: write it to a file with -o FILE, or into a pipe");
    }
    let stream = snapshots.export(from.clone(), since).await?;
    let stream = Progress::new(None).watch(stream);
    if to_stdout {
        return to_pipe(stream, out).await;
    }
    let (bytes, file) = to_file(stream, output).await?;
    let place = file.display().to_string();
    let remark = format!("wrote {} to {}", size(bytes), shown(&place));
    out.done(&remark, &json!({ "file": place, "bytes": bytes }))
}

async fn to_pipe(mut stream: ByteStream, out: &mut Output) -> Result<()> {
    while let Some(chunk) = stream.try_next().await? {
        out.bytes(&chunk)?;
    }
    out.flush()
}

/// Puts the file in place when all of it is there.
async fn to_file(stream: ByteStream, output: &Path) -> Result<(u64, PathBuf)> {
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = local::canonical(parent.unwrap_or(Path::new(".")))?;
    let name = output.file_name().context("the file has no name")?;
    let name = name.to_str().context("the name of the file is not UTF-8")?;
    let options = WriteOptions {
        mode: WriteMode::Replace,
        parents: Parents::Require,
        expected: If::Always,
        length: None,
    };
    let file = SandboxPath::root().join(name)?;
    let written = trees::directory(&parent)?.write(&file, stream, options).await?;
    Ok((written.bytes, parent.join(name)))
}

/// Takes in what an export gave.
pub(super) async fn import(
    file: &Path,
    name: Option<&SnapshotId>,
    words: &WordFlags,
    snapshots: &dyn Snapshots,
    out: &mut Output,
) -> Result<()> {
    let (stream, length) = if file == Path::new("-") {
        (body::from_reader(io::stdin()), None)
    } else {
        let unreadable = || format!("{} cannot be read", file.display());
        let opened = local::open(file).with_context(unreadable)?;
        let metadata = opened.metadata().with_context(unreadable)?;
        (body::from_reader(opened), metadata.is_file().then_some(metadata.len()))
    };
    let stream = Progress::new(length).watch(stream);
    let snapshot = snapshots.import(stream, create::wanted(name, words)).await?;
    create::say("took in", &snapshot, out)
}
