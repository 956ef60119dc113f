//! The lines of an answer, one by one, while its bytes arrive.

use crate::arriving::Split;
use crate::elements::Malformed;

/// The longest line: a few paths of 4,096 bytes, every one escaped, and room to spare.
const LONGEST: usize = 256 << 10;

/// Splits bytes into lines. Holds no more than one.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Split for Lines {
    fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        if self.0.len() + line.len() > LONGEST {
            return Err(Malformed::TooLong);
        }
        self.0.extend_from_slice(line);
        *bytes = rest.split_first().map_or(rest, |(_, rest)| rest);
        Ok(end.map(|_| std::mem::take(&mut self.0)))
    }

    fn finish(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed::Unfinished) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &[u8], piece: usize) -> Result<Vec<Vec<u8>>, Malformed> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for mut piece in text.chunks(piece) {
            while let Some(line) = lines.next(&mut piece)? {
                found.push(line);
            }
        }
        lines.finish().map(|()| found)
    }

    #[test]
    fn lines_are_found_whatever_the_pieces() {
        for piece in 1..8 {
            let lines = split(b"ab\n\ncde\n", piece).unwrap();
            assert_eq!(lines, [&b"ab"[..], b"", b"cde"], "{piece}");
        }
    }

    #[test]
    fn a_line_that_ends_early_is_unfinished() {
        assert_eq!(split(b"ab\nc", 3), Err(Malformed::Unfinished));
    }

    #[test]
    fn an_endless_line_is_refused() {
        assert_eq!(split(&vec![b'x'; LONGEST + 1], 4096), Err(Malformed::TooLong));
    }
}
