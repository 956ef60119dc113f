//! A look at what is at a path, without holding anything on the way.

use super::page::{Link, Page};
use super::{Directory, Item, Node};
use crate::SandboxPath;

/// What is at a path, if that takes no more than a look: every page on the way is in memory, and
/// no name on it is missing or a link. Otherwise none, and [`resolve`](super::resolve) tells more.
pub(crate) fn glance<'a>(root: &'a Node, path: &SandboxPath) -> Option<&'a Node> {
    let mut names = path.segments();
    names.try_fold(root, |node, name| Some(&node.directory()?.glance(name)?.node))
}

impl Directory {
    /// The item of that name, if it is there and in memory.
    fn glance(&self, name: &str) -> Option<&Item> {
        let mut link = self.top.as_ref()?;
        loop {
            let Link::Fresh(page) = link else { return None };
            match &**page {
                Page::Leaf(items) => return items.find(name).map(|item| &**item),
                Page::Inner { children, .. } => {
                    link = &children.get(children.holder(name))?.link;
                }
            }
        }
    }
}
