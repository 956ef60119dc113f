//! The central directory of an archive that is being written, kept until all members are.

use std::collections::VecDeque;

use super::content::Measured;
use super::write::{Telling, end};
use crate::{Error, ErrorKind, Result};

/// How many bytes are kept as they are. More are compressed: names in order repeat each other, so
/// that a member takes about 25 bytes.
const BLOCK: usize = 256 << 10;
const LEVEL: i32 = 1;

/// What the central directory will say.
#[derive(Default)]
pub(super) struct Index {
    entries: u64,
    bytes: u64,
    /// Compressed, each one by itself.
    blocks: VecDeque<Vec<u8>>,
    rest: Vec<u8>,
    is_written: bool,
}

impl Index {
    pub(super) fn note(&mut self, told: &Telling, measured: Measured, offset: u64) -> Result<()> {
        let before = self.rest.len();
        told.central(measured, offset, &mut self.rest);
        self.entries += 1;
        self.bytes += (self.rest.len() - before) as u64;
        if self.rest.len() >= BLOCK {
            let block = zstd::bulk::compress(&self.rest, LEVEL).map_err(lost)?;
            self.blocks.push_back(block);
            self.rest.clear();
        }
        Ok(())
    }

    /// Writes the next part of it, which begins behind so many bytes; nothing when all is written.
    pub(super) fn write(&mut self, begin: u64, out: &mut Vec<u8>) -> Result<()> {
        if let Some(block) = self.blocks.pop_front() {
            // The last member of a block may be as long as its name.
            let block = zstd::bulk::decompress(&block, BLOCK + (128 << 10)).map_err(lost)?;
            out.extend_from_slice(&block);
        } else if !std::mem::replace(&mut self.is_written, true) {
            out.append(&mut self.rest);
            end(self.entries, begin, self.bytes, out);
        }
        Ok(())
    }
}

fn lost(err: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, "the central directory could not be kept").because(err)
}
