//! What is replaced, in order.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::hint;
use super::letters::Text;
use super::splices::{Splice, Splices};
use super::view::{LineEnd, View, Words};
use super::wish::{Edit, EditLimits, ExpectedCount, Replacement};
use crate::{Error, ErrorKind, Result};

/// The text with everything replaced, what changed, and how often each was found.
pub(super) fn all(text: &Text, wish: &Edit) -> Result<(Text, Splices, Vec<u64>)> {
    let (mut text, mut splices) = (text.clone(), Splices::default());
    let mut replaced = Vec::with_capacity(wish.replacements.len());
    // UTF-16 may be half as long again here; the file itself is measured at the end.
    let most = wish.limits.file.min(EditLimits::MOST_BYTES) * 3 / 2;
    for (number, replacement) in wish.replacements.iter().enumerate() {
        let numbered = |err: Error| match wish.replacements.len() {
            1 => err,
            _ => Error::new(err.kind(), format!("replacement {}: {}", number + 1, err.message())),
        };
        let (body, changed, count) = one(&text, replacement, most).map_err(numbered)?;
        text.body = body;
        splices = splices.then(changed);
        replaced.push(count);
    }
    Ok((text, splices, replaced))
}

fn one(text: &Text, replacement: &Replacement, most: u64) -> Result<(Vec<u8>, Splices, u64)> {
    let words = Words::of(text, &replacement.old, &replacement.new)?;
    let view = words.view(text);
    let count = view.places(&words).count() as u64;
    let is_expected = match replacement.count {
        ExpectedCount::Exactly(expected) => count == expected,
        ExpectedCount::All => count > 0,
    };
    if !is_expected {
        return Err(refusal(text, &view, &words, replacement, count));
    }
    let (mut body, mut splices) = (Vec::with_capacity(text.body.len()), Splices::default());
    let mut lines = LineEnds { body: &text.body, next: None };
    let mut done = 0;
    for old in view.places(&words) {
        body.extend_from_slice(text.body.get(done..old.start).unwrap_or_default());
        let start = body.len();
        let ends = if words.has_lines() { lines.near(&old) } else { LineEnd::Lf };
        body.extend_from_slice(words.new_for(ends));
        done = old.end;
        splices.push(Splice { old, new: start..body.len() });
        if body.len() as u64 > most {
            let message = "the file would be larger than files may be to be edited";
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
    }
    body.extend_from_slice(text.body.get(done..).unwrap_or_default());
    Ok((body, splices, count))
}

fn refusal(
    text: &Text,
    view: &View<'_>,
    words: &Words,
    replacement: &Replacement,
    count: u64,
) -> Error {
    let found = match count {
        0 => match hint::nearest(text, &replacement.old) {
            Some(hint) => format!("the text to replace is not in the file; {hint}"),
            None => "the text to replace is not in the file".into(),
        },
        _ => {
            let places = view.places(words).map(|place| place.start);
            let at = hint::lines(&text.body, places);
            format!("the text to replace is in the file {}, {at}", times(count))
        }
    };
    let expected = match replacement.count {
        ExpectedCount::All => String::new(),
        ExpectedCount::Exactly(1) if count == 0 => String::new(),
        ExpectedCount::Exactly(expected) => format!("; {} was expected", times(expected)),
    };
    Error::new(ErrorKind::PreconditionFailed, found + &expected)
}

fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        2 => "twice".into(),
        _ => format!("{count} times"),
    }
}

/// How lines end, asked at places in order.
struct LineEnds<'a> {
    body: &'a [u8],
    /// Where the line ends that was last looked at, and how.
    next: Option<(usize, LineEnd)>,
}

impl LineEnds<'_> {
    /// How the line ends at the beginning of a part: as the one before where it is the last.
    fn near(&mut self, part: &Range<usize>) -> LineEnd {
        if let Some((end, how)) = self.next
            && part.start <= end
        {
            return how;
        }
        let behind = memchr(b'\n', self.body.get(part.start..).unwrap_or_default());
        let found = match behind {
            Some(feed) => (part.start + feed, self.at(part.start + feed)),
            // No other line ends behind this place, so it is not looked for again.
            None => match memrchr(b'\n', self.body) {
                Some(feed) => (usize::MAX, self.at(feed)),
                None => (usize::MAX, LineEnd::Lf),
            },
        };
        self.next = Some(found);
        found.1
    }

    fn at(&self, feed: usize) -> LineEnd {
        let before = feed.checked_sub(1).and_then(|before| self.body.get(before));
        if before == Some(&b'\r') { LineEnd::CrLf } else { LineEnd::Lf }
    }
}
