//! What a name stands for.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{Directory, File, Sum};
use crate::UnixTime;

/// A name in a directory. Most are short and lie where they are named, so that nobody who compares
/// them has to look elsewhere.
pub(crate) type Name = SmolStr;

/// A name and what it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) name: Name,
    pub(crate) node: Node,
}

/// A file, a directory or a link, without its name: it can be moved and copied as it is.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Permission bits, at most 0777.
    pub(crate) mode: u16,
    pub(crate) created: UnixTime,
    pub(crate) modified: UnixTime,
    pub(crate) stamp: Stamp,
    pub(crate) body: Body,
}

/// When and by which commit a node last changed. No two states of a file have the same one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    /// Nanoseconds since 1970, greater with every commit to a sandbox.
    pub(crate) time: u64,
    /// Random, one for each open sandbox: two forks may commit in the same nanosecond.
    pub(crate) salt: u32,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    File(File),
    Directory(Box<Directory>),
    Symlink(Arc<str>),
}

impl Node {
    /// What the node adds to the directory that names it.
    pub(crate) fn sum(&self) -> Sum {
        let one = Sum { names: 1, depth: 1, ..Sum::default() };
        match &self.body {
            Body::File(file) => Sum { files: 1, bytes: file.len(), largest: file.len(), ..one },
            Body::Symlink(_) => Sum { links: 1, ..one },
            Body::Directory(dir) => Sum {
                names: 1,
                directories: dir.sum.directories.saturating_add(1),
                depth: dir.sum.depth.saturating_add(1),
                ..dir.sum
            },
        }
    }

    /// The directory that the node is, if it is one.
    pub(crate) fn directory(&self) -> Option<&Directory> {
        match &self.body {
            Body::Directory(dir) => Some(dir),
            Body::File(_) | Body::Symlink(_) => None,
        }
    }

    /// Whether the node is a link.
    pub(crate) fn is_link(&self) -> bool {
        matches!(self.body, Body::Symlink(_))
    }

    /// The file that the node is, if it is one.
    pub(crate) fn file(&self) -> Option<&File> {
        match &self.body {
            Body::File(file) => Some(file),
            Body::Directory(_) | Body::Symlink(_) => None,
        }
    }
}
