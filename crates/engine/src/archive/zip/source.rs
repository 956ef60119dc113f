//! The bytes of an archive, in order, and how many there were.

use std::io::Read;

use super::super::{bad, broken};
use crate::Result;

const SPACE: usize = 64 << 10;

/// An archive as it comes.
pub(super) struct Source<R> {
    archive: R,
    space: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(archive: R) -> Self {
        Self { archive, space: vec![0; SPACE], start: 0, end: 0, position: 0 }
    }

    /// How many bytes were taken.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// What is there to take; nothing at the end only.
    pub(super) fn fill(&mut self) -> Result<&[u8]> {
        self.peek(1)?;
        Ok(self.space.get(self.start..self.end).unwrap_or_default())
    }

    /// The next `len` bytes, or what there is before the end. `len` is small.
    pub(super) fn peek(&mut self, len: usize) -> Result<&[u8]> {
        if self.end - self.start < len {
            self.space.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < len {
            let space = self.space.get_mut(self.end..).unwrap_or_default();
            match self.archive.read(space).map_err(broken)? {
                0 => break,
                read => self.end += read,
            }
        }
        let end = self.end.min(self.start.saturating_add(len));
        Ok(self.space.get(self.start..end).unwrap_or_default())
    }

    /// Takes bytes that were seen.
    pub(super) fn take(&mut self, len: usize) {
        debug_assert!(len <= self.end - self.start);
        self.start += len;
        self.position += len as u64;
    }

    /// Takes the next `len` bytes, which must be there.
    pub(super) fn record(&mut self, len: usize) -> Result<Vec<u8>> {
        let mut record = Vec::with_capacity(len.min(SPACE));
        while record.len() < len {
            let there = self.fill()?;
            let more = there.get(..there.len().min(len - record.len())).unwrap_or_default();
            if more.is_empty() {
                return Err(bad("the archive is cut off"));
            }
            record.extend_from_slice(more);
            let taken = more.len();
            self.take(taken);
        }
        Ok(record)
    }

    /// Takes a signature.
    pub(super) fn signature(&mut self) -> Result<u32> {
        let bytes = self.record(4)?;
        super::fields::Fields(&bytes).u32()
    }

    pub(super) fn is_at_end(&mut self) -> Result<bool> {
        Ok(self.fill()?.is_empty())
    }
}
