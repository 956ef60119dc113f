//! `read`: a file's bytes to stdout.

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{Content, Span};
use futures::TryStreamExt as _;

use crate::command_line::ReadFlags;
use crate::progress::Progress;
use crate::render::Output;

use super::tree::Tree;

/// Writes a file's bytes to stdout.
pub(super) async fn run(flags: &ReadFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let path = tree.locate(&flags.path)?;
    let span = flags.range.clone().unwrap_or(Span::Whole);
    let content = tree.files.read(&path, span).await.map_err(|err| err.on(&path))?;
    if out.json() { as_json(content, out).await } else { as_bytes(content, out).await }
}

/// Hands on the bytes of a file as they come.
pub(super) async fn as_bytes(content: Content, out: &mut Output) -> Result<()> {
    let progress = Progress::new(Some(content.range.end - content.range.start));
    let mut body = progress.watch(content.body);
    while let Some(chunk) = body.try_next().await? {
        out.bytes(&chunk)?;
        out.flush()?;
    }
    Ok(())
}

/// One JSON object whose content is base64, written as it comes.
async fn as_json(content: Content, out: &mut Output) -> Result<()> {
    let Content { entry, range, mut body } = content;
    let head = serde_json::json!({
        "path": entry.path.as_str(),
        "size": entry.size,
        "version": entry.version.as_ref().map(engine::Version::as_str),
        "start": range.start,
        "end": range.end,
        "contentBase64": "",
    });
    let head = head.to_string();
    out.bytes(head.strip_suffix("\"}").unwrap_or(&head).as_bytes())?;
    // Three bytes become four letters, so what is left over waits for the next chunk.
    let mut waiting = Vec::new();
    while let Some(chunk) = body.try_next().await? {
        waiting.extend_from_slice(&chunk);
        let rest = waiting.split_off(waiting.len() - waiting.len() % 3);
        out.bytes(STANDARD.encode(&waiting).as_bytes())?;
        waiting = rest;
    }
    out.bytes(STANDARD.encode(&waiting).as_bytes())?;
    out.line("\"}")
}
