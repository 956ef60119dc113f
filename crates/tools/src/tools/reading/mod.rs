//! A part of a file as text.
//!
//! - `lines`: where lines begin and end, without holding the file
//! - `letters`: which bytes are whole letters
//! - `detect`: which encoding bytes are in, if they are text

mod detect;
mod letters;
mod lines;

use std::ops::Range;

use bytes::{Buf as _, Bytes, BytesMut};
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
        match self.spell(self.piece(part).await?) {
            // What looked like text at its beginning is none.
            Err(_) if wished == TextEncoding::Auto => {
                self.encoding = TextEncoding::Base64;
                self.spell(self.piece(part).await?)
            }
            outcome => outcome,
        }
    }

    async fn piece(&self, part: Part) -> Result<Piece, Failure> {
        match part {
            Part::Whole => self.bytes(0, None, true).await,
            Part::Bytes { offset, length } => self.bytes(offset, length, false).await,
            Part::Lines { first, last } => self.lines(Wanted { first, last }).await,
            Part::Tail(count) => self.tail(count).await,
        }
    }

    /// Which encoding the file is in.
    async fn recognise(&self) -> engine::Result<TextEncoding> {
        let Content { entry, body, .. } = self.open(Span::Between(0..HEAD)).await?;
        let head = gather(body, HEAD).await?;
        let is_whole = head.len() as u64 == entry.size;
        Ok(detect::detect(&head, is_whole).map_or(TextEncoding::Base64, TextEncoding::Text))
    }

    /// Opens a part of the file; none of it where there is nothing.
    async fn open(&self, span: Span) -> engine::Result<Content> {
        let outcome = self.held.read(self.file, span.clone()).await;
        match (outcome, span) {
            // An empty file has a first byte to ask for, too.
            (Err(err), Span::Between(Range { start: 0, .. }) | Span::Last(_))
                if err.kind() == ErrorKind::RangeNotSatisfiable =>
            {
                self.held.read(self.file, Span::Whole).await
            }
            (outcome, _) => outcome,
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
        if offset != self.unit_floor(offset) {
            let message = format!("offset {offset} is inside a letter");
            return Err(Error::new(ErrorKind::InvalidArgument, message).on(self.file).into());
        }
        // One letter always comes, however little is asked for.
        let enough = most.max(letters::LONGEST as u64);
        let span = Span::Between(offset..offset.saturating_add(enough));
        let Content { entry, range, body } = self.open(span).await?;
        if whole {
            self.check_whole(entry.size, room)?;
        }
        let mut bytes = gather(body, enough).await?;
        let here = usize::try_from(most).unwrap_or(usize::MAX);
        if range.start + (bytes.len().min(here) as u64) < entry.size {
            bytes.truncate(match self.encoding {
                TextEncoding::Text(encoding) => letters::up_to(here, &bytes, encoding),
                TextEncoding::Base64 | TextEncoding::Auto => here,
            });
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
                reason: if length == Some(most) { Why::Limit } else { Why::Budget },
                next: Some(from_byte(end, rest)),
            }
        });
        Ok(Piece { entry, bytes, start: range.start, lines: None, truncated })
    }

    async fn lines(&self, wanted: Wanted) -> Result<Piece, Failure> {
        let Content { entry, mut body, .. } = self.open(Span::Whole).await?;
        let mut is_counted = true;
        let mut scan = Scan::new(wanted, self.ends(), self.room());
        while let Some(chunk) = body.try_next().await? {
            scan.feed(&chunk);
            // Counting to the end of a long file would cost more than it tells.
            if entry.size > self.longest && scan.is_done(self.longest) {
                is_counted = false;
                break;
            }
        }
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
            bytes.truncate(letters::up_to(bytes.len(), &bytes, encoding));
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
            let most = room.min(block);
            // The unit before says whether the first line is whole.
            let enough = self.unit_floor(most) + self.ends().width();
            let Content { entry, range, body } = self.open(Span::Last(enough)).await?;
            let mut bytes = gather(body, enough).await?;
            // Half a unit at the beginning is a part of what is not asked for.
            let half = range.start - self.unit_floor(range.start);
            bytes.advance(bytes.len().min(usize::try_from(half).unwrap_or(0)));
            let found = lines::last(&bytes, self.ends(), count, range.start == 0);
            let is_cut = found.count < count && range.start > 0;
            if is_cut && most < room {
                block = block.saturating_mul(8);
                continue;
            }
            let returned = found.count;
            let truncated = is_cut.then(|| Truncation {
                returned,
                total: None,
                unit: Unit::Lines,
                reason: Why::Budget,
                next: None,
            });
            let start = range.start + half + found.start as u64;
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

    fn spell(&self, piece: Piece) -> Result<Read, Failure> {
        let Piece { entry, bytes, start, lines, truncated } = piece;
        let end = start + bytes.len() as u64;
        let (content, encoding) = match self.encoding {
            TextEncoding::Text(encoding) => {
                let text = letters::decode(&bytes, encoding, start).map_err(|err| {
                    let hint = "read it with `encoding` `base64`, or with `auto`";
                    Failure::with_hint(err.on(self.file), hint)
                })?;
                (text, self.encoding)
            }
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

    /// Refuses to read a file whole that is too long for it.
    fn check_whole(&self, size: u64, room: u64) -> Result<(), Failure> {
        let (most, hint) = match self.encoding {
            TextEncoding::Text(encoding) if encoding.has_states() => {
                (self.longest.min(room), "read it with `encoding` `base64`")
            }
            TextEncoding::Text(_) | TextEncoding::Base64 | TextEncoding::Auto => {
                (self.longest, "read a part of it: `startLine`, `tail` or `offset`")
            }
        };
        if size <= most {
            return Ok(());
        }
        let message = format!("the file has {size} bytes, and at most {most} are read at once");
        let error = Error::new(ErrorKind::FileTooLarge, message).on(self.file);
        Err(Failure::with_hint(error, hint))
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
    let next = Map::from_iter([("startLine".to_owned(), json!(lines.end + 1))]);
    Truncation {
        returned: lines.end + 1 - lines.start,
        total: found.total.map(|total| wanted.last.unwrap_or(total).min(total) + 1 - wanted.first),
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
