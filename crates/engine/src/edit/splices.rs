//! Which parts of a text changed, and into which parts of the new one.

use std::iter::Peekable;
use std::ops::Range;

/// So many parts are told apart; all that come behind are one. A diff of so many is cut anyway.
const MOST: usize = 10_000;

/// A part of the old text and the part of the new one that took its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Parts that changed, in order; everything between is the same.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<Splice>);

impl Splices {
    /// Adds a part behind the others.
    pub(super) fn push(&mut self, splice: Splice) {
        let is_full = self.0.len() >= MOST;
        match self.0.last_mut().filter(|_| is_full) {
            None => self.0.push(splice),
            Some(last) => {
                last.old.end = splice.old.end;
                last.new.end = splice.new.end;
            }
        }
    }

    /// What changed if `later` changed what these made.
    pub(super) fn then(self, later: Self) -> Self {
        let mut composed = Self::default();
        let turned = self.0.into_iter().map(|Splice { old, new }| Splice { old: new, new: old });
        let (mut earlier, mut later) = (Side::of(turned), Side::of(later.0.into_iter()));
        while let Some(start) = earlier.next_start().into_iter().chain(later.next_start()).min() {
            let begin = (earlier.other(start), later.other(start));
            let mut end = start;
            // Each may reach into what the other one changes next.
            while earlier.take(&mut end) | later.take(&mut end) {}
            composed
                .push(Splice { old: begin.0..earlier.other(end), new: begin.1..later.other(end) });
        }
        composed
    }

    pub(super) fn into_parts(self) -> Vec<Splice> {
        self.0
    }
}

/// Splices seen from the text between two edits.
struct Side<I: Iterator<Item = Splice>> {
    /// `old` is the part in the text between, `new` the part in the other one.
    splices: Peekable<I>,
    /// Where the last one that was taken ended, in the text between and in the other one.
    ended: (usize, usize),
}

impl<I: Iterator<Item = Splice>> Side<I> {
    fn of(splices: I) -> Self {
        Self { splices: splices.peekable(), ended: (0, 0) }
    }

    fn next_start(&mut self) -> Option<usize> {
        self.splices.peek().map(|splice| splice.old.start)
    }

    /// Takes the next one if it begins no later than `end`, which moves to the end of it.
    fn take(&mut self, end: &mut usize) -> bool {
        let Some(splice) = self.splices.next_if(|splice| splice.old.start <= *end) else {
            return false;
        };
        self.ended = (splice.old.end, splice.new.end);
        *end = (*end).max(splice.old.end);
        true
    }

    /// Where an offset that nothing changed is in the other text.
    fn other(&self, between: usize) -> usize {
        let (here, there) = self.ended;
        there + between.saturating_sub(here)
    }
}
