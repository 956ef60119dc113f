//! Where lines begin and end, without holding the file.

use bytes::{Bytes, BytesMut};

use crate::tools::read_file::LineRange;

/// How lines end. In every encoding but UTF-16 the byte of `\n` is never a part of another letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    OneByte,
    Utf16Le,
    Utf16Be,
}

impl Ends {
    /// How many bytes a unit has.
    pub(super) fn width(self) -> u64 {
        match self {
            Self::OneByte => 1,
            Self::Utf16Le | Self::Utf16Be => 2,
        }
    }
}

/// Which lines are wanted, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) first: u64,
    pub(super) last: Option<u64>,
}

/// Looks for lines in chunks of a file.
#[derive(Debug)]
pub(super) struct Scan {
    wanted: Wanted,
    ends: Ends,
    room: usize,
    /// How many bytes were seen.
    seen: u64,
    /// The line that the next byte is of.
    line: u64,
    /// Whether the next byte begins a line.
    is_at_begin: bool,
    start: u64,
    kept: BytesMut,
    /// How many bytes of `kept` are whole lines, and the last of them.
    whole: Option<(usize, u64)>,
    is_full: bool,
    /// Where the wanted lines end, if that was seen.
    wanted_end: Option<u64>,
    /// The odd byte at the end of a chunk.
    odd: Option<u8>,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) bytes: Bytes,
    /// Where they begin.
    pub(super) start: u64,
    /// Which lines they are; none if there are no such.
    pub(super) lines: Option<LineRange>,
    /// How many lines the file has, if that was counted.
    pub(super) total: Option<u64>,
    /// Whether there was no room for all of them.
    pub(super) is_cut: bool,
    /// Whether not even one line had room.
    pub(super) is_within_line: bool,
    /// Where the wanted lines end, if that was seen.
    pub(super) wanted_end: Option<u64>,
}

impl Scan {
    pub(super) fn new(wanted: Wanted, ends: Ends, room: u64) -> Self {
        Self {
            wanted,
            ends,
            room: usize::try_from(room).unwrap_or(usize::MAX),
            seen: 0,
            line: 1,
            is_at_begin: true,
            start: 0,
            kept: BytesMut::new(),
            whole: None,
            is_full: false,
            wanted_end: None,
            odd: None,
        }
    }

    /// Whether nothing that comes is wanted any more.
    pub(super) fn has_all(&self) -> bool {
        self.is_full || self.wanted.last.is_some_and(|last| self.line > last)
    }

    /// Whether nothing that comes is of use but to count lines. Of a line that has no room it is of
    /// use where it ends, unless that is far.
    pub(super) fn is_done(&self, far: u64) -> bool {
        let seeks_end = self.is_full && self.whole.is_none() && self.wanted.last.is_some();
        let is_near = self.seen - self.start <= far;
        self.has_all() && !(seeks_end && is_near && self.wanted_end.is_none())
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) {
        if self.ends == Ends::OneByte {
            return self.feed_bytes(chunk);
        }
        let (pairs, odd) = match self.odd.take() {
            Some(odd) => {
                let Some((next, rest)) = chunk.split_first() else {
                    self.odd = Some(odd);
                    return;
                };
                self.unit(&[odd, *next]);
                rest.as_chunks::<2>()
            }
            None => chunk.as_chunks::<2>(),
        };
        pairs.iter().for_each(|pair| self.unit(pair));
        self.odd = odd.first().copied();
    }

    fn feed_bytes(&mut self, mut chunk: &[u8]) {
        while !chunk.is_empty() {
            let end = chunk.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let (part, rest) = chunk.split_at(end.unwrap_or(chunk.len()));
            self.keep(part, end.is_some());
            chunk = rest;
        }
    }

    fn unit(&mut self, pair: &[u8; 2]) {
        let is_end = match self.ends {
            Ends::Utf16Be => *pair == [0, b'\n'],
            Ends::Utf16Le | Ends::OneByte => *pair == [b'\n', 0],
        };
        self.keep(pair, is_end);
    }

    /// Takes a part of one line, which may be its end.
    fn keep(&mut self, part: &[u8], is_end: bool) {
        let is_wanted = self.line >= self.wanted.first && !self.has_all();
        if is_wanted {
            if self.line == self.wanted.first && self.is_at_begin {
                self.start = self.seen;
            }
            let free = self.room - self.kept.len();
            self.kept.extend_from_slice(part.get(..free.min(part.len())).unwrap_or_default());
            self.is_full = part.len() > free;
            if is_end && !self.is_full {
                self.whole = Some((self.kept.len(), self.line));
            }
        }
        self.seen += part.len() as u64;
        self.is_at_begin = is_end;
        self.line += u64::from(is_end);
        if is_end && self.wanted.last.is_some_and(|last| self.line > last) {
            self.wanted_end.get_or_insert(self.seen);
        }
    }

    pub(super) fn end(mut self, is_counted: bool) -> Found {
        if let Some(odd) = self.odd.take() {
            self.keep(&[odd], false);
        }
        // An end at the end begins no new line.
        let last = if self.is_at_begin { self.line - 1 } else { self.line };
        let total = is_counted.then_some(last);
        let first = self.wanted.first;
        let is_cut = self.is_full;
        let is_within_line = is_cut && self.whole.is_none();
        let end = match (is_cut, self.whole) {
            (true, Some((len, line))) => {
                self.kept.truncate(len);
                line
            }
            (true, None) => first,
            (false, _) => self.wanted.last.map_or(last, |wanted| wanted.min(last)),
        };
        let lines = (first <= last).then_some(LineRange { start: first, end, total });
        Found {
            wanted_end: self.wanted_end.or(is_counted.then_some(self.seen)),
            bytes: self.kept.freeze(),
            start: self.start,
            lines,
            total,
            is_cut,
            is_within_line,
        }
    }
}

/// The last lines of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Last {
    /// Where they begin.
    pub(super) start: usize,
    /// How many they are.
    pub(super) count: u64,
}

/// The last `count` lines, or as many as there are whole. The first of `bytes` is whole only if they
/// are the beginning of the file.
pub(super) fn last(bytes: &[u8], ends: Ends, count: u64, is_begin: bool) -> Last {
    let (width, end): (usize, &[u8]) = match ends {
        Ends::OneByte => (1, b"\n"),
        Ends::Utf16Le => (2, &[b'\n', 0]),
        Ends::Utf16Be => (2, &[0, b'\n']),
    };
    let mut found = Last { start: bytes.len(), count: 0 };
    // Half a unit at the end is a part of the last line.
    let half = bytes.len() % width;
    let mut at = bytes.len().saturating_sub(if half == 0 { width } else { half });
    if bytes.is_empty() {
        return found;
    }
    // The end of the last line is no beginning of another.
    while found.count < count {
        if at < width {
            if is_begin {
                found = Last { start: 0, count: found.count + 1 };
            }
            break;
        }
        at -= width;
        if bytes.get(at..at + width) == Some(end) {
            found = Last { start: at + width, count: found.count + 1 };
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str, chunk: usize, first: u64, last: Option<u64>, room: u64) -> Found {
        let mut scan = Scan::new(Wanted { first, last }, Ends::OneByte, room);
        text.as_bytes().chunks(chunk).for_each(|chunk| scan.feed(chunk));
        scan.end(true)
    }

    #[test]
    fn lines_are_found_wherever_chunks_end() {
        let text = "one\ntwo\nthree\nfour";
        for chunk in 1..=text.len() {
            let found = scan(text, chunk, 2, Some(3), 100);
            assert_eq!(&found.bytes[..], b"two\nthree\n", "{chunk}");
            assert_eq!(found.lines, Some(LineRange { start: 2, end: 3, total: Some(4) }));
            assert_eq!(found.start, 4);
        }
    }

    #[test]
    fn an_end_at_the_end_begins_no_line() {
        assert_eq!(scan("a\nb\n", 4, 1, None, 100).total, Some(2));
        assert_eq!(scan("a\nb", 4, 1, None, 100).total, Some(2));
        assert!(scan("a\nb\n", 4, 3, None, 100).lines.is_none());
    }

    #[test]
    fn what_has_no_room_is_cut_behind_a_whole_line() {
        let found = scan("one\ntwo\nthree\n", 3, 1, None, 9);
        assert!(found.is_cut && !found.is_within_line);
        assert_eq!(&found.bytes[..], b"one\ntwo\n");
        assert_eq!(found.lines, Some(LineRange { start: 1, end: 2, total: Some(3) }));
        let found = scan("a long line\n", 3, 1, None, 5);
        assert!(found.is_cut && found.is_within_line);
        assert_eq!(&found.bytes[..], b"a lon");
    }

    #[test]
    fn what_just_fits_is_not_cut() {
        let found = scan("one\ntwo", 2, 1, None, 7);
        assert!(!found.is_cut);
        assert_eq!(&found.bytes[..], b"one\ntwo");
    }

    #[test]
    fn lines_of_utf_16_are_found_wherever_chunks_end() {
        let bytes: Vec<u8> = "a\nĊ\nx".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for chunk in 1..=bytes.len() {
            let mut scan = Scan::new(Wanted { first: 2, last: Some(2) }, Ends::Utf16Le, 100);
            bytes.chunks(chunk).for_each(|chunk| scan.feed(chunk));
            let found = scan.end(true);
            assert_eq!(&found.bytes[..], &bytes[4..8], "{chunk}");
            assert_eq!(found.start, 4);
        }
    }

    #[test]
    fn the_last_lines_end_with_the_file() {
        let text = b"one\ntwo\nthree\n";
        assert_eq!(last(text, Ends::OneByte, 2, true), Last { start: 4, count: 2 });
        assert_eq!(last(text, Ends::OneByte, 9, true), Last { start: 0, count: 3 });
        assert_eq!(last(&text[2..], Ends::OneByte, 9, false), Last { start: 2, count: 2 });
        assert_eq!(last(b"x", Ends::OneByte, 1, true), Last { start: 0, count: 1 });
        assert_eq!(last(b"", Ends::OneByte, 1, true), Last { start: 0, count: 0 });
        assert_eq!(last(b"\n", Ends::OneByte, 3, true), Last { start: 0, count: 1 });
    }
}
