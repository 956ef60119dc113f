//! The pages beneath one page, and how the one that holds a name is found without comparing names.

use std::ops::Deref;

use super::page::Child;

/// Pages in the order of their first names. What those names begin with is often the same, so the
/// page has the bytes behind it side by side, as numbers.
#[derive(Debug)]
pub(crate) struct Branch {
    children: Vec<Child>,
    /// How many bytes all first names begin with alike.
    alike: usize,
    /// The next bytes of each.
    keys: Vec<u64>,
}

impl Branch {
    /// Which child holds a name, or would.
    pub(super) fn holder(&self, name: &str) -> usize {
        let is_alike = self.children.first().is_some_and(|child| {
            let start = child.first.as_bytes().get(..self.alike);
            start.is_some() && start == name.as_bytes().get(..self.alike)
        });
        let possible = if is_alike {
            let key = key(name, self.alike);
            let from = self.keys.partition_point(|other| *other < key);
            let to = self.keys.partition_point(|other| *other <= key);
            from..to
        } else {
            0..self.children.len()
        };
        let (from, some) = (possible.start, self.children.get(possible).unwrap_or_default());
        let before = from + some.partition_point(|child| *child.first <= *name);
        before.saturating_sub(1)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Child> {
        self.children.get_mut(at)
    }

    /// Puts children in their place, which is no greater than their number.
    pub(super) fn insert(&mut self, at: usize, new: impl IntoIterator<Item = Child>) {
        self.children.splice(at..at, new);
        *self = std::mem::take(&mut self.children).into();
    }

    /// Takes the children from a place on out.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let right = self.children.split_off(at);
        *self = std::mem::take(&mut self.children).into();
        right.into()
    }

    /// Takes all children out.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Child> {
        self.children.drain(..)
    }
}

impl From<Vec<Child>> for Branch {
    fn from(children: Vec<Child>) -> Self {
        // They are in order, so what the first and the last have in common all of them have.
        let alike = match &children[..] {
            [first, .., last] => {
                let pairs = first.first.bytes().zip(last.first.bytes());
                pairs.take_while(|(one, other)| one == other).count()
            }
            [_] | [] => 0,
        };
        let keys = children.iter().map(|child| key(&child.first, alike)).collect();
        Self { children, alike, keys }
    }
}

impl Deref for Branch {
    type Target = [Child];

    fn deref(&self) -> &Self::Target {
        &self.children
    }
}

/// The bytes of a name from a place on, as a number that sorts as they do. No name holds a zero, so
/// that one that ends sorts before all that go on.
fn key(name: &str, from: usize) -> u64 {
    let rest = name.as_bytes().get(from..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let number = rest.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            // None of its bytes are left out, since they are fewer than eight.
            number << (64 - 8 * rest.len() as u32).min(63)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::tree::{Link, Page, Sum};

    fn branch<'a>(names: impl Iterator<Item = &'a String>) -> Branch {
        let link = || Link::Fresh(std::sync::Arc::new(Page::Leaf(Vec::new().into())));
        let child = |name: &String| Child { first: name.into(), link: link(), sum: Sum::default() };
        names.map(child).collect::<Vec<_>>().into()
    }

    proptest! {
        #[test]
        fn the_holder_is_the_last_that_does_not_begin_behind_the_name(
            names in btree_set("(file-0000|é)?[a-c/]{0,12}", 0..20),
            looked_for in "(file-0000|file-|é)?[a-c/]{0,12}",
        ) {
            let branch = branch(names.iter());
            let before = names.iter().filter(|name| **name <= looked_for).count();
            prop_assert_eq!(branch.holder(&looked_for), before.saturating_sub(1));
            for (place, name) in names.iter().enumerate() {
                prop_assert_eq!(branch.holder(name), place);
            }
        }

        #[test]
        fn a_branch_that_was_changed_is_the_one_that_would_have_been_made(
            names in btree_set("(file-0000)?[a-c]{1,6}", 2..20),
            at in any::<prop::sample::Index>(),
        ) {
            let at = at.index(names.len());
            let mut changed = branch(names.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, name)| name));
            let new = branch(names.iter().skip(at).take(1));
            changed.insert(at, new.iter().cloned());
            let whole = branch(names.iter());
            prop_assert_eq!((changed.alike, &changed.keys), (whole.alike, &whole.keys));
            let right = changed.split_off(at);
            let (left, rest) = (branch(names.iter().take(at)), branch(names.iter().skip(at)));
            prop_assert_eq!((changed.alike, &changed.keys), (left.alike, &left.keys));
            prop_assert_eq!((right.alike, &right.keys), (rest.alike, &rest.keys));
        }
    }
}
