//! A part of a file as text.
//!
//! - `lines`: where lines begin and end, without holding the file
//! - `letters`: which bytes are whole letters
//! - `detect`: which encoding bytes are in, if they are text

mod detect;
mod letters;
mod lines;

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use engine::{Content, Encoding, Entry, Error, ErrorKind, SandboxPath, Span, Workspace};
use futures::TryStreamExt as _;
use serde_json::{Map, Value, json};

use self::lines::{Ends, Found, Scan, Wanted};
use super::read_file::LineRange;
use crate::call::Call;
use crate::encoding::{TextEncoding, to_base64};
use crate::failure::Failure;
use crate::outcome::{Truncation, Unit, Why};
use crate::reach::Manner;

/// How much of a file is looked at to see whether it is text.
const HEAD: u64 = 64 << 10;

/// Which part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Bytes.
    Bytes { offset: u64, length: Option<u64> },
    /// Lines, counted from 1.
    Lines { first: u64, last: Option<u64> },
    /// The last lines.
    Tail(u64),
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) content: String,
    pub(crate) encoding: TextEncoding,
    pub(crate) size: u64,
    pub(crate) range: Range<u64>,
    pub(crate) lines: Option<LineRange>,
    pub(crate) version: Option<String>,
    pub(crate) truncated: Option<Truncation>,
}

/// A file that is being read.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    held: Workspace,
    file: &'a SandboxPath,
    encoding: TextEncoding,
    /// How many bytes of content one answer holds.
    budget: u64,
    /// The longest file that is read whole, and that is counted to its end.
    longest: u64,
}

/// Bytes of a file, before they are text.
struct Piece {
    entry: Entry,
    bytes: Bytes,
    start: u64,
    lines: Option<LineRange>,
    truncated: Option<Truncation>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        call: &Call,
        file: &'a SandboxPath,
        encoding: TextEncoding,
    ) -> engine::Result<Self> {
        Ok(Self {
            held: call.at(file, Manner::Follow)?,
            file,
            encoding,
            budget: call.settings.max_result_bytes,
            longest: call.settings.max_file_size,
        })
    }

    pub(crate) async fn read(mut self, part: Part) -> Result<Read, Failure> {
        let wished = self.encoding;
        if wished == TextEncoding::Auto {
            self.encoding = self.recognise().await?;
        }
        if part != Part::Whole
            && let TextEncoding::Text(encoding) = self.encoding
            && encoding.has_states()
        {
            let message = format!("a text in {} can only be read whole", encoding.name());
            return Err(Error::new(ErrorKind::InvalidArgument, message).on(self.file).into());
        }
        let piece = match part {
            Part::Whole => self.bytes(0, None, true).await?,
            Part::Bytes { offset, length } => self.bytes(offset, length, false).await?,
            Part::Lines { first, last } => self.lines(Wanted { first, last }).await?,
            Part::Tail(count) => self.tail(count).await?,
        };
        self.spell(piece, wished)
    }

    /// Which encoding the file is in.
    async fn recognise(&self) -> engine::Result<TextEncoding> {
        let Content { entry, body, .. } = self.open(0, Some(HEAD)).await?;
        let head = gather(body, HEAD).await?;
        let is_whole = head.len() as u64 == entry.size;
        Ok(detect::detect(&head, is_whole).map_or(TextEncoding::Base64, TextEncoding::Text))
    }

    /// Opens a part of the file; none of it where there is nothing.
    async fn open(&self, offset: u64, length: Option<u64>) -> engine::Result<Content> {
        let span = match (offset, length) {
            (0, None) => Span::Whole,
            (offset, None) => Span::From(offset),
            (offset, Some(length)) => Span::Between(offset..offset.saturating_add(length)),
        };
        match self.held.read(self.file, span).await {
            // An empty file has a first byte to ask for, too.
            Err(err) if err.kind() == ErrorKind::RangeNotSatisfiable && offset == 0 => {
                self.held.read(self.file, Span::Whole).await
            }
            outcome => outcome,
        }
    }

    /// How many bytes of the file fit in one answer.
    fn room(&self) -> u64 {
        match self.encoding {
            // Four letters stand for three bytes.
            TextEncoding::Base64 => (self.budget / 4).saturating_mul(3).max(3),
            TextEncoding::Text(_) | TextEncoding::Auto => self.budget.max(4),
        }
    }

    async fn bytes(&self, offset: u64, length: Option<u64>, whole: bool) -> Result<Piece, Failure> {
        let room = self.room();
        let most = length.map_or(room, |length| length.min(room));
        let Content { entry, range, body } = self.open(offset, Some(most)).await?;
        if whole && entry.size > self.longest {
            return Err(self.too_long(entry.size));
        }
        let mut bytes = gather(body, most).await?;
        let is_cut = range.start + (bytes.len() as u64) < entry.size;
        if is_cut && let TextEncoding::Text(encoding) = self.encoding {
            bytes.truncate(letters::whole(&bytes, encoding));
        }
        let end = range.start + bytes.len() as u64;
        let wanted =
            length.map_or(entry.size, |length| range.start.saturating_add(length).min(entry.size));
        let truncated = (end < wanted).then(|| {
            let rest = length.map(|_| wanted - end);
            Truncation {
                returned: bytes.len() as u64,
                total: Some(wanted - range.start),
                unit: Unit::Bytes,
                reason: Why::Budget,
                next: Some(from_byte(end, rest)),
            }
        });
        Ok(Piece { entry, bytes, start: range.start, lines: None, truncated })
    }

    async fn lines(&self, wanted: Wanted) -> Result<Piece, Failure> {
        let Content { entry, mut body, .. } = self.open(0, None).await?;
        let mut scan = Scan::new(wanted, self.ends(), self.room());
        while let Some(chunk) = body.try_next().await? {
            scan.feed(&chunk);
            // Counting to the end of a long file would cost more than it tells.
            if scan.has_all() && entry.size > self.longest {
                break;
            }
        }
        let is_counted = !scan.has_all() || entry.size <= self.longest;
        let mut found = scan.end(is_counted);
        let Some(lines) = found.lines else {
            if wanted.first == 1 && entry.size == 0 {
                return Ok(Piece {
                    entry,
                    bytes: Bytes::new(),
                    start: 0,
                    lines: None,
                    truncated: None,
                });
            }
            let total = found.total.unwrap_or(0);
            let message = format!("the file has {total} lines");
            let error = Error::new(ErrorKind::RangeNotSatisfiable, message).on(self.file);
            return Err(Failure::with_hint(error, format!("ask for lines up to {total}")));
        };
        let mut bytes = std::mem::take(&mut found.bytes);
        if found.is_within_line
            && let TextEncoding::Text(encoding) = self.encoding
        {
            bytes.truncate(letters::whole(&bytes, encoding));
        }
        let truncated = match (found.is_cut, found.is_within_line) {
            (false, _) => None,
            (true, true) => Some(within_line(&found, bytes.len() as u64)),
            (true, false) => Some(between_lines(&found, lines, wanted)),
        };
        Ok(Piece { entry, bytes, start: found.start, lines: Some(lines), truncated })
    }

    /// The last lines, from the end of the file backwards.
    async fn tail(&self, count: u64) -> Result<Piece, Failure> {
        let room = self.room();
        let mut block = 16 << 10;
        loop {
            let size = self.held.stat(self.file, engine::Links::Follow).await?.size;
            let most = room.min(block);
            // The unit before says whether the first line is whole.
            let start =
                self.unit_floor(size.saturating_sub(most)).saturating_sub(self.ends().width());
            let Content { entry, range, body } = self.open(start, None).await?;
            let bytes = gather(body, most.saturating_add(4)).await?;
            let found = lines::last(&bytes, self.ends(), count, range.start == 0);
            let is_cut = found.count < count && range.start > 0;
            if is_cut && most < room {
                block = block.saturating_mul(8);
                continue;
            }
            let returned = found.count;
            let truncated = is_cut.then(|| Truncation {
                returned,
                total: Some(count),
                unit: Unit::Lines,
                reason: Why::Budget,
                next: None,
            });
            let start = range.start + found.start as u64;
            let bytes = bytes.slice(found.start..);
            return Ok(Piece { entry, bytes, start, lines: None, truncated });
        }
    }

    /// Where a unit of the encoding begins.
    fn unit_floor(&self, offset: u64) -> u64 {
        offset - offset % self.ends().width()
    }

    fn ends(&self) -> Ends {
        match self.encoding {
            TextEncoding::Text(encoding) if encoding == Encoding::UTF_16LE => Ends::Utf16Le,
            TextEncoding::Text(encoding) if encoding == Encoding::UTF_16BE => Ends::Utf16Be,
            TextEncoding::Text(_) | TextEncoding::Base64 | TextEncoding::Auto => Ends::OneByte,
        }
    }

    fn spell(&self, piece: Piece, wished: TextEncoding) -> Result<Read, Failure> {
        let Piece { entry, bytes, start, lines, truncated } = piece;
        let end = start + bytes.len() as u64;
        let (content, encoding) = match self.encoding {
            TextEncoding::Text(encoding) => match letters::decode(bytes, encoding, start) {
                Ok(text) => (text, self.encoding),
                // What looked like text at its beginning is none.
                Err((_, bytes)) if wished == TextEncoding::Auto => {
                    (to_base64(&bytes), TextEncoding::Base64)
                }
                Err((err, _)) => {
                    let hint = "read it with `encoding` `base64`, or with `auto`";
                    return Err(Failure::with_hint(err.on(self.file), hint));
                }
            },
            TextEncoding::Base64 | TextEncoding::Auto => (to_base64(&bytes), TextEncoding::Base64),
        };
        Ok(Read {
            content,
            encoding,
            size: entry.size,
            range: start..end,
            lines,
            version: entry.version.as_ref().map(ToString::to_string),
            truncated,
        })
    }

    fn too_long(&self, size: u64) -> Failure {
        let most = self.longest;
        let message = format!("the file has {size} bytes, and at most {most} are read at once");
        let error = Error::new(ErrorKind::FileTooLarge, message).on(self.file);
        Failure::with_hint(error, "read a part of it: `startLine`, `tail` or `offset`")
    }
}

/// That not even one line had room. The rest of it is read by bytes.
fn within_line(found: &Found, returned: u64) -> Truncation {
    let at = found.start + returned;
    let mut next = from_byte(at, found.wanted_end.map(|end| end - at));
    next.insert("startLine".to_owned(), Value::Null);
    next.insert("endLine".to_owned(), Value::Null);
    Truncation {
        returned,
        total: found.wanted_end.map(|end| end - found.start),
        unit: Unit::Bytes,
        reason: Why::Budget,
        next: Some(next),
    }
}

/// That not all lines had room.
fn between_lines(found: &Found, lines: LineRange, wanted: Wanted) -> Truncation {
    let last = match (wanted.last, found.total) {
        (Some(last), Some(total)) => Some(last.min(total)),
        (last, total) => last.or(total),
    };
    let next = Map::from_iter([("startLine".to_owned(), json!(lines.end + 1))]);
    Truncation {
        returned: lines.end + 1 - lines.start,
        total: last.map(|last| last + 1 - wanted.first),
        unit: Unit::Lines,
        reason: Why::Budget,
        next: Some(next),
    }
}

/// The arguments that go on at a byte.
fn from_byte(offset: u64, length: Option<u64>) -> Map<String, Value> {
    let mut next = Map::from_iter([("offset".to_owned(), json!(offset))]);
    next.extend(length.map(|length| ("length".to_owned(), json!(length))));
    next
}

/// The bytes of a stream, at most so many.
async fn gather(mut body: engine::ByteStream, most: u64) -> engine::Result<Bytes> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut bytes = BytesMut::new();
    while bytes.len() < most
        && let Some(chunk) = body.try_next().await?
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes.truncate(most);
    Ok(bytes.freeze())
}
