//! A tree that is being changed.

use std::sync::Arc;

use super::resolve::{End, Way, resolve_within};
use super::source::{Need, Source, Stop};
use super::{Body, Directory, Heights, Item, Node, Stamp, Sum};
use crate::{Error, ErrorKind, Links, Result, SandboxPath, UnixTime};

/// How many names may lie below each other: as many as the longest path has. Whatever walks a tree
/// may rely on it.
pub(crate) const DEEPEST: u64 = 2048;
/// How many bytes and how many nodes a tree may have whatever its limits: copies double a tree at
/// no cost, and its sums must stay exact.
pub(crate) const MOST: u64 = 1 << 62;

const NEW_DIRECTORY: u16 = 0o755;

/// A tree, and what it takes to change it. A draft that fails halfway is dropped; whoever has the
/// tree it came from never sees it.
#[derive(Clone)]
pub(crate) struct Draft<'a> {
    /// The root directory.
    pub(crate) root: Node,
    pub(crate) heights: Heights,
    pub(crate) source: &'a dyn Source,
    /// What new things are stamped with.
    pub(crate) now: UnixTime,
    pub(crate) stamp: Stamp,
    /// What the change that is being made is confined to.
    pub(crate) floor: SandboxPath,
}

/// Whether a change of a directory's entries shows in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// A name came or went.
    Names,
    /// Only what a name stands for changed.
    Nothing,
}

impl<'a> Draft<'a> {
    /// What the tree adds up to, its root not counted.
    pub(crate) fn sum(&self) -> Sum {
        self.root.directory().map(|dir| dir.sum).unwrap_or_default()
    }

    pub(crate) fn resolve(&self, path: &SandboxPath, links: Links) -> Result<Way, Stop> {
        resolve_within(&self.root, &self.floor, path, links, self.source)
    }

    /// Whether a way ends at what the change is confined to, which stays what it is.
    pub(crate) fn is_floor(&self, way: &Way) -> bool {
        match way.end {
            End::Root => true,
            End::Item(_) => way.dirs.len() < self.floor.depth(),
            End::Missing(_) => false,
        }
    }

    /// A node that is made now.
    pub(crate) fn new_node(&self, mode: u16, body: Body) -> Node {
        Node { mode, created: self.now, modified: self.now, stamp: self.stamp, body }
    }

    /// A directory that is made now.
    pub(crate) fn new_directory(&self, dir: Directory) -> Node {
        self.new_node(NEW_DIRECTORY, Body::Directory(Box::new(dir)))
    }

    /// Puts a node at the end of a way, whatever is there; missing directories are made.
    pub(crate) fn put(&mut self, way: &Way, node: Node, touch: Touch) -> Result<(), Stop> {
        match &way.end {
            End::Root => self.root = node,
            End::Item(item) => {
                let name = item.name.clone();
                self.put_into(&way.dirs, Arc::new(Item { name, node }), touch)?;
            }
            End::Missing(names) => {
                let mut node = node;
                for pair in names.windows(2).rev() {
                    let [_, name] = pair else { continue };
                    let item = Arc::new(Item { name: name.clone(), node });
                    let dir = Directory::default().with(item, &self.heights, self.source)?;
                    node = self.new_directory(dir);
                }
                if let Some(name) = names.first() {
                    let name = name.clone();
                    self.put_into(&way.dirs, Arc::new(Item { name, node }), Touch::Names)?;
                }
            }
        }
        Ok(check_possible(&self.sum())?)
    }

    /// Takes away what is at the end of a way.
    pub(crate) fn remove(&mut self, dirs: &[Arc<Item>], name: &str) -> Result<(), Need> {
        let (parent, above) = match dirs.split_last() {
            Some((parent, above)) => (&parent.node, Some((parent, above))),
            None => (&self.root, None),
        };
        let dir = parent.directory().cloned().unwrap_or_default();
        let dir = dir.without(name, &self.heights, self.source)?;
        let node = self.changed(parent, dir, Touch::Names);
        match above {
            None => self.root = node,
            Some((parent, above)) => {
                let name = parent.name.clone();
                self.put_into(above, Arc::new(Item { name, node }), Touch::Nothing)?;
            }
        }
        Ok(())
    }

    /// Puts an item into the last of these directories, and each of them into the one before.
    fn put_into(
        &mut self,
        dirs: &[Arc<Item>],
        mut item: Arc<Item>,
        mut touch: Touch,
    ) -> Result<(), Need> {
        for dir in dirs.iter().rev() {
            let held = dir.node.directory().cloned().unwrap_or_default();
            let held = held.with(item, &self.heights, self.source)?;
            let node = self.changed(&dir.node, held, touch);
            item = Arc::new(Item { name: dir.name.clone(), node });
            touch = Touch::Nothing;
        }
        let held = self.root.directory().cloned().unwrap_or_default();
        let held = held.with(item, &self.heights, self.source)?;
        self.root = self.changed(&self.root, held, touch);
        Ok(())
    }

    fn changed(&self, node: &Node, dir: Directory, touch: Touch) -> Node {
        let body = Body::Directory(Box::new(dir));
        let Node { mode, created, .. } = *node;
        match touch {
            Touch::Names => Node { mode, created, modified: self.now, stamp: self.stamp, body },
            Touch::Nothing => {
                Node { mode, created, modified: node.modified, stamp: node.stamp, body }
            }
        }
    }
}

/// Refuses a tree that nobody could walk or count.
pub(crate) fn check_possible(sum: &Sum) -> Result<()> {
    if sum.depth > DEEPEST {
        let message = format!("the tree would be deeper than {DEEPEST} levels");
        return Err(Error::new(ErrorKind::InvalidPath, message));
    }
    if sum.bytes > MOST {
        let message = format!("the tree would hold more than {MOST} bytes");
        return Err(Error::new(ErrorKind::StorageFull, message));
    }
    if sum.nodes() >= MOST {
        let message = format!("the tree would hold more than {MOST} nodes");
        return Err(Error::new(ErrorKind::TooManyNodes, message));
    }
    Ok(())
}
