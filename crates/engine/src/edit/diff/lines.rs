//! Parts of a text as whole lines.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::super::splices::Splice;

/// The parts that changed, widened to whole lines, in order. Those of one line become one.
pub(super) fn whole(parts: Vec<Splice>, old: &[u8], new: &[u8]) -> Vec<Splice> {
    let mut regions: Vec<Splice> = Vec::with_capacity(parts.len());
    for part in parts {
        match regions.last_mut() {
            Some(last) if part.old.start < last.old.end => {
                let (old_end, new_end) = match last.old.end {
                    // The line goes on behind this part and ends where it did.
                    end if part.old.end < end => (end, part.new.end + (end - part.old.end)),
                    _ => end_of(&part, old, new),
                };
                last.old.end = old_end;
                last.new.end = new_end;
            }
            last => {
                let floor = last.map_or(0, |last| last.old.end);
                let before = old.get(floor..part.old.start).unwrap_or_default();
                let start = memrchr(b'\n', before).map_or(floor, |feed| floor + feed + 1);
                let (old_end, new_end) = end_of(&part, old, new);
                let new_start = part.new.start - (part.old.start - start);
                regions.push(Splice { old: start..old_end, new: new_start..new_end });
            }
        }
    }
    regions
}

/// Takes in the line that becomes the first one, where all before it went: its mark is new.
pub(super) fn hold_first(regions: &mut Vec<Splice>, old: &[u8]) {
    while let Some(first) = regions.first().filter(|first| first.old.start == 0)
        && first.new.is_empty()
        && first.old.end < old.len()
    {
        let (old_end, new_end) = (first.old.end, first.new.end);
        let next = regions.get(1).filter(|next| next.old.start == old_end).cloned();
        let (old_end, new_end) = match next {
            Some(next) => {
                regions.remove(1);
                (next.old.end, next.new.end)
            }
            None => {
                let end = self::first(old, old_end, 1);
                (end, new_end + (end - old_end))
            }
        };
        if let Some(first) = regions.first_mut() {
            first.old.end = old_end;
            first.new.end = new_end;
        }
    }
}

/// Where the line ends in which a part ends, in both texts: what is behind it is the same.
fn end_of(part: &Splice, old: &[u8], new: &[u8]) -> (usize, usize) {
    if begins_line(old, part.old.end) && begins_line(new, part.new.end) {
        return (part.old.end, part.new.end);
    }
    let rest = old.get(part.old.end..).unwrap_or_default();
    let more = memchr(b'\n', rest).map_or(rest.len(), |feed| feed + 1);
    (part.old.end + more, part.new.end + more)
}

fn begins_line(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| text.get(before) == Some(&b'\n'))
}

/// The lines of a part, each with its end.
pub(super) fn split(text: &[u8], part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = part.start;
    std::iter::from_fn(move || {
        let rest = text.get(start..part.end).filter(|rest| !rest.is_empty())?;
        let begin = start;
        start += memchr(b'\n', rest).map_or(rest.len(), |feed| feed + 1);
        Some(begin..start)
    })
}

/// How many lines a part has.
pub(super) fn count(text: &[u8], part: &Range<usize>) -> usize {
    let part = text.get(part.clone()).unwrap_or_default();
    let open = part.last().is_some_and(|last| *last != b'\n');
    memchr_iter(b'\n', part).count() + usize::from(open)
}

/// Where so many lines end that begin at an offset.
pub(super) fn first(text: &[u8], from: usize, lines: usize) -> usize {
    split(text, from..text.len()).take(lines).last().map_or(from, |line| line.end)
}

/// Where the last lines of a part begin.
pub(super) fn last(text: &[u8], part: Range<usize>, lines: usize) -> usize {
    let mut start = part.end;
    for _ in 0..lines {
        let Some(before) = text.get(part.start..start.saturating_sub(1)) else { break };
        start = memrchr(b'\n', before).map_or(part.start, |feed| part.start + feed + 1);
    }
    start
}
