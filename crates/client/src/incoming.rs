//! Bodies on their way from the server.

use std::ops::Range;

use engine::{
    ByteStream, Content, EntryKind, Error, ErrorKind, FileSystem, Links, Result, SandboxPath, Span,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::StatusCode;
use http::header::CONTENT_RANGE;
use reqwest::Response;

use crate::transport::{failed, not_understood};
use crate::wire::{entry, version};

/// The bytes of an answer as they arrive.
pub(crate) fn stream(answer: Response, endpoint: &str) -> ByteStream {
    let endpoint = endpoint.to_owned();
    answer.bytes_stream().map_err(move |err| failed(err, &endpoint)).boxed()
}

/// The file or the part of it that an answer holds.
pub(crate) fn content(
    answer: Response,
    file: &SandboxPath,
    span: &Span,
    endpoint: &str,
) -> Result<Content> {
    let (range, size) = match (answer.status(), span) {
        (StatusCode::PARTIAL_CONTENT, _) => part(&answer)
            .ok_or_else(|| not_understood("content-range does not say which part this is"))?,
        (_, Span::Whole) => {
            let size = answer.content_length();
            let size = size.ok_or_else(|| not_understood("content-length is missing"))?;
            (0..size, size)
        }
        (_, Span::From(_) | Span::Between(_) | Span::Last(_)) => {
            let message = "this server cannot read parts of files";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
    };
    let mut entry = entry(file.clone(), EntryKind::File, size);
    entry.version = version(answer.headers());
    Ok(Content { entry, range, body: stream(answer, endpoint) })
}

/// A span without bytes, which a range of HTTP cannot say.
pub(crate) async fn read_nothing(
    files: &dyn FileSystem,
    file: &SandboxPath,
    range: &Range<u64>,
) -> Result<Content> {
    if range.end < range.start {
        let message = "the span ends before it starts";
        return Err(Error::new(ErrorKind::InvalidArgument, message).on(file));
    }
    let entry = files.stat(file, Links::Follow).await?;
    let wrong = match entry.kind {
        EntryKind::File if range.start < entry.size => None,
        EntryKind::File => {
            let message = "the span starts behind the end of the file";
            Some((ErrorKind::RangeNotSatisfiable, message))
        }
        EntryKind::Directory => Some((ErrorKind::IsADirectory, "path is not a file")),
        EntryKind::Symlink | EntryKind::Special => {
            Some((ErrorKind::NotAFile, "path is not a file"))
        }
    };
    match wrong {
        Some((kind, message)) => Err(Error::new(kind, message).on(file)),
        None => Ok(Content { entry, range: range.start..range.start, body: nothing() }),
    }
}

/// A part without bytes.
pub(crate) fn nothing() -> ByteStream {
    stream::empty().boxed()
}

fn part(answer: &Response) -> Option<(Range<u64>, u64)> {
    let text = answer.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    parse_part(text)
}

fn parse_part(text: &str) -> Option<(Range<u64>, u64)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, end) = (first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?);
    Some((first..end, size.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_range_says_which_part_of_how_much() {
        assert_eq!(parse_part("bytes 2-4/10"), Some((2..5, 10)));
        for text in ["bytes 2-4/*", "bytes */10", "2-4/10", "bytes 2/10"] {
            assert_eq!(parse_part(text), None, "{text}");
        }
    }
}
