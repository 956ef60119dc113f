//! Exact replacements in a text file, which stays as it was everywhere else.
//!
//! - `wish`: what is to be replaced, and what came of it
//! - `letters`: a file's bytes as text, and back without a loss
//! - `view`: the text as it is searched
//! - `replace`: what is replaced, in order
//! - `splices`: which parts changed
//! - `hint`: why a text was not found
//! - `diff`: the differences, for people and for `patch`

mod diff;
mod hint;
mod letters;
mod replace;
mod splices;
mod view;
mod wish;

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};

pub use self::wish::{Edit, EditLimits, Edited, ExpectedCount, Replacement};

use self::diff::Told;
use self::letters::Text;
use crate::{
    Entry, Error, ErrorKind, FileSystem, If, Parents, Result, SandboxPath, Span, WriteMode,
    WriteOptions, blocking,
};

/// Files up to this length are edited where they are.
const SHORT: usize = 64 << 10;
/// How often an edit is made anew because the file changed meanwhile.
const TRIES: u32 = 6;
/// How long the first of them waits; each next one waits twice as long. A host file that somebody
/// else has just changed has no version to rely on for 20 ms.
const PAUSE: Duration = Duration::from_millis(10);

/// Replaces text in a file: all replacements or none. Encoding, byte order mark, line ends, mode
/// and whatever is no text stay as they are.
///
/// A change that somebody else makes meanwhile is never lost: the edit is made anew on what he
/// left. When he never ends, the edit is [`Busy`](ErrorKind::Busy). A text that is not there as
/// often as expected is [`PreconditionFailed`](ErrorKind::PreconditionFailed), and so is a file
/// that is not in the state the caller believes; what is no text is
/// [`InvalidArgument`](ErrorKind::InvalidArgument).
pub async fn edit(files: &dyn FileSystem, file: &SandboxPath, wish: Edit) -> Result<Edited> {
    check(&wish)?;
    let wish = Arc::new(wish);
    for again in 0..TRIES {
        if again > 0 {
            tokio::time::sleep(PAUSE * (1 << (again - 1))).await;
        }
        let (entry, content) = match read(files, file, &wish).await {
            // Somebody shortened it under us.
            Err(err) if err.kind() == ErrorKind::Busy => continue,
            read => read?,
        };
        let outcome = apply(content, file.clone(), Arc::clone(&wish)).await?;
        let Outcome { content, replaced, told: Told { diff, is_cut } } = outcome;
        let Some(content) = content.filter(|_| !wish.dry_run) else {
            return Ok(Edited { entry, replaced, diff, is_cut });
        };
        match write(files, file, &entry, content).await {
            Ok(entry) => return Ok(Edited { entry, replaced, diff, is_cut }),
            // Somebody was faster; what he left is looked at anew.
            Err(err) if err.kind() == ErrorKind::PreconditionFailed => {}
            Err(err) => return Err(err),
        }
    }
    Err(Error::new(ErrorKind::Busy, "the file changed again and again while it was edited"))
}

fn check(wish: &Edit) -> Result<()> {
    let refused = |kind, message: String| Err(Error::new(kind, message));
    let most = EditLimits::MOST_REPLACEMENTS;
    match wish.replacements.len() {
        0 => refused(ErrorKind::InvalidArgument, "there is nothing to replace".into()),
        many if many > most => {
            let message = format!("{many} replacements are more than the {most} of one edit");
            refused(ErrorKind::LimitExceeded, message)
        }
        _ if wish.replacements.iter().any(|replacement| replacement.old.is_empty()) => {
            refused(ErrorKind::InvalidArgument, "the text to replace is empty".into())
        }
        _ => Ok(()),
    }
}

/// The file as it is expected to be, and all its bytes.
async fn read(files: &dyn FileSystem, file: &SandboxPath, wish: &Edit) -> Result<(Entry, Bytes)> {
    let content = files.read(file, Span::Whole).await?;
    if !wish.expected.holds(content.entry.version.as_ref()) {
        let message = "the file is not in the expected state";
        return Err(Error::new(ErrorKind::PreconditionFailed, message));
    }
    check_size(content.entry.size, wish)?;
    let (mut bytes, mut body) = (BytesMut::new(), content.body);
    while let Some(piece) = body.try_next().await? {
        bytes.extend_from_slice(&piece);
        check_size(bytes.len() as u64, wish)?;
    }
    Ok((content.entry, bytes.freeze()))
}

fn check_size(size: u64, wish: &Edit) -> Result<()> {
    let most = wish.limits.file.min(EditLimits::MOST_BYTES);
    if size <= most {
        return Ok(());
    }
    let message = format!("files of more than {most} bytes are not edited");
    Err(Error::new(ErrorKind::LimitExceeded, message))
}

/// What replacing makes of a file.
struct Outcome {
    /// The new content, if it differs.
    content: Option<Bytes>,
    replaced: Vec<u64>,
    told: Told,
}

async fn apply(content: Bytes, file: SandboxPath, wish: Arc<Edit>) -> Result<Outcome> {
    let size = wish.replacements.iter().fold(content.len(), |size, replacement| {
        size.saturating_add(replacement.old.len()).saturating_add(replacement.new.len())
    });
    let work = move || replaced(&content, &file, &wish);
    if size <= SHORT { work() } else { blocking::run(work).await }
}

fn replaced(content: &Bytes, file: &SandboxPath, wish: &Edit) -> Result<Outcome> {
    let old = Text::of(content, wish.encoding)?;
    let (new, splices, replaced) = replace::all(&old, wish)?;
    let bytes = new.bytes();
    check_size(bytes.len() as u64, wish)?;
    let told = diff::between(&old, &new, splices, file, wish.limits.diff);
    Ok(Outcome { content: Some(bytes).filter(|bytes| bytes != content), replaced, told })
}

/// Puts the new content in place of exactly what was read.
async fn write(
    files: &dyn FileSystem,
    file: &SandboxPath,
    entry: &Entry,
    content: Bytes,
) -> Result<Entry> {
    let Some(version) = entry.version.clone() else {
        let message = "without versions of its files this tree cannot be edited safely";
        return Err(Error::new(ErrorKind::Unsupported, message));
    };
    let options = WriteOptions {
        mode: WriteMode::Replace,
        parents: Parents::Require,
        expected: If::Matches(vec![version]),
        length: Some(content.len() as u64),
    };
    let body = stream::iter([Ok(content)]).boxed();
    Ok(files.write(file, body, options).await?.entry)
}
