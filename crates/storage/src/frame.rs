//! How an object is sealed for storage. The format is permanent.
//!
//! ```text
//! 0        format, 1
//! 1        codec, 0 raw or 1 zstd
//! 2..10    when it was sealed, milliseconds since 1970, little endian
//! 10..18   random
//! 18..22   length of the plain bytes, little endian
//! 22..     payload
//! ```
//!
//! Time and random bytes are the generation: they give equal content different stored bytes, so
//! that stores whose tokens are hashes of what they hold tell a second write from the first.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::find_frame_compressed_size;

use crate::{Error, ErrorKind, Result, Token};

/// How many bytes one object holds at most.
pub const MAX_PLAIN: usize = 16 << 20;

const HEAD: usize = 22;
const FORMAT: u8 = 1;
const RAW: u8 = 0;
const ZSTD: u8 = 1;

/// The first level is four times as fast as the third and saves nearly as much.
const LEVEL: i32 = 1;

/// Below this the head of a zstd frame eats what could be saved.
const WORTH_TRYING: usize = 128;

/// The sealed object: compressed if that saves at least a tenth.
///
/// No two calls give the same bytes. What is longer than [`MAX_PLAIN`] is refused by every backend.
pub fn seal(plain: &[u8]) -> Bytes {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    seal_as(plain, millis, rand::random())
}

fn seal_as(plain: &[u8], millis: u64, random: [u8; 8]) -> Bytes {
    let compressed = compress(plain);
    let (codec, payload) = match &compressed {
        Some(compressed) => (ZSTD, compressed.as_slice()),
        None => (RAW, plain),
    };
    let len = u32::try_from(plain.len()).unwrap_or(u32::MAX);
    let mut stored = Vec::with_capacity(HEAD + payload.len());
    stored.extend_from_slice(&[FORMAT, codec]);
    stored.extend_from_slice(&millis.to_le_bytes());
    stored.extend_from_slice(&random);
    stored.extend_from_slice(&len.to_le_bytes());
    stored.extend_from_slice(payload);
    stored.into()
}

/// The plain bytes of a sealed object, whatever anyone did to it: an error or what was sealed.
///
/// It takes no more memory than [`MAX_PLAIN`], and none for what is stored raw.
pub fn open(stored: &Bytes) -> Result<Bytes> {
    let head = Head::of(stored)?;
    let payload = stored.slice(HEAD..);
    let plain = match head.codec {
        RAW => payload,
        ZSTD => decompress(&payload, head.len)?,
        _ => return Err(corrupt("the object is compressed in a way that is not known")),
    };
    if plain.len() != head.len {
        return Err(corrupt("the object is shorter or longer than it says"));
    }
    Ok(plain)
}

/// What stands before the payload.
#[derive(Clone, Copy)]
struct Head {
    codec: u8,
    len: usize,
}

impl Head {
    fn of(stored: &Bytes) -> Result<Self> {
        let Some((&[format, codec, .., a, b, c, d], _)) = stored.split_first_chunk::<HEAD>() else {
            return Err(corrupt("the object ends within its head"));
        };
        if format != FORMAT {
            return Err(corrupt("the object has a format that is not known"));
        }
        let len = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if len > MAX_PLAIN {
            return Err(corrupt("the object claims to hold more than 16 MiB"));
        }
        Ok(Self { codec, len })
    }
}

/// When an object was sealed, and random bytes: what tells one write of it from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation([u8; Self::LEN]);

impl Generation {
    pub(crate) const LEN: usize = 16;

    /// The generation of what is about to be stored.
    pub(crate) fn of_new(stored: &Bytes) -> Result<Self> {
        Head::of(stored).map_err(|err| {
            Error::new(ErrorKind::InvalidObject, "the object is not sealed").because(err)
        })?;
        Self::of(stored)
    }

    /// The generation of what is stored.
    pub(crate) fn of(stored: &[u8]) -> Result<Self> {
        let generation = stored.get(2..).and_then(|rest| rest.first_chunk());
        match generation {
            Some(generation) if stored.len() >= HEAD => Ok(Self(*generation)),
            _ => Err(corrupt("the object ends within its head")),
        }
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn token(self) -> Token {
        Token::new(Bytes::copy_from_slice(&self.0))
    }

    /// When it was sealed.
    pub(crate) fn written(self) -> SystemTime {
        let millis = self.0.first_chunk().map_or(0, |millis| u64::from_le_bytes(*millis));
        // The clock counts seconds in 64 bits, which no number of milliseconds fills.
        SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
    }
}

thread_local! {
    // Making the tables anew costs more than compressing a page with them.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> =
        RefCell::new(Compressor::new(LEVEL).ok());
}

/// The bytes compressed, if that is worth it.
fn compress(plain: &[u8]) -> Option<Vec<u8>> {
    if plain.len() < WORTH_TRYING || plain.len() > MAX_PLAIN {
        return None;
    }
    // What saves less than a tenth is not wanted, and zstd gives up when it has no room for more.
    let limit = plain.len() - plain.len().div_ceil(10);
    let mut compressed = Vec::with_capacity(limit);
    COMPRESSOR.with_borrow_mut(|compressor| {
        compressor.as_mut()?.compress_to_buffer(plain, &mut compressed).ok()
    })?;
    (compressed.len() <= limit).then_some(compressed)
}

fn decompress(payload: &[u8], len: usize) -> Result<Bytes> {
    // Frames that follow the first would be decompressed too, even such that hold nothing.
    if find_frame_compressed_size(payload).ok() != Some(payload.len()) {
        return Err(corrupt("the object ends too early or too late"));
    }
    let plain = Decompressor::new().and_then(|mut zstd| zstd.decompress(payload, len));
    plain.map(Bytes::from).map_err(|err| corrupt("the object cannot be decompressed").because(err))
}

fn corrupt(message: &'static str) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_laid_out_as_the_table_says() {
        let stored = seal_as(b"hello", 0x1122_3344_5566_7788, [1, 2, 3, 4, 5, 6, 7, 8]);
        let expected = [
            &[1, 0][..],
            &[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11],
            &[1, 2, 3, 4, 5, 6, 7, 8],
            &[5, 0, 0, 0],
            b"hello",
        ];
        assert_eq!(stored, expected.concat());
    }

    #[test]
    fn a_compressed_frame_has_the_same_head() {
        let stored = seal_as(&[7; 300], 1, [9; 8]);
        let expected = [&[1, 1, 1, 0, 0, 0, 0, 0, 0, 0][..], &[9; 8], &[44, 1, 0, 0]];
        assert_eq!(&stored[..HEAD], expected.concat());
        assert_eq!(zstd::bulk::decompress(&stored[HEAD..], 300).unwrap(), [7; 300]);
    }

    #[test]
    fn a_generation_tells_when_it_was_sealed() {
        let stored = seal_as(b"x", 1500, [0; 8]);
        let written = Generation::of(&stored).unwrap().written();
        assert_eq!(written, SystemTime::UNIX_EPOCH + Duration::from_millis(1500));
        let stored = seal_as(b"x", u64::MAX, [0; 8]);
        assert!(Generation::of(&stored).unwrap().written() > SystemTime::now());
    }
}
