//! The names in one page, and how one of them is found without looking at the others.

use std::ops::Deref;
use std::sync::Arc;

use super::{Item, Name};

/// How many names of a page are marked. Few pages are longer.
const MARKED: usize = 128;
/// How many marks are looked at in one step.
const GROUP: usize = size_of::<u64>();

/// Items in the order of their names. Items lie all over the memory; who looks for one of them
/// should not have to go there, so the page has their names and a mark of each name side by side.
#[derive(Debug)]
pub(crate) struct Leaf {
    items: Vec<Arc<Item>>,
    names: Vec<Name>,
    marks: [u8; MARKED],
}

impl Leaf {
    /// The item of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Item>> {
        self.items.get(self.position(name)?)
    }

    pub(super) fn find_mut(&mut self, name: &str) -> Option<&mut Arc<Item>> {
        let at = self.position(name)?;
        self.items.get_mut(at)
    }

    fn position(&self, name: &str) -> Option<usize> {
        let (groups, _) = self.marks.as_chunks();
        let wanted = mark(name);
        for (first, group) in (0..self.names.len()).step_by(GROUP).zip(groups) {
            let mut found = matching(*group, wanted);
            while found != 0 {
                let at = first + (found.trailing_zeros() / u8::BITS) as usize;
                // The item comes nearer while the names are compared.
                std::hint::black_box(self.items.get(at).map(|item| item.node.is_link()));
                if self.names.get(at).is_some_and(|found| found == name) {
                    return Some(at);
                }
                found &= found - 1;
            }
        }
        let rest = self.names.get(MARKED..)?;
        Some(MARKED + rest.binary_search_by(|found| (**found).cmp(name)).ok()?)
    }

    /// Where a name is, or would be.
    pub(super) fn place(&self, name: &str) -> Result<usize, usize> {
        self.names.binary_search_by(|found| (**found).cmp(name))
    }

    /// Puts an item in its place, which is no greater than the number of items.
    pub(super) fn insert(&mut self, at: usize, item: Arc<Item>) {
        if let Some(marks @ [_, ..]) = self.marks.get_mut(at..) {
            marks.rotate_right(1);
            if let Some(first) = marks.first_mut() {
                *first = mark(&item.name);
            }
        }
        self.names.insert(at, item.name.clone());
        self.items.insert(at, item);
    }

    /// Takes the items from a place on out.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let right = self.items.split_off(at);
        self.names.truncate(at);
        // Marks of names that went away lead nowhere.
        Self::from(right)
    }

    /// Takes all items out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Arc<Item>> {
        self.names.clear();
        self.items.drain(..)
    }
}

impl From<Vec<Arc<Item>>> for Leaf {
    fn from(items: Vec<Arc<Item>>) -> Self {
        let mut marks = [0; MARKED];
        let names: Vec<_> = items.iter().map(|item| item.name.clone()).collect();
        marks.iter_mut().zip(&names).for_each(|(place, name)| *place = mark(name));
        Self { items, names, marks }
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
