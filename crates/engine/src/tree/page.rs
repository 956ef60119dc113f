//! The pages that a directory consists of.

use std::sync::Arc;

use storage::ObjectId;

use super::{Body, Branch, Leaf, Name, Sum};

/// A page in memory that no store has yet, or the id of one that a store has.
#[derive(Debug)]
pub(crate) enum Link<P> {
    Fresh(Arc<P>),
    Stored(ObjectId),
}

impl<P> Clone for Link<P> {
    fn clone(&self) -> Self {
        match self {
            Self::Fresh(page) => Self::Fresh(Arc::clone(page)),
            Self::Stored(id) => Self::Stored(*id),
        }
    }
}

impl<P> Link<P> {
    /// Whether both are known to be the same page. Two that are not may still be equal.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fresh(one), Self::Fresh(other)) => Arc::ptr_eq(one, other),
            (Self::Stored(one), Self::Stored(other)) => one == other,
            (Self::Fresh(_), Self::Stored(_)) | (Self::Stored(_), Self::Fresh(_)) => false,
        }
    }
}

/// A part of a directory: some names in order, or the pages that hold them.
#[derive(Debug)]
pub(crate) enum Page {
    Leaf(Leaf),
    Inner { level: u8, children: Branch },
}

/// A page beneath another: its first name, and what it adds up to.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) first: Name,
    pub(crate) link: Link<Page>,
    pub(crate) sum: Sum,
}

impl Child {
    /// The child that `page` is; none for an empty page.
    pub(crate) fn of(page: Arc<Page>) -> Option<Self> {
        let first = page.first()?.clone();
        Some(Self { first, sum: page.sum(), link: Link::Fresh(page) })
    }
}

impl Page {
    pub(crate) fn sum(&self) -> Sum {
        match self {
            Self::Leaf(items) => items.iter().map(|item| item.node.sum()).sum(),
            Self::Inner { children, .. } => children.iter().map(|child| child.sum).sum(),
        }
    }

    pub(crate) fn first(&self) -> Option<&Name> {
        match self {
            Self::Leaf(items) => items.first().map(|item| &item.name),
            Self::Inner { children, .. } => children.first().map(|child| &child.first),
        }
    }

    /// How many names or pages are right in it.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Leaf(items) => items.len(),
            Self::Inner { children, .. } => children.len(),
        }
    }

    /// Brings all items of the page near. They lie all over the memory; who waits for them one
    /// after the other waits longer.
    pub(crate) fn touch(&self) {
        if let Self::Leaf(items) = self {
            std::hint::black_box(items.iter().fold(0, |all, item| all ^ item.node.mode));
        }
    }

    /// How far above the names the page is.
    pub(crate) fn level(&self) -> u8 {
        match self {
            Self::Leaf(_) => 0,
            Self::Inner { level, .. } => *level,
        }
    }

    /// Moves the pages right beneath this one out of it, those that nobody else holds.
    fn take_apart(&mut self, pages: &mut Vec<Self>) {
        let mut take = |link| {
            if let Link::Fresh(page) = link {
                pages.extend(Arc::into_inner(page));
            }
        };
        match self {
            Self::Leaf(items) => {
                for item in items.drain().filter_map(Arc::into_inner) {
                    if let Body::Directory(dir) = item.node.body {
                        dir.top.into_iter().for_each(&mut take);
                    }
                }
            }
            Self::Inner { children, .. } => children.drain().for_each(|child| take(child.link)),
        }
    }
}

/// A tree may be deeper than the stack.
impl Drop for Page {
    fn drop(&mut self) {
        let mut pages = Vec::new();
        self.take_apart(&mut pages);
        while let Some(mut page) = pages.pop() {
            page.take_apart(&mut pages);
        }
    }
}
