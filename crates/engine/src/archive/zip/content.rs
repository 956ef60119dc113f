//! A member's content as it comes out, checked against what is told of it.

use std::io::{self, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::super::bad;
use super::header::Header;
use super::source::Source;
use super::{DEFLATED, descriptor};
use crate::{Error, Result};

/// Is told of bytes that nobody announced: how many more came, and how many that makes.
pub(super) type Meter<'a> = Box<dyn FnMut(u64, u64) -> Result<()> + 'a>;

/// The content of a member.
pub(super) struct Content<'a, R> {
    source: &'a mut Source<R>,
    /// What inflates it, unless it is stored as it is.
    inflate: Option<&'a mut Decompress>,
    /// Where it begins.
    begin: u64,
    /// How many bytes of the archive are left of it; none if only its end will tell.
    left: Option<u64>,
    /// How many bytes it says it has, if it says so.
    size: Option<u64>,
    meter: Meter<'a>,
    measured: Measured,
    crc: Crc,
    is_at_end: bool,
}

/// What a content turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
}

impl Header {
    /// How many bytes the content says it has; nothing if it is told behind it.
    pub(super) fn told_size(&self) -> Option<u64> {
        (self.method != DEFLATED || !self.has_descriptor).then_some(self.size)
    }
}

impl<'a, R: Read> Content<'a, R> {
    pub(super) fn new(
        header: &Header,
        source: &'a mut Source<R>,
        inflate: &'a mut Decompress,
        meter: Meter<'a>,
    ) -> Self {
        inflate.reset(false);
        let (begin, size) = (source.position(), header.told_size());
        Self {
            source,
            inflate: (header.method == DEFLATED).then_some(inflate),
            begin,
            left: size.map(|_| header.compressed),
            size,
            meter,
            measured: Measured::default(),
            crc: Crc::new(),
            is_at_end: false,
        }
    }

    /// Reads what nobody wanted, and then what stands behind the content. All that was told of it
    /// must be true.
    pub(super) fn finish(mut self, header: &Header) -> Result<Measured> {
        let mut space = [0; 4096];
        while self.some(&mut space)? > 0 {}
        let compressed = self.source.position() - self.begin;
        let measured = Measured { crc: self.crc.sum(), compressed, ..self.measured };
        let told = Measured { crc: header.crc, compressed: header.compressed, size: header.size };
        // With a descriptor, the header should say nothing. Programs tell what they know all the
        // same, so that each number is nothing or the truth.
        let numbers = [
            (u64::from(told.crc), u64::from(measured.crc)),
            (told.compressed, measured.compressed),
            (told.size, measured.size),
        ];
        let is_part = numbers.iter().all(|(told, truth)| *told == 0 || told == truth);
        let is_true = told == measured || header.has_descriptor && is_part;
        if self.left.is_some_and(|left| left != 0) || !is_true {
            return Err(contradiction());
        }
        if header.has_descriptor {
            descriptor::check(self.source, measured)?;
        }
        Ok(measured)
    }

    fn some(&mut self, space: &mut [u8]) -> Result<usize> {
        if self.is_at_end || space.is_empty() {
            return Ok(0);
        }
        let len = self.plain(space)?;
        self.is_at_end = len == 0;
        self.crc.update(space.get(..len).unwrap_or_default());
        self.measured.size += len as u64;
        match self.size {
            Some(size) if self.measured.size > size => return Err(contradiction()),
            Some(_) => {}
            None => (self.meter)(len as u64, self.measured.size)?,
        }
        Ok(len)
    }

    /// The next bytes as they come out; none at the end only.
    fn plain(&mut self, space: &mut [u8]) -> Result<usize> {
        loop {
            let there = self.source.fill()?;
            let most =
                self.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
            let input = there.get(..there.len().min(most)).unwrap_or_default();
            let is_last = input.is_empty();
            let (taken, len, is_done) = match &mut self.inflate {
                Some(inflate) => inflated(inflate, input, space)?,
                None => copied(input, space),
            };
            self.source.take(taken);
            self.left = self.left.map(|left| left - taken as u64);
            let is_stored = self.inflate.is_none() && self.left == Some(0);
            if len > 0 || is_done || is_stored {
                return Ok(len);
            }
            if is_last {
                return Err(bad("a member's content is cut off"));
            }
        }
    }
}

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        self.some(space).map_err(io::Error::other)
    }
}

/// How many bytes went in and came out, and whether that was all.
fn inflated(
    inflate: &mut Decompress,
    input: &[u8],
    space: &mut [u8],
) -> Result<(usize, usize, bool)> {
    let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
    let status = inflate
        .decompress(input, space, FlushDecompress::None)
        .map_err(|err| bad("a member's content is broken").because(err))?;
    let taken = (inflate.total_in() - before_in) as usize;
    let len = (inflate.total_out() - before_out) as usize;
    Ok((taken, len, status == Status::StreamEnd))
}

fn copied(input: &[u8], space: &mut [u8]) -> (usize, usize, bool) {
    let len = input.len().min(space.len());
    let (input, space) = (input.get(..len), space.get_mut(..len));
    if let (Some(input), Some(space)) = (input, space) {
        space.copy_from_slice(input);
    }
    (len, len, false)
}

fn contradiction() -> Error {
    bad("a member's content is not what is told of it")
}
