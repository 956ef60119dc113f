//! Bodies on their way from the server.

use std::ops::Range;

use engine::{ByteStream, Content, EntryKind, Error, ErrorKind, Result, SandboxPath, Span};
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
