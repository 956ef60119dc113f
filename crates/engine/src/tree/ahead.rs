//! What a walk is about to need, as far as the pages at hand tell.

use super::pairs::{Pair, Pairs};
use super::source::{Need, Source};

/// About how many names a page has, and how many pages one above it.
const FANOUT: usize = 32;
/// How many names are looked at for one answer. A walk that has so many at hand is in no hurry.
const STEPS: usize = 2048;
/// How many of the directories around the walk are looked at. What follows in one further out is
/// far away.
const LEVELS: usize = 16;

/// The pages that a walk through directories needs next and that are not at hand, the nearest
/// first. Each is passed as if nothing were in it, so that a walk through two trees, which do not
/// match any more behind it, may turn out not to need some of those that follow.
pub(crate) struct Ahead<'a> {
    /// The innermost is last.
    levels: Vec<Pairs>,
    /// What the walk looks into when it meets a pair.
    beneath: fn(&Pair) -> Option<Pairs>,
    /// How many names the walk looks at, at most.
    names: usize,
    steps: usize,
    source: &'a dyn Source,
}

impl<'a> Ahead<'a> {
    /// For a walk down from these directories, of which the innermost is last.
    pub(crate) fn of<'p>(
        levels: impl DoubleEndedIterator<Item = &'p Pairs>,
        beneath: fn(&Pair) -> Option<Pairs>,
        source: &'a dyn Source,
    ) -> Self {
        let mut levels: Vec<_> = levels.rev().take(LEVELS).cloned().collect();
        levels.reverse();
        Self { levels, beneath, names: usize::MAX, steps: STEPS, source }
    }

    /// For a walk along the next names of one directory. Many pages are shorter than usual, so
    /// that those for twice as many names are told.
    pub(super) fn along(rest: Pairs, names: usize, source: &'a dyn Source) -> Self {
        let names = names.saturating_mul(2);
        Self { levels: vec![rest], beneath: |_| None, names, steps: STEPS, source }
    }
}

impl Iterator for Ahead<'_> {
    type Item = Need;

    fn next(&mut self) -> Option<Need> {
        while self.names > 0 && self.steps > 0 {
            self.steps -= 1;
            let level = self.levels.last_mut()?;
            match level.next(self.source) {
                Ok(Some(pair)) => {
                    self.names -= 1;
                    self.levels.extend((self.beneath)(&pair));
                }
                Ok(None) => drop(self.levels.pop()),
                Err(need) => {
                    let above = u32::from(level.pass_missing(&need)?);
                    let names = FANOUT.saturating_pow(above.saturating_add(1));
                    self.names = self.names.saturating_sub(names);
                    return Some(need);
                }
            }
        }
        None
    }
}
