//! The directories beneath a watched one, by name.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};

use super::places::DirPlace;

/// Names a directory for as long as it is known. No other one ever has the same.
pub(super) type NodeId = u64;

/// The directories that are known.
#[derive(Debug)]
pub(super) struct Nodes {
    all: HashMap<NodeId, Node>,
    top: NodeId,
    last: NodeId,
}

#[derive(Debug, Default)]
struct Node {
    /// Its parent and its name there; none for the watched directory.
    place: Option<(NodeId, OsString)>,
    children: HashMap<OsString, NodeId>,
    watched: Option<Watched>,
}

/// A directory that the kernel watches.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) watch: host::Watch,
    pub(super) identity: Identity,
    /// Given back with it.
    pub(super) _place: DirPlace,
}

/// Device and number, which tell a directory from all others.
pub(super) type Identity = ((u32, u32), u64);

impl Nodes {
    /// The watched directory alone, with an id that comes after another one.
    pub(super) fn behind(last: NodeId) -> Self {
        let top = last + 1;
        Self { all: HashMap::from([(top, Node::default())]), top, last: top }
    }

    /// The watched directory.
    pub(super) fn top(&self) -> NodeId {
        self.top
    }

    /// The last id that was given.
    pub(super) fn last(&self) -> NodeId {
        self.last
    }

    pub(super) fn holds(&self, id: NodeId) -> bool {
        self.all.contains_key(&id)
    }

    pub(super) fn child(&self, dir: NodeId, name: &OsStr) -> Option<NodeId> {
        self.all.get(&dir)?.children.get(name).copied()
    }

    /// A new directory; none if the one that it is in is not known.
    pub(super) fn add(&mut self, dir: NodeId, name: &OsStr) -> Option<NodeId> {
        let id = self.last + 1;
        self.all.get_mut(&dir)?.children.insert(name.to_owned(), id);
        self.last = id;
        let place = Some((dir, name.to_owned()));
        self.all.insert(id, Node { place, ..Node::default() });
        Some(id)
    }

    pub(super) fn watch(&self, id: NodeId) -> Option<host::Watch> {
        self.all.get(&id)?.watched.as_ref().map(|watched| watched.watch)
    }

    /// Which directory it is that is watched.
    pub(super) fn identity(&self, id: NodeId) -> Option<Identity> {
        self.all.get(&id)?.watched.as_ref().map(|watched| watched.identity)
    }

    pub(super) fn set_watch(&mut self, id: NodeId, watched: Option<Watched>) {
        if let Some(node) = self.all.get_mut(&id) {
            node.watched = watched;
        }
    }

    /// Forgets a directory and all beneath it; gives their watches.
    pub(super) fn remove(&mut self, id: NodeId) -> Vec<host::Watch> {
        self.detach(id);
        let (mut watches, mut todo) = (Vec::new(), vec![id]);
        while let Some(node) = todo.pop().and_then(|id| self.all.remove(&id)) {
            watches.extend(node.watched.map(|watched| watched.watch));
            todo.extend(node.children.into_values());
        }
        watches
    }

    fn detach(&mut self, id: NodeId) {
        let place = self.all.get_mut(&id).and_then(|node| node.place.take());
        if let Some((dir, name)) = place
            && let Some(parent) = self.all.get_mut(&dir)
            && parent.children.get(&name) == Some(&id)
        {
            parent.children.remove(&name);
        }
    }

    /// The directory itself, the one that it is in, and so on up to the watched one.
    fn way(&self, id: NodeId) -> Vec<NodeId> {
        let mut way = vec![id];
        let mut here = id;
        while let Some((dir, _)) = self.all.get(&here).and_then(|node| node.place.as_ref()) {
            way.push(*dir);
            here = *dir;
        }
        way
    }

    /// The names that lead from the watched directory to one that is known, with slashes between.
    pub(super) fn path(&self, id: NodeId) -> OsString {
        let way = self.way(id);
        let names = way.iter().rev().filter_map(|id| self.all.get(id)?.place.as_ref());
        let mut path = OsString::new();
        for (_, name) in names {
            if !path.is_empty() {
                path.push("/");
            }
            path.push(name);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beneath_a_directory_goes_with_it() {
        let mut nodes = Nodes::behind(0);
        let a = nodes.add(nodes.top(), OsStr::new("a")).unwrap();
        let b = nodes.add(a, OsStr::new("b")).unwrap();
        assert_eq!(nodes.path(b), "a/b");
        nodes.remove(a);
        assert!(!nodes.holds(b));
        assert_eq!(nodes.child(nodes.top(), OsStr::new("a")), None);
    }

    #[test]
    fn no_id_is_given_twice() {
        let mut nodes = Nodes::behind(0);
        let a = nodes.add(nodes.top(), OsStr::new("a")).unwrap();
        nodes.remove(a);
        assert_ne!(nodes.add(nodes.top(), OsStr::new("a")), Some(a));
        assert!(Nodes::behind(nodes.last()).top() > nodes.last());
    }
}
