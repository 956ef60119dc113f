//! The records of an archive that we write.

use super::content::Measured;
use super::time;
use super::{CENTRAL, END, END_64, HAS_DESCRIPTOR, IS_UTF_8, LOCAL, LOCATOR_64, TIMESTAMP, ZIP_64};
use crate::UnixTime;

/// What is needed to read it, and for sizes or offsets of eight bytes.
const VERSION: u16 = 20;
const VERSION_64: u16 = 45;
/// Made on Unix, by the largest version that we write.
const MADE_BY: u16 = 3 << 8 | VERSION_64;
const IS_DIRECTORY_FOR_DOS: u32 = 0x10;

/// What is told of a member, in both of its headers.
pub(super) struct Telling {
    /// With a slash at the end if it is a directory.
    pub(super) name: String,
    /// With the type of the file.
    pub(super) mode: u32,
    pub(super) modified: UnixTime,
    pub(super) method: u16,
    /// Whether the header goes out before the content is known.
    pub(super) is_streamed: bool,
    /// Whether sizes have eight bytes.
    pub(super) is_large: bool,
}

impl Telling {
    pub(super) fn local(&self, measured: Measured, out: &mut Vec<u8>) {
        let mut extra = self.timestamp();
        let (mut told, mut sizes) = (measured, short(measured));
        if self.is_streamed {
            told = Measured::default();
            sizes = (0, 0);
        }
        if self.is_large {
            sizes = (u32::MAX, u32::MAX);
            let numbers = [told.size, told.compressed];
            field(&mut extra, ZIP_64, &numbers.map(u64::to_le_bytes).concat());
        }
        put32(out, LOCAL);
        put16(out, if self.is_large { VERSION_64 } else { VERSION });
        self.shared(told.crc, sizes, out);
        put16(out, self.name.len() as u16);
        put16(out, extra.len() as u16);
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(&extra);
    }

    pub(super) fn central(&self, measured: Measured, offset: u64, out: &mut Vec<u8>) {
        let (mut extra, mut large) = (self.timestamp(), Vec::new());
        let sizes = short(measured);
        // The field holds what does not fit, in this order.
        for number in [measured.size, measured.compressed, offset] {
            if number >= u64::from(u32::MAX) {
                large.extend_from_slice(&number.to_le_bytes());
            }
        }
        if !large.is_empty() {
            field(&mut extra, ZIP_64, &large);
        }
        put32(out, CENTRAL);
        put16(out, MADE_BY);
        put16(out, if self.is_large || !large.is_empty() { VERSION_64 } else { VERSION });
        self.shared(measured.crc, sizes, out);
        put16(out, self.name.len() as u16);
        put16(out, extra.len() as u16);
        // No comment, the first disk, no text.
        out.extend_from_slice(&[0; 6]);
        let dos = if self.name.ends_with('/') { IS_DIRECTORY_FOR_DOS } else { 0 };
        put32(out, self.mode << 16 | dos);
        put32(out, clamped(offset));
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(&extra);
    }

    fn shared(&self, crc: u32, (compressed, size): (u32, u32), out: &mut Vec<u8>) {
        put16(out, IS_UTF_8 | if self.is_streamed { HAS_DESCRIPTOR } else { 0 });
        put16(out, self.method);
        let (date, time) = time::to_dos(self.modified);
        put16(out, time);
        put16(out, date);
        put32(out, crc);
        put32(out, compressed);
        put32(out, size);
    }

    /// The time to the second and in UTC, until 2038.
    fn timestamp(&self) -> Vec<u8> {
        let mut extra = Vec::new();
        if let Ok(seconds) = i32::try_from(self.modified.seconds) {
            field(&mut extra, TIMESTAMP, &[&[1][..], &seconds.to_le_bytes()].concat());
        }
        extra
    }
}

/// The end records of an archive with so many members, whose central directory begins there and has
/// so many bytes.
pub(super) fn end(entries: u64, begin: u64, bytes: u64, out: &mut Vec<u8>) {
    let short = u16::try_from(entries).unwrap_or(u16::MAX);
    if short == u16::MAX || begin >= u64::from(u32::MAX) || bytes >= u64::from(u32::MAX) {
        put32(out, END_64);
        put64(out, 44);
        put16(out, MADE_BY);
        put16(out, VERSION_64);
        out.extend_from_slice(&[0; 8]);
        [entries, entries, bytes, begin].into_iter().for_each(|number| put64(out, number));
        put32(out, LOCATOR_64);
        put32(out, 0);
        put64(out, begin + bytes);
        put32(out, 1);
    }
    put32(out, END);
    out.extend_from_slice(&[0; 4]);
    put16(out, short);
    put16(out, short);
    put32(out, clamped(bytes));
    put32(out, clamped(begin));
    put16(out, 0);
}

fn short(measured: Measured) -> (u32, u32) {
    (clamped(measured.compressed), clamped(measured.size))
}

/// A number, or only ones: then it stands elsewhere.
fn clamped(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn field(extra: &mut Vec<u8>, id: u16, content: &[u8]) {
    put16(extra, id);
    put16(extra, content.len() as u16);
    extra.extend_from_slice(content);
}

fn put16(out: &mut Vec<u8>, number: u16) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::descriptor;
    use super::super::header::{Central, Header};
    use super::super::source::Source;
    use super::*;

    const HUGE: Measured = Measured { crc: 7, compressed: 5 << 30, size: 6 << 30 };

    fn told(is_streamed: bool) -> Telling {
        let modified = UnixTime { seconds: 1_000_000_001, nanoseconds: 0 };
        let (name, mode, is_large) = ("dir/file".to_owned(), 0o100_644, true);
        Telling { name, mode, modified, method: 8, is_streamed, is_large }
    }

    fn measured(header: &Header) -> Measured {
        Measured { crc: header.crc, compressed: header.compressed, size: header.size }
    }

    #[test]
    fn sizes_and_places_beyond_four_gib_come_back_from_the_central_directory() {
        for (tell, offset) in [(HUGE, 7 << 30), (HUGE, 1), (Measured { size: 1, ..HUGE }, 2)] {
            let mut out = Vec::new();
            told(true).central(tell, offset, &mut out);
            let mut source = Source::new(&out[4..]);
            let central = Central::read(&mut source).unwrap();
            assert_eq!((measured(&central.header), central.offset), (tell, offset));
            assert!(source.is_at_end().unwrap());
        }
    }

    #[test]
    fn a_place_beyond_four_gib_comes_back_where_sizes_are_small() {
        let small = Measured { crc: 7, compressed: 5, size: 6 };
        let mut out = Vec::new();
        told(false).central(small, u64::from(u32::MAX), &mut out);
        let central = Central::read(&mut Source::new(&out[4..])).unwrap();
        assert_eq!((measured(&central.header), central.offset), (small, u64::from(u32::MAX)));
    }

    #[test]
    fn a_local_header_tells_large_sizes_or_that_they_follow() {
        for (is_streamed, tell) in [(false, HUGE), (true, Measured::default())] {
            let mut out = Vec::new();
            told(is_streamed).local(HUGE, &mut out);
            let header = Header::local(&mut Source::new(&out[4..])).unwrap();
            assert_eq!(measured(&header), tell);
            assert_eq!(header.modified.seconds, 1_000_000_001);
        }
    }

    #[test]
    fn a_descriptor_of_large_sizes_is_understood() {
        let wrong = Measured { size: HUGE.size + 1, ..HUGE };
        let signature = [0x50, 0x4b, 0x07, 0x08];
        let long = descriptor::long(&signature, HUGE);
        assert!(descriptor::short(&signature, HUGE).is_empty());
        assert!(descriptor::check(&mut Source::new(&*long), HUGE).is_ok());
        assert!(descriptor::check(&mut Source::new(&*long), wrong).is_err());
    }
}
