//! `write`: a file from stdin, a local file or a text.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use engine::{ByteStream, If, Parents, Version, WriteMode, WriteOptions, Written};
use serde_json::json;

use crate::body;
use crate::command_line::WriteFlags;
use crate::local;
use crate::progress::Progress;
use crate::render::{Output, shown, size};

use super::tree::Tree;

/// Writes a file.
pub(super) async fn run(flags: &WriteFlags, tree: &Tree, out: &mut Output) -> Result<()> {
    let path = tree.locate(&flags.path)?;
    let source = match &flags.content {
        Some(text) => Source { body: body::from_text(text), length: Some(text.len() as u64) },
        None => Source::open(&flags.local)?,
    };
    let options = WriteOptions {
        mode: match (flags.append, flags.create_new) {
            (true, _) => WriteMode::Append,
            (false, true) => WriteMode::CreateNew,
            (false, false) => WriteMode::Replace,
        },
        parents: Parents::Create,
        expected: match &flags.if_match {
            Some(version) => If::Matches(vec![Version::new(version.trim_matches('"'))]),
            None => If::Always,
        },
        length: source.length,
    };
    let body = Progress::new(source.length).watch(source.body);
    let written = tree.files.write(&path, body, options).await.map_err(|err| err.on(&path))?;
    say(&written, out)
}

fn say(written: &Written, out: &mut Output) -> Result<()> {
    let path = written.entry.path.as_str();
    let remark = format!("wrote {} to {}", size(written.bytes), shown(path));
    let value = json!({
        "path": path,
        "bytesWritten": written.bytes,
        "created": written.created,
        "version": written.entry.version.as_ref().map(Version::as_str),
    });
    out.done(&remark, &value)
}

/// Where the bytes come from.
struct Source {
    body: ByteStream,
    length: Option<u64>,
}

impl Source {
    /// A local file, or stdin when it is called `-`.
    #[expect(clippy::print_stderr, reason = "a program that waits for its user says so")]
    fn open(local: &Path) -> Result<Self> {
        if local == Path::new("-") {
            if io::stdin().is_terminal() {
                eprintln!("reading from the terminal; Ctrl-D ends it");
            }
            return Ok(Self { body: body::from_reader(io::stdin()), length: None });
        }
        let unreadable = || format!("{} cannot be read", local.display());
        let file = local::open(local).with_context(unreadable)?;
        let metadata = file.metadata().with_context(unreadable)?;
        if metadata.is_dir() {
            anyhow::bail!("{} is a directory", local.display());
        }
        // A pipe or device has no length; a file that grows meanwhile is taken as it was.
        let length = metadata.is_file().then_some(metadata.len());
        let body = body::from_reader(file.take(length.unwrap_or(u64::MAX)));
        Ok(Self { body, length })
    }
}
