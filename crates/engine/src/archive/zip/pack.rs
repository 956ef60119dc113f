//! Members become a zip archive, without a look back.
//!
//! A small file is compressed before its header goes out, which then tells everything; a large one
//! is told of behind its content.

use bytes::Bytes;
use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use futures::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};

use super::super::encode::{Encoder, encoded};
use super::super::pack::{Member, MemberKind};
use super::content::Measured;
use super::index::Index;
use super::write::Telling;
use super::{DEFLATED, DESCRIPTOR, STORED, descriptor};
use crate::{ByteStream, Error, ErrorKind, Result, UnixTime};

/// Up to so many bytes a file is compressed as a whole.
const SMALL: u64 = 64 << 10;
/// From so many bytes on, sizes have eight bytes: deflate may make a little more of what it cannot
/// compress.
const LARGE: u64 = 0xFF00_0000;

/// The archive of these members.
pub(in crate::archive) fn pack(members: BoxStream<'static, Result<Member>>) -> ByteStream {
    let parts = members.map_ok(parts).try_flatten().boxed();
    encoded(parts, Zip::new())
}

/// A member's head, or some of its content.
enum Part {
    Head(Head),
    Content(Bytes),
}

struct Head {
    name: String,
    mode: u32,
    modified: UnixTime,
    size: u64,
}

fn parts(member: Member) -> BoxStream<'static, Result<Part>> {
    let Member { mut name, entry, kind } = member;
    let modified = entry.modified.unwrap_or(UnixTime { seconds: 0, nanoseconds: 0 });
    let (kind, default, size, content) = match kind {
        MemberKind::Directory => {
            name.push('/');
            (0o040_000, 0o755, 0, stream::empty().boxed())
        }
        MemberKind::File(size, body) => (0o100_000, 0o644, size, body),
        MemberKind::Symlink(target) => {
            let size = target.len() as u64;
            (0o120_000, 0o777, size, stream::iter([Ok(Bytes::from(target))]).boxed())
        }
    };
    let mode = kind | entry.mode.unwrap_or(default) & 0o777;
    let head = Part::Head(Head { name, mode, modified, size });
    stream::iter([Ok(head)]).chain(content.map_ok(Part::Content)).boxed()
}

struct Zip {
    index: Index,
    /// How many bytes went out.
    written: u64,
    open: Option<Open>,
    /// For small files, one after the other.
    deflate: Compress,
}

/// A member whose content is not yet whole.
struct Open {
    told: Telling,
    offset: u64,
    size: u64,
    came: u64,
    crc: Crc,
    content: Content,
}

enum Content {
    /// What came of a small file.
    Held(Vec<u8>),
    /// What a large one goes through, from its first bytes on.
    Deflated(Option<Compress>),
}

impl Encoder for Zip {
    type Part = Part;

    fn weight(part: &Part) -> usize {
        match part {
            Part::Head(_) => 0,
            Part::Content(bytes) => bytes.len(),
        }
    }

    fn take(&mut self, part: Part, out: &mut Vec<u8>) -> Result<()> {
        let before = out.len();
        match part {
            Part::Head(head) => self.begin(head, out)?,
            Part::Content(bytes) => self.content(&bytes, out)?,
        }
        self.written += (out.len() - before) as u64;
        match self.open.take_if(|open| open.came == open.size) {
            Some(open) => self.close(open, out),
            None => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.open.is_some() {
            return Err(changed());
        }
        self.index.write(self.written, out)
    }
}

impl Zip {
    fn new() -> Self {
        let deflate = Compress::new(Compression::default(), false);
        Self { index: Index::default(), written: 0, open: None, deflate }
    }

    fn begin(&mut self, head: Head, out: &mut Vec<u8>) -> Result<()> {
        if self.open.is_some() {
            return Err(changed());
        }
        let Head { name, mode, modified, size } = head;
        let (is_streamed, is_large) = (size > SMALL, size >= LARGE);
        let told = Telling { name, mode, modified, method: DEFLATED, is_streamed, is_large };
        let content = if is_streamed {
            told.local(Measured::default(), out);
            Content::Deflated(None)
        } else {
            Content::Held(Vec::new())
        };
        let (offset, came, crc) = (self.written, 0, Crc::new());
        self.open = Some(Open { told, offset, size, came, crc, content });
        Ok(())
    }

    fn content(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let open = self.open.as_mut().ok_or_else(changed)?;
        open.came += bytes.len() as u64;
        open.crc.update(bytes);
        if open.came > open.size {
            return Err(changed());
        }
        match &mut open.content {
            Content::Held(held) => held.extend_from_slice(bytes),
            Content::Deflated(Some(through)) => deflate(through, bytes, Ending::Open, out)?,
            Content::Deflated(through) => {
                let chosen = through.insert(chosen(&mut self.deflate, bytes)?);
                deflate(chosen, bytes, Ending::Open, out)?;
            }
        }
        Ok(())
    }

    /// Writes what is left of a member that is whole.
    fn close(&mut self, open: Open, out: &mut Vec<u8>) -> Result<()> {
        let Open { mut told, offset, size, crc, content, .. } = open;
        let (before, crc) = (out.len(), crc.sum());
        let measured = match content {
            Content::Held(held) => {
                let mut short = Vec::new();
                self.deflate.reset();
                deflate(&mut self.deflate, &held, Ending::Closed, &mut short)?;
                if short.len() >= held.len() {
                    (told.method, short) = (STORED, held);
                }
                let measured = Measured { crc, compressed: short.len() as u64, size };
                told.local(measured, out);
                out.extend_from_slice(&short);
                measured
            }
            Content::Deflated(through) => {
                let mut through = through.ok_or_else(changed)?;
                deflate(&mut through, &[], Ending::Closed, out)?;
                let measured = Measured { crc, compressed: through.total_out(), size };
                let form = if told.is_large { descriptor::long } else { descriptor::short };
                out.extend_from_slice(&form(&DESCRIPTOR.to_le_bytes(), measured));
                measured
            }
        };
        self.written += (out.len() - before) as u64;
        self.index.note(&told, measured, offset)
    }
}

/// What a large file goes through: where its first bytes cannot be compressed, trying it with the
/// rest would only take time.
fn chosen(trial: &mut Compress, first: &[u8]) -> Result<Compress> {
    let sample = first.get(..first.len().min(SMALL as usize)).unwrap_or_default();
    let mut short = Vec::new();
    trial.reset();
    deflate(trial, sample, Ending::Closed, &mut short)?;
    let is_worth_it = short.len() < sample.len() - sample.len() / 32;
    let level = if is_worth_it { Compression::default() } else { Compression::none() };
    Ok(Compress::new(level, false))
}

/// Whether more of a content follows.
#[derive(Clone, Copy)]
enum Ending {
    Open,
    Closed,
}

fn deflate(through: &mut Compress, mut bytes: &[u8], end: Ending, out: &mut Vec<u8>) -> Result<()> {
    let flush = match end {
        Ending::Open => FlushCompress::None,
        Ending::Closed => FlushCompress::Finish,
    };
    loop {
        out.reserve(16 << 10);
        let before = through.total_in();
        let status = through.compress_vec(bytes, out, flush).map_err(|err| {
            Error::new(ErrorKind::Io, "a file could not be compressed").because(err)
        })?;
        bytes = bytes.get((through.total_in() - before) as usize..).unwrap_or_default();
        let is_done = match end {
            Ending::Open => bytes.is_empty(),
            Ending::Closed => status == Status::StreamEnd,
        };
        if is_done {
            return Ok(());
        }
    }
}

fn changed() -> Error {
    Error::new(ErrorKind::Io, "a file changed its length while it was packed")
}
