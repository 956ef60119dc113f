//! Following a path down a tree, through the links on it.

use std::borrow::Cow;
use std::sync::Arc;

use super::source::{Source, Stop};
use super::{Body, Directory, Item, Name, Node};
use crate::{Error, ErrorKind, Links, SandboxPath, name, path};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct Way {
    /// The directories beneath the root that it leads through, outermost first.
    pub(crate) dirs: Vec<Arc<Item>>,
    pub(crate) end: End,
}

/// What is at the end of a way.
#[derive(Debug)]
pub(crate) enum End {
    Root,
    Item(Arc<Item>),
    /// Nothing: these names are missing, outermost first. There is at least one.
    Missing(Vec<Name>),
}

impl Way {
    /// The item at the end, if there is one.
    pub(crate) fn item(&self) -> Option<&Arc<Item>> {
        match &self.end {
            End::Item(item) => Some(item),
            End::Root | End::Missing(_) => None,
        }
    }

    /// The path without the links on it.
    pub(crate) fn path(&self) -> SandboxPath {
        let mut path = SandboxPath::root();
        for dir in &self.dirs {
            path = path.child(&dir.name);
        }
        match &self.end {
            End::Root => path,
            End::Item(item) => path.child(&item.name),
            End::Missing(names) => names.iter().fold(path, |path, name| path.child(name)),
        }
    }

    /// Whether anything on the way, or its end, is the directory that `dirs` leads to.
    pub(crate) fn is_within(&self, dirs: &[Arc<Item>], name: &str) -> bool {
        let prefix = dirs.iter().map(|dir| &*dir.name).chain([name]);
        let end = self.item().map(|item| &*item.name);
        let mut own = self.dirs.iter().map(|dir| &*dir.name).chain(end);
        prefix.into_iter().all(|name| own.next() == Some(name))
    }
}

/// Follows `path` from `root`.
pub(crate) fn resolve(
    root: &Node,
    path: &SandboxPath,
    links: Links,
    source: &dyn Source,
) -> Result<Way, Stop> {
    resolve_within(root, &SandboxPath::root(), path, links, source)
}

/// Follows `path` from `root`, beneath a floor: no link on the way to that is followed, and none
/// that leads out of it.
pub(crate) fn resolve_within(
    root: &Node,
    floor: &SandboxPath,
    path: &SandboxPath,
    links: Links,
    source: &dyn Source,
) -> Result<Way, Stop> {
    if !path.starts_with(floor) {
        return Err(outside().into());
    }
    // As long as fewer directories were gone through, names are those of the floor: nothing leads
    // up from it again.
    let floor = floor.depth();
    let mut todo: Vec<Cow<'_, str>> = path.segments().map(Cow::Borrowed).collect();
    todo.reverse();
    let (mut dirs, mut followed): (Vec<Arc<Item>>, usize) = (Vec::with_capacity(todo.len()), 0);
    let empty = Directory::default();
    while let Some(name) = todo.pop() {
        if name == "." {
            continue;
        }
        if name == ".." {
            if dirs.len() <= floor {
                return Err(outside().into());
            }
            dirs.pop();
            continue;
        }
        let dir = dirs.last().map_or(root, |item| &item.node).directory().unwrap_or(&empty);
        let Some(item) = dir.find(&name, source)? else {
            return Ok(Way { dirs, end: missing(name, todo)? });
        };
        match &item.node.body {
            Body::Directory(_) => dirs.push(item),
            Body::Symlink(_) if dirs.len() < floor => return Err(outside().into()),
            Body::Symlink(target) if links == Links::Follow || !todo.is_empty() => {
                followed += 1;
                follow(target, followed, &mut todo)?;
            }
            Body::File(_) | Body::Symlink(_) if todo.is_empty() => {
                return Ok(Way { dirs, end: End::Item(item) });
            }
            Body::File(_) | Body::Symlink(_) => {
                return Err(Error::new(ErrorKind::NotADirectory, "path is not a directory").into());
            }
        }
    }
    let end = dirs.pop().map_or(End::Root, End::Item);
    Ok(Way { dirs, end })
}

/// Puts the names of a link's target before those that are still to come.
fn follow(target: &str, followed: usize, todo: &mut Vec<Cow<'_, str>>) -> Result<(), Error> {
    if followed > MOST_LINKS {
        return Err(Error::new(ErrorKind::TooManyLinks, "too many symbolic links"));
    }
    if target.starts_with('/') {
        return Err(outside());
    }
    // A target that ends with a slash must be a directory.
    if target.ends_with('/') {
        todo.push(Cow::Borrowed("."));
    }
    let names = target.split('/').filter(|name| !name.is_empty());
    todo.extend(names.rev().map(|name| Cow::Owned(name::canonical(name).into_owned())));
    Ok(())
}

/// The end of a way on which `name` is the first that is missing.
fn missing(name: Cow<'_, str>, todo: Vec<Cow<'_, str>>) -> Result<End, Error> {
    let names = [name].into_iter().chain(todo.into_iter().rev()).filter(|name| name != ".");
    let names: Vec<Cow<'_, str>> = names.collect();
    if names.iter().any(|name| name == "..") {
        return Err(Error::new(ErrorKind::NotFound, "path not found"));
    }
    // A link may hold a name that no directory can.
    let names = names.iter().map(|name| Ok(Name::from(&*path::checked(name)?)));
    Ok(End::Missing(names.collect::<Result<_, Error>>()?))
}

/// What a path is that leads out of the tree, or of the part that one is confined to.
pub(crate) fn outside() -> Error {
    Error::new(ErrorKind::OutsideSandbox, "path leads out of the sandbox")
}
