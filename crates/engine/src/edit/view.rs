//! A text as it is searched: so that bytes which are alike are the same text.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::letters::Text;
use crate::Result;

/// What stands before each letter where letters must be told apart. No letter of those encodings
/// begins with it.
const LETTER: u8 = 0xFF;

/// What is looked for, and what takes its place.
pub(super) struct Words {
    old: Vec<u8>,
    /// Whether a `\n` stands for either end of a line.
    is_lenient: bool,
    /// With `\n` at the ends of lines.
    new: Vec<u8>,
    /// With `\r\n` at the ends of lines.
    new_crlf: Vec<u8>,
}

impl Words {
    /// Both texts as `text` would hold them.
    pub(super) fn of(text: &Text, old: &str, new: &str) -> Result<Self> {
        let old_letters = text.letters(old)?;
        let lettered =
            View::of(&old_letters, text.starts(&old_letters).as_deref(), Ends::AsTheyAre);
        Ok(Self {
            old: lettered.bytes.into_owned(),
            is_lenient: old.contains('\n') && !old.contains('\r'),
            new: text.letters(new)?.into(),
            new_crlf: text.letters(&new.replace("\r\n", "\n").replace('\n', "\r\n"))?.into(),
        })
    }

    /// What takes the place of a text near which lines end like this.
    pub(super) fn new_for(&self, ends: LineEnd) -> &[u8] {
        match ends {
            LineEnd::Lf => &self.new,
            LineEnd::CrLf => &self.new_crlf,
        }
    }

    /// Whether it matters how lines end.
    pub(super) fn has_lines(&self) -> bool {
        self.new != self.new_crlf
    }

    /// A text as it is searched for these words.
    pub(super) fn view<'a>(&self, text: &'a Text) -> View<'a> {
        let is_lenient = self.is_lenient && memmem::find(&text.body, b"\r\n").is_some();
        let ends = if is_lenient { Ends::Alike } else { Ends::AsTheyAre };
        View::of(&text.body, text.starts(&text.body).as_deref(), ends)
    }
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    Lf,
    CrLf,
}

/// Whether the ends of lines are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    AsTheyAre,
    /// Each is a `\n`.
    Alike,
}

/// Bytes to search, and where they are in the text.
pub(super) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// For each byte, and for the end, the offset in the text; none if it is the same.
    origin: Option<Vec<u32>>,
}

impl<'a> View<'a> {
    fn of(body: &'a [u8], starts: Option<&[bool]>, ends: Ends) -> Self {
        if starts.is_none() && ends == Ends::AsTheyAre {
            return Self { bytes: Cow::Borrowed(body), origin: None };
        }
        let mut bytes = Vec::with_capacity(body.len());
        let mut origin = Vec::with_capacity(body.len() + 1);
        let mut at = 0;
        while let Some(byte) = body.get(at) {
            let mut push = |byte: u8| {
                bytes.push(byte);
                // No file of more than a gigabyte is edited.
                origin.push(at as u32);
            };
            if starts.is_some_and(|starts| starts.get(at) == Some(&true)) {
                push(LETTER);
            }
            let is_folded = ends == Ends::Alike && body.get(at..at + 2) == Some(b"\r\n");
            push(if is_folded { b'\n' } else { *byte });
            at += if is_folded { 2 } else { 1 };
        }
        origin.push(body.len() as u32);
        Self { bytes: Cow::Owned(bytes), origin: Some(origin) }
    }

    /// Where some words are in the text, without those that overlap one before.
    pub(super) fn places(&self, words: &Words) -> impl Iterator<Item = Range<usize>> {
        let len = words.old.len();
        let finder = memmem::Finder::new(&words.old).into_owned();
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = from + finder.find(self.bytes.get(from..)?)?;
            from = start + len;
            Some(self.offset(start)..self.offset(from))
        })
    }

    fn offset(&self, at: usize) -> usize {
        match &self.origin {
            None => at,
            Some(origin) => origin.get(at).map_or(0, |offset| *offset as usize),
        }
    }
}
