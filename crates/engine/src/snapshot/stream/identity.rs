//! Whether two things are known to be the same without reading them.
//!
//! A tree in memory is known by where it lies, which nothing else can take while somebody holds
//! the tree; a stored one by its ids.

use std::sync::Arc;

use storage::ObjectId;

use super::record::About;
use crate::tree::{Body, Extent, File, Link, Node, Piece, Top};

/// What a page or a chunk is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Fresh(usize),
    Stored(ObjectId),
}

impl Key {
    /// The key of a page, of a directory or of a file.
    pub(super) fn page<P>(link: &Link<P>) -> Self {
        match link {
            Link::Fresh(page) => Self::Fresh(Arc::as_ptr(page).addr()),
            Link::Stored(id) => Self::Stored(*id),
        }
    }

    /// The key of the chunk that an extent is part of; none for a hole.
    pub(super) fn chunk(extent: &Extent) -> Option<Self> {
        match &extent.piece {
            Piece::Fresh(bytes) => Some(Self::Fresh(bytes.as_ptr().addr())),
            Piece::Stored(id) => Some(Self::Stored(*id)),
            Piece::Hole => None,
        }
    }
}

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PartKey {
    chunk: Key,
    start: u32,
    len: u64,
}

impl PartKey {
    pub(super) fn of(extent: &Extent) -> Option<Self> {
        Some(Self { chunk: Key::chunk(extent)?, start: extent.start, len: extent.len })
    }
}

/// Whether two nodes show the same to everybody, but for their versions.
pub(super) fn is_same_node(one: &Node, other: &Node) -> bool {
    About::of(one) == About::of(other) && is_same_body(&one.body, &other.body)
}

/// Whether two nodes are known to hold the same.
pub(super) fn is_same_body(one: &Body, other: &Body) -> bool {
    match (one, other) {
        (Body::File(one), Body::File(other)) => is_same_file(one, other),
        (Body::Symlink(one), Body::Symlink(other)) => one == other,
        (Body::Directory(one), Body::Directory(other)) => match (&one.top, &other.top) {
            (Some(one), Some(other)) => one.is_same(other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        },
        (Body::File(_) | Body::Symlink(_) | Body::Directory(_), _) => false,
    }
}

fn is_same_file(one: &File, other: &File) -> bool {
    match (one, other) {
        (File::Inline(one), File::Inline(other)) => one == other,
        (File::Pieces { top: one, .. }, File::Pieces { top: other, .. }) => match (one, other) {
            (Top::Few(one), Top::Few(other)) => {
                let same = |(one, other): (&Extent, &Extent)| {
                    one.len == other.len && is_same_place(one, other)
                };
                Arc::ptr_eq(one, other)
                    || one.len() == other.len() && one.iter().zip(&**other).all(same)
            }
            (Top::Many(one), Top::Many(other)) => one.is_same(other),
            (Top::Few(_), Top::Many(_)) | (Top::Many(_), Top::Few(_)) => false,
        },
        (File::Inline(_), File::Pieces { .. }) | (File::Pieces { .. }, File::Inline(_)) => false,
    }
}

/// Whether two extents begin at the same byte of the same chunk, or are both holes.
pub(super) fn is_same_place(one: &Extent, other: &Extent) -> bool {
    Key::chunk(one) == Key::chunk(other) && one.start == other.start
}
