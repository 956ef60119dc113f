//! Lines that are told together.

use std::ops::Range;

use super::super::letters::Text;
use super::lines;

/// Lines that went, came or stayed, one after the other.
pub(super) struct Hunk {
    /// The lines before it, in both texts.
    before: (usize, usize),
    removed: usize,
    inserted: usize,
    lines: String,
    /// What is longer is not told, so it need not be whole.
    most: usize,
}

impl Hunk {
    pub(super) fn at(old_line: usize, new_line: usize, most: usize) -> Self {
        let before = (old_line, new_line);
        Self { before, removed: 0, inserted: 0, lines: String::new(), most }
    }

    pub(super) fn keep(&mut self, text: &Text, part: Range<usize>) {
        let count = self.push(' ', text, part);
        self.removed += count;
        self.inserted += count;
    }

    pub(super) fn remove(&mut self, text: &Text, part: Range<usize>) {
        self.removed += self.push('-', text, part);
    }

    pub(super) fn insert(&mut self, text: &Text, part: Range<usize>) {
        // A mark with nothing behind it is a line all the same.
        if text.body.is_empty() && text.is_marked(0) {
            self.inserted += self.push_line('+', text, 0..0);
        }
        self.inserted += self.push('+', text, part);
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    fn push(&mut self, sign: char, text: &Text, part: Range<usize>) -> usize {
        let mut count = 0;
        for line in lines::split(&text.body, part) {
            if self.lines.len() > self.most {
                break;
            }
            count += self.push_line(sign, text, line);
        }
        count
    }

    fn push_line(&mut self, sign: char, text: &Text, line: Range<usize>) -> usize {
        self.lines.push(sign);
        self.lines.push_str(&text.line(line));
        if !self.lines.ends_with('\n') {
            self.lines.push_str("\n\\ No newline at end of file\n");
        }
        1
    }

    /// The hunk as `diff -u` writes it.
    pub(super) fn told(self) -> String {
        let part = |sign, before: usize, count: usize| match count {
            // Of no lines, the line before them is named.
            0 => format!("{sign}{before},0"),
            1 => format!("{sign}{}", before + 1),
            _ => format!("{sign}{},{count}", before + 1),
        };
        let old = part('-', self.before.0, self.removed);
        let new = part('+', self.before.1, self.inserted);
        format!("@@ {old} {new} @@\n{}", self.lines)
    }
}
