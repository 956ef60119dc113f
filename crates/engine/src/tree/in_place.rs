//! New names in a tree that nobody else holds: its pages are changed instead of copied.

use std::sync::Arc;

use super::directory::grown;
use super::page::{Child, Link, Page};
use super::{Body, Branch, Directory, Heights, Item, Leaf, Node, Stamp, Sum};
use crate::{SandboxPath, UnixTime};

/// Names that lie deeper are left to those who copy: the way down takes up stack.
const MOST_DIRECTORIES: usize = 64;

/// How a node gets a name of its own.
pub(crate) struct Placing<'a> {
    /// What the node adds up to.
    pub(crate) sum: Sum,
    pub(crate) heights: &'a Heights,
    /// What the directory that gets the name is stamped with.
    pub(crate) now: UnixTime,
    pub(crate) stamp: Stamp,
}

impl Placing<'_> {
    /// Puts a node at a path. Changes nothing, and gives none, unless everything on the way is a
    /// directory in memory that nobody else holds, and the last name is free and does not become
    /// the first of a directory that has others. The node is made when nothing else can stand in
    /// its way any more.
    pub(crate) fn put(
        self,
        root: &mut Node,
        path: &SandboxPath,
        make: impl FnOnce() -> Option<Node>,
    ) -> Option<()> {
        let rest = path.as_str().strip_prefix('/').filter(|rest| !rest.is_empty())?;
        let directories = rest.bytes().filter(|byte| *byte == b'/').count();
        let mut work = Work { placing: self, make: Some(make) };
        (directories < MOST_DIRECTORIES).then(|| work.put_in(root, rest))?.map(drop)
    }
}

struct Work<'a, M> {
    placing: Placing<'a>,
    make: Option<M>,
}

/// What a page got, and what was cut off behind it.
type Outcome = (Sum, Option<Arc<Page>>);

impl<M: FnOnce() -> Option<Node>> Work<'_, M> {
    /// Puts the node beneath a directory. What it adds to the one above is returned.
    fn put_in(&mut self, parent: &mut Node, path: &str) -> Option<Sum> {
        let (name, rest) = match path.split_once('/') {
            Some((name, rest)) => (name, Some(rest)),
            None => (path, None),
        };
        let Body::Directory(dir) = &mut parent.body else { return None };
        let added = match (&mut dir.top, rest) {
            (None, None) => {
                let only = Page::Leaf(vec![self.item(name)?].into());
                dir.top = Some(Link::Fresh(Arc::new(only)));
                self.placing.sum
            }
            (Some(Link::Fresh(top)), _) => {
                let (added, cut_off) = self.put_page(Arc::get_mut(top)?, name, rest)?;
                if let Some(right) = cut_off {
                    dir.widen(right, self.placing.heights);
                }
                added
            }
            (None | Some(Link::Stored(_)), _) => return None,
        };
        dir.sum += added;
        if rest.is_none() {
            (parent.modified, parent.stamp) = (self.placing.now, self.placing.stamp);
        }
        Some(Sum { names: 0, depth: added.depth.saturating_add(1), ..added })
    }

    fn put_page(&mut self, page: &mut Page, name: &str, rest: Option<&str>) -> Option<Outcome> {
        match (page, rest) {
            (Page::Inner { level, children }, _) => self.put_inner(*level, children, name, rest),
            (Page::Leaf(leaf), None) => {
                self.put_leaf(leaf, name).map(|right| (self.placing.sum, right))
            }
            (Page::Leaf(leaf), Some(rest)) => {
                let item = Arc::get_mut(leaf.find_mut(name)?)?;
                Some((self.put_in(&mut item.node, rest)?, None))
            }
        }
    }

    fn put_inner(
        &mut self,
        level: u8,
        children: &mut Branch,
        name: &str,
        rest: Option<&str>,
    ) -> Option<Outcome> {
        let at = children.holder(name);
        let child = children.get_mut(at)?;
        let Link::Fresh(page) = &mut child.link else { return None };
        let (added, cut_off) = self.put_page(Arc::get_mut(page)?, name, rest)?;
        let Some(right) = cut_off else {
            child.sum += added;
            return Some((added, None));
        };
        child.sum = page.sum();
        let behind = at + 1;
        children.insert(behind, Child::of(right));
        let cut_off = (self.placing.heights.height(name) > level)
            .then(|| Arc::new(Page::Inner { level, children: children.split_off(behind) }));
        Some((added, cut_off))
    }

    /// Puts the item between others. A name with a height begins a page, which is returned.
    fn put_leaf(&mut self, leaf: &mut Leaf, name: &str) -> Option<Option<Arc<Page>>> {
        let at = leaf.place(name).err().filter(|at| *at > 0)?;
        let begins = self.placing.heights.height(name) > 0;
        let item = self.item(name)?;
        if !begins {
            leaf.insert(at, item);
            return Some(None);
        }
        let mut right = leaf.split_off(at);
        right.insert(0, item);
        Some(Some(Arc::new(Page::Leaf(right))))
    }

    fn item(&mut self, name: &str) -> Option<Arc<Item>> {
        let node = self.make.take()?()?;
        Some(Arc::new(Item { name: name.into(), node }))
    }
}

impl Directory {
    /// Adds a page that was cut off behind the topmost one.
    fn widen(&mut self, right: Arc<Page>, heights: &Heights) {
        let Some(Link::Fresh(left)) = self.top.take() else { return };
        let mut pages = vec![left, right];
        while pages.len() > 1 {
            pages = grown(pages, heights);
        }
        self.top = pages.pop().map(Link::Fresh);
    }
}
