//! A file's bytes as text that can be searched and cut byte by byte, and back without a loss.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use encoding_rs::DecoderResult;
use memchr::memchr;

use crate::text::{decode, encode};
use crate::{Encoding, Error, ErrorKind, Misfit, Result};

/// A NUL in so many first bytes makes a file no text.
const LOOKED_AT: usize = 8 << 10;
/// The byte order marks, and what they say.
const MARKS: [(&[u8], Encoding); 3] = [
    (b"\xef\xbb\xbf", Encoding::UTF_8),
    (b"\xff\xfe", Encoding::UTF_16LE),
    (b"\xfe\xff", Encoding::UTF_16BE),
];

/// A text. UTF-16 is held as UTF-8, in which a half of a pair is written like any other letter
/// (WTF-8), so that it is not lost; everything else as it is in the file.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// The byte order mark, if there is one.
    mark: &'static [u8],
    pub(super) body: Vec<u8>,
    /// The byte that is left over at the end of UTF-16.
    odd: Option<u8>,
    encoding: Encoding,
}

impl Text {
    /// The text of a file, in the encoding that is asked for or that its mark tells.
    pub(super) fn of(bytes: &Bytes, asked: Option<Encoding>) -> Result<Self> {
        let marked = MARKS.into_iter().find(|(mark, encoding)| {
            bytes.starts_with(mark) && asked.is_none_or(|asked| asked == *encoding)
        });
        let mark = marked.map_or(&b""[..], |(mark, _)| mark);
        let encoding = asked.or(marked.map(|(_, encoding)| encoding)).unwrap_or_default();
        if encoding.has_states() {
            let message = format!("files in {} cannot be edited", encoding.name());
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let rest = bytes.get(mark.len()..).unwrap_or_default();
        if encoding.is_utf_16() {
            let (body, odd) = from_utf_16(rest, encoding);
            return Ok(Self { mark, body, odd, encoding });
        }
        if memchr(0, bytes.get(..LOOKED_AT).unwrap_or(bytes)).is_some() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the file is no text: it is binary",
            ));
        }
        Ok(Self { mark, body: rest.to_vec(), odd: None, encoding })
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> Bytes {
        let mut bytes = self.mark.to_vec();
        if self.encoding.is_utf_16() {
            to_utf_16(&self.body, self.encoding, &mut bytes);
        } else {
            bytes.extend_from_slice(&self.body);
        }
        bytes.extend(self.odd);
        bytes.into()
    }

    /// Other words, as this text would hold them.
    pub(super) fn letters(&self, words: &str) -> Result<Bytes> {
        if self.encoding.is_utf_16() {
            return Ok(Bytes::copy_from_slice(words.as_bytes()));
        }
        encode(words, self.encoding, Misfit::Refuse)
    }

    /// A part of this text for people: what is no text becomes a mark.
    pub(super) fn told<'a>(&self, part: &'a [u8]) -> Cow<'a, str> {
        if self.encoding.is_utf_16() || self.encoding == Encoding::UTF_8 {
            return String::from_utf8_lossy(part);
        }
        Cow::Owned(decode(part, self.encoding, Misfit::Replace).unwrap_or_default())
    }

    /// Whether a line that begins here holds the mark, to those who take it for a letter.
    pub(super) fn is_marked(&self, start: usize) -> bool {
        start == 0 && self.encoding == Encoding::UTF_8 && !self.mark.is_empty()
    }

    /// A line of this text for people and for `patch`, to which the mark of UTF-8 is a letter.
    pub(super) fn line(&self, line: Range<usize>) -> Cow<'_, str> {
        let is_marked = self.is_marked(line.start);
        let line = self.told(self.body.get(line).unwrap_or_default());
        if is_marked { Cow::Owned(format!("\u{feff}{line}")) } else { line }
    }

    /// Where letters of some bytes begin, if a letter may hold bytes that are another letter.
    pub(super) fn starts(&self, bytes: &[u8]) -> Option<Vec<bool>> {
        let is_clear = self.encoding == Encoding::UTF_8
            || self.encoding.is_utf_16()
            || self.encoding.is_single_byte();
        (!is_clear).then(|| starts(bytes, self.encoding))
    }
}

/// UTF-16 as UTF-8 with halves of pairs, and the byte that is left over.
fn from_utf_16(bytes: &[u8], encoding: Encoding) -> (Vec<u8>, Option<u8>) {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let is_big = encoding == Encoding::UTF_16BE;
    let unit = |pair: &[u8; 2]| {
        if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) }
    };
    let mut body = Vec::with_capacity(bytes.len());
    for letter in char::decode_utf16(pairs.iter().map(unit)) {
        match letter {
            Ok(letter) => {
                body.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Err(half) => body.extend(as_three_bytes(half.unpaired_surrogate())),
        }
    }
    (body, odd.first().copied())
}

fn as_three_bytes(half: u16) -> [u8; 3] {
    let [high, low] = half.to_be_bytes();
    [0xE0 | (high >> 4), 0x80 | ((high & 0x0F) << 2) | (low >> 6), 0x80 | (low & 0x3F)]
}

fn to_utf_16(mut body: &[u8], encoding: Encoding, bytes: &mut Vec<u8>) {
    let is_big = encoding == Encoding::UTF_16BE;
    let mut push =
        |unit: u16| bytes.extend(if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() });
    // In UTF-8 nothing but a half of a pair begins like this.
    let is_half = |[first, second, _]: &[u8; 3]| *first == 0xED && *second >= 0xA0;
    while !body.is_empty() {
        let half = body.array_windows::<3>().position(is_half).unwrap_or(body.len());
        let (whole, rest) = body.split_at_checked(half).unwrap_or((body, &[]));
        String::from_utf8_lossy(whole).encode_utf16().for_each(&mut push);
        let Some(([_, middle, last], behind)) = rest.split_first_chunk() else { break };
        push(0xD000 | (u16::from(middle & 0x3F) << 6) | u16::from(last & 0x3F));
        body = behind;
    }
}

/// Where letters begin, as the decoder sees it when the bytes come one by one.
fn starts(bytes: &[u8], encoding: Encoding) -> Vec<bool> {
    let mut decoder = encoding.decoder();
    let mut is_start = true;
    let mut starts = Vec::with_capacity(bytes.len());
    for byte in bytes.chunks(1) {
        starts.push(is_start);
        let mut read = 0;
        let mut place = [0; 16];
        loop {
            let rest = byte.get(read..).unwrap_or_default();
            let (outcome, more, written) =
                decoder.decode_to_utf8_without_replacement(rest, &mut place, false);
            read += more;
            is_start = written > 0;
            match outcome {
                // This byte began something new after all: what was before it is no text.
                DecoderResult::Malformed(_, _) if read == 0 => mark_last(&mut starts),
                // Bytes behind what is wrong may be inside a letter; the next that is whole tells.
                DecoderResult::Malformed(_, behind) => is_start = behind == 0,
                DecoderResult::InputEmpty | DecoderResult::OutputFull => break,
            }
            if read == byte.len() {
                break;
            }
        }
    }
    starts
}

fn mark_last(starts: &mut [bool]) {
    if let Some(last) = starts.last_mut() {
        *last = true;
    }
}
