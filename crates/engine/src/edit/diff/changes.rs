//! Which lines changed.

use std::ops::Range;
use std::time::Instant;

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::super::letters::Text;
use super::super::splices::Splice;
use super::lines;

/// Parts of more lines are told as changed, without a closer look: most of them would be cut.
const COMPARED: usize = 5000;

/// Lines of the old text and those of the new one that take their place.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// What changed within a part of whole lines.
pub(super) fn changes(region: &Splice, old: &Text, new: &Text, deadline: Instant) -> Vec<Change> {
    let split = |text: &Text, part: &Range<usize>| -> Option<Vec<Range<usize>>> {
        let lines: Vec<_> = lines::split(&text.body, part.clone()).take(COMPARED + 1).collect();
        (lines.len() <= COMPARED).then_some(lines)
    };
    let (Some(old_lines), Some(new_lines)) = (split(old, &region.old), split(new, &region.new))
    else {
        return vec![Change { old: region.old.clone(), new: region.new.clone() }];
    };
    let (before, after) = (words(old, &old_lines), words(new, &new_lines));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline));
    let changed = ops.iter().map(similar::DiffOp::as_tag_tuple).filter(|op| op.0 != DiffTag::Equal);
    let changed = changed.map(|(_, before, after)| Change {
        old: bytes(&old_lines, before, &region.old),
        new: bytes(&new_lines, after, &region.new),
    });
    changed.collect()
}

/// Lines as they are compared. The first one holds the mark, so that no other is the same.
fn words<'a>(text: &'a Text, lines: &[Range<usize>]) -> Vec<(bool, &'a [u8])> {
    let word = |line: &Range<usize>| {
        (text.is_marked(line.start), text.body.get(line.clone()).unwrap_or_default())
    };
    lines.iter().map(word).collect()
}

/// The bytes of some lines of a part.
fn bytes(lines: &[Range<usize>], numbers: Range<usize>, part: &Range<usize>) -> Range<usize> {
    let offset = |number| lines.get(number).map_or(part.end, |line: &Range<usize>| line.start);
    offset(numbers.start)..offset(numbers.end)
}
