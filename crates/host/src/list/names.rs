//! The first names of a directory, however many it holds.

use std::ffi::OsStr;
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Mutex, PoisonError};

/// Names are gathered in passes of at most so many bytes, with what it takes to find each.
pub(super) const PASS_BYTES: usize = 2 << 20;
/// What it takes to find a name.
const EACH: usize = size_of::<(u32, u16)>();

/// Sorted names in one piece of memory.
#[derive(Debug)]
pub struct Names {
    memory: Memory,
    /// Whether the directory holds names behind the last one.
    pub more: bool,
}

impl Names {
    /// All that there are.
    pub(super) fn whole(mut memory: Memory) -> Self {
        memory.sort();
        Self { memory, more: false }
    }

    /// The names in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &OsStr> {
        self.memory.iter().map(OsStr::from_bytes)
    }

    /// How much memory they take.
    pub fn size(&self) -> usize {
        self.memory.bytes()
    }

    /// The name at a position.
    pub fn nth(&self, position: usize) -> Option<&OsStr> {
        self.memory.ends.get(position).map(|at| OsStr::from_bytes(slice(&self.memory.text, *at)))
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        mem::take(&mut self.memory).give_back();
    }
}

/// Names one behind the other, and where each is.
#[derive(Debug, Default)]
pub(super) struct Memory {
    text: Vec<u8>,
    ends: Vec<(u32, u16)>,
}

/// Memory of listings that are over. The allocator would keep it for every thread that listed.
static SPARE: Mutex<Vec<Memory>> = Mutex::new(Vec::new());
const MOST_SPARE: usize = 3;
/// Less is not worth keeping.
const WORTH_KEEPING: usize = 64 << 10;

impl Memory {
    pub(super) fn take() -> Self {
        SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(super) fn give_back(mut self) {
        self.clear();
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if self.text.capacity() > WORTH_KEEPING && spare.len() < MOST_SPARE {
            spare.push(self);
        }
    }

    pub(super) fn sort(&mut self) {
        let Self { text, ends } = self;
        ends.sort_unstable_by(|a, b| slice(text, *a).cmp(slice(text, *b)));
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.ends.iter().map(|at| slice(&self.text, *at))
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(super) fn push(&mut self, name: &[u8]) {
        let start = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.ends.push((start, u16::try_from(name.len()).unwrap_or(u16::MAX)));
        self.text.extend_from_slice(name);
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * EACH
    }
}

/// Keeps the smallest names that were offered.
pub(super) struct First<'a> {
    after: Option<&'a [u8]>,
    most: usize,
    names: Names,
    /// Names from here on are known not to be among the first.
    bound: Option<Vec<u8>>,
}

impl<'a> First<'a> {
    pub(super) fn new(after: Option<&'a [u8]>, most: usize) -> Self {
        let names = Names { memory: Memory::take(), more: false };
        Self { after, most, names, bound: None }
    }

    pub(super) fn offer(&mut self, name: &[u8]) {
        if self.after.is_some_and(|after| name <= after) {
            return;
        }
        if self.bound.as_deref().is_some_and(|bound| name >= bound) {
            self.names.more = true;
            return;
        }
        self.names.memory.push(name);
        let too_many = self.names.memory.ends.len() > self.most.saturating_mul(2).max(1024);
        if too_many || self.names.memory.bytes() > 2 * PASS_BYTES {
            self.trim();
        }
    }

    /// Sorts, and lets go of what lies behind the first `most` or behind one pass's memory.
    fn trim(&mut self) {
        self.names.memory.sort();
        if self.names.memory.ends.len() <= self.most && self.names.memory.bytes() <= PASS_BYTES {
            return;
        }
        let mut kept = Memory::take();
        for name in self.names.memory.iter() {
            if kept.ends.len() == self.most || kept.bytes() + name.len() + EACH > PASS_BYTES {
                self.bound = Some(name.to_vec());
                self.names.more = true;
                break;
            }
            kept.push(name);
        }
        mem::replace(&mut self.names.memory, kept).give_back();
    }

    pub(super) fn finish(mut self) -> Names {
        self.trim();
        self.names
    }
}

fn slice(text: &[u8], (start, len): (u32, u16)) -> &[u8] {
    let start = start as usize;
    text.get(start..start + usize::from(len)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn first(names: &[Vec<u8>], after: Option<&[u8]>, most: usize) -> (Vec<Vec<u8>>, bool) {
        let mut first = First::new(after, most);
        names.iter().for_each(|name| first.offer(name));
        let names = first.finish();
        (names.iter().map(|name| name.as_bytes().to_vec()).collect(), names.more)
    }

    proptest! {
        #[test]
        fn a_page_is_what_a_full_sort_would_give(
            names in proptest::collection::hash_set(
                proptest::collection::vec(1..=255_u8, 1..4), 0..3000),
            after in proptest::option::of(proptest::collection::vec(1..=255_u8, 1..4)),
            most in 1..400_usize,
        ) {
            let names: Vec<_> = names.into_iter().collect();
            let mut all: Vec<_> =
                names.iter().filter(|n| after.as_ref().is_none_or(|a| *n > a)).cloned().collect();
            all.sort();
            let (page, more) = first(&names, after.as_deref(), most);
            prop_assert_eq!(more, all.len() > most);
            all.truncate(most);
            prop_assert_eq!(page, all);
        }
    }

    #[test]
    fn memory_is_bounded_and_a_second_pass_goes_on() {
        let names: Vec<Vec<u8>> =
            (0..100_000).rev().map(|n| format!("{n:0>200}").into_bytes()).collect();
        let (page, more) = first(&names, None, usize::MAX);
        assert!(more && page.len() * 200 <= PASS_BYTES);
        let (next, _) = first(&names, page.last().map(|name| &name[..]), usize::MAX);
        assert_eq!(next[0], names[names.len() - 1 - page.len()]);
    }
}
