//! Tar archives in gzip or Zstandard.

use std::io::{self, Read, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::super::encode::{Encoder, encoded};
use super::super::{bad, broken};
use crate::{ByteStream, Error, ErrorKind, Result};

/// The largest window that a frame may ask for, which is memory: 8 MiB, as every decoder should take
/// and no encoder should exceed (RFC 8878, 3.1.1.1.2). A frame of some KiB fills it.
const LARGEST_WINDOW_LOG: u32 = 23;
const TOO_MUCH_MEMORY: &str = "Frame requires too much memory for decoding";
const TOO_LARGE_WINDOW: &str =
    "the archive needs a window of more than 8 MiB: compress it without --ultra and --long";
/// Beyond this level the archive hardly shrinks, and takes several times as long.
const LEVEL: i32 = 3;
/// How many zeros may stand behind the end marker: programs fill up their last record with them.
const MOST_PADDING: u64 = 1 << 20;

/// Reads what gzip compressed, all members of it.
pub(in crate::archive) fn gunzip(archive: impl Read) -> impl Read {
    MultiGzDecoder::new(archive)
}

/// Reads what Zstandard compressed, all frames of it.
pub(in crate::archive) fn unzstd(archive: impl Read) -> Result<impl Read> {
    let mut plain = zstd::stream::read::Decoder::new(archive).map_err(broken)?;
    plain.window_log_max(LARGEST_WINDOW_LOG).map_err(broken)?;
    Ok(Unzstd(plain))
}

/// Says what is wrong with a frame that asks for too much memory, which the library says in words only.
struct Unzstd<R>(R);

impl<R: Read> Read for Unzstd<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let Self(plain) = self;
        plain.read(space).map_err(|err| match err.to_string() == TOO_MUCH_MEMORY {
            true => io::Error::other(bad(TOO_LARGE_WINDOW).because(err)),
            false => err,
        })
    }
}

/// Reads what stands behind the end marker: the checksums are there, and nothing else may be.
pub(in crate::archive) fn check_rest(mut plain: impl Read) -> Result<()> {
    let (mut space, mut read) = (vec![0; 16 << 10], 0);
    loop {
        let len = plain.read(&mut space).map_err(broken)?;
        if len == 0 {
            return Ok(());
        }
        read += len as u64;
        let is_zero = space.get(..len).unwrap_or_default().iter().all(|byte| *byte == 0);
        if !is_zero || read > MOST_PADDING {
            return Err(bad("something stands behind the end of the archive"));
        }
    }
}

/// Compresses with gzip.
pub(in crate::archive) fn gzip(archive: ByteStream) -> ByteStream {
    encoded(archive, Gzip(GzEncoder::new(Vec::new(), Compression::default())))
}

/// Compresses with Zstandard.
pub(in crate::archive) fn zstd(archive: ByteStream) -> Result<ByteStream> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), LEVEL).map_err(not_made)?;
    encoder.include_checksum(true).map_err(not_made)?;
    Ok(encoded(archive, Zstd { encoder, is_done: false }))
}

struct Gzip(GzEncoder<Vec<u8>>);

impl Encoder for Gzip {
    type Part = Bytes;

    fn weight(part: &Bytes) -> usize {
        part.len()
    }

    fn take(&mut self, part: Bytes, out: &mut Vec<u8>) -> Result<()> {
        self.0.write_all(&part).map_err(not_made)?;
        out.append(self.0.get_mut());
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.0.try_finish().map_err(not_made)?;
        out.append(self.0.get_mut());
        Ok(())
    }
}

struct Zstd {
    encoder: zstd::stream::write::Encoder<'static, Vec<u8>>,
    /// Finished once more, it would write an empty frame.
    is_done: bool,
}

impl Encoder for Zstd {
    type Part = Bytes;

    fn weight(part: &Bytes) -> usize {
        part.len()
    }

    fn take(&mut self, part: Bytes, out: &mut Vec<u8>) -> Result<()> {
        self.encoder.write_all(&part).map_err(not_made)?;
        out.append(self.encoder.get_mut());
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !std::mem::replace(&mut self.is_done, true) {
            self.encoder.do_finish().map_err(not_made)?;
            out.append(self.encoder.get_mut());
        }
        Ok(())
    }
}

fn not_made(err: io::Error) -> Error {
    Error::new(ErrorKind::Io, "the archive could not be compressed").because(err)
}
