//! The names in one page, and how one of them is found without looking at the others.

use std::ops::Deref;
use std::sync::Arc;

use super::Item;

/// How many names of a page are marked. Few pages are longer.
const MARKED: usize = 128;
/// How many marks are looked at in one step.
const GROUP: usize = size_of::<u64>();

/// Items in the order of their names, with a mark of each name: items lie all over the memory, but
/// the marks of a page lie side by side.
#[derive(Debug)]
pub(crate) struct Leaf {
    items: Vec<Arc<Item>>,
    marks: [u8; MARKED],
}

impl Leaf {
    /// The item of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Item>> {
        let (groups, _) = self.marks.as_chunks();
        let wanted = mark(name);
        for (group, items) in groups.iter().zip(self.items.chunks(GROUP)) {
            let mut found = matching(*group, wanted);
            while found != 0 {
                let at = (found.trailing_zeros() / u8::BITS) as usize;
                if let Some(item) = items.get(at).filter(|item| *item.name == *name) {
                    return Some(item);
                }
                found &= found - 1;
            }
        }
        let rest = self.items.get(MARKED..)?;
        rest.get(rest.binary_search_by(|item| (*item.name).cmp(name)).ok()?)
    }

    /// Takes all items out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Arc<Item>> {
        self.items.drain(..)
    }
}

impl From<Vec<Arc<Item>>> for Leaf {
    fn from(items: Vec<Arc<Item>>) -> Self {
        let mut marks = [0; MARKED];
        marks.iter_mut().zip(&items).for_each(|(place, item)| *place = mark(&item.name));
        Self { items, marks }
    }
}

impl Deref for Leaf {
    type Target = [Arc<Item>];

    fn deref(&self) -> &Self::Target {
        &self.items
    }
}

/// The high bit of each byte that is the wanted one, and of some others above it.
fn matching(group: [u8; GROUP], wanted: u8) -> u64 {
    const LOW: u64 = u64::from_le_bytes([0x01; GROUP]);
    const HIGH: u64 = u64::from_le_bytes([0x80; GROUP]);
    let differs = u64::from_le_bytes(group) ^ LOW.wrapping_mul(u64::from(wanted));
    differs.wrapping_sub(LOW) & !differs & HIGH
}

/// A byte that tells most names apart. Whoever makes names that it does not tell apart gains
/// little: a page is short, and nobody can choose which names share one.
fn mark(name: &str) -> u8 {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = |hash: u64, part: u64| {
        let hash = (hash ^ part).wrapping_mul(MIX);
        hash ^ hash >> 32
    };
    let (parts, rest) = name.as_bytes().as_chunks();
    let hash =
        parts.iter().fold(name.len() as u64, |hash, part| mixed(hash, u64::from_le_bytes(*part)));
    let last = rest.iter().fold(0, |part, byte| part << 8 | u64::from(*byte));
    (mixed(hash, last).wrapping_mul(MIX) >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UnixTime;
    use crate::tree::{Body, File, Node, Stamp};

    fn leaf(names: usize) -> Leaf {
        let time = UnixTime { seconds: 0, nanoseconds: 0 };
        let item = |index: usize| {
            let body = Body::File(File::empty());
            let node =
                Node { mode: 0o644, created: time, modified: time, stamp: Stamp::default(), body };
            Arc::new(Item { name: format!("name-{index:04}").into(), node })
        };
        (0..names).map(item).collect::<Vec<_>>().into()
    }

    #[test]
    fn every_name_is_found_even_in_a_page_with_more_names_than_marks() {
        let leaf = leaf(3 * MARKED);
        assert!(
            leaf.iter()
                .all(|item| leaf.find(&item.name).is_some_and(|found| Arc::ptr_eq(found, item)))
        );
    }

    #[test]
    fn a_name_that_is_not_there_is_not_found() {
        let leaf = leaf(3 * MARKED);
        assert!((1000..5000).all(|index| leaf.find(&format!("name-{index:04}")).is_none()));
        assert!(leaf.find("").is_none());
    }
}
