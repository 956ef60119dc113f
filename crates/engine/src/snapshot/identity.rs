//! Whether two things are known to be the same without reading them.
//!
//! A tree in memory is known by where it lies, which nothing else can take while somebody holds
//! the tree; a stored one by its ids.

use std::sync::Arc;

use storage::ObjectId;

use crate::tree::{Body, Extent, File, Link, Piece, Top};

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

/// What a part of a chunk is known by. Half an id tells chunks apart, and there are many of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PartKey {
    chunk: [u8; 16],
    start: u32,
    len: u32,
}

impl PartKey {
    /// None for a hole, and for what is longer than any chunk.
    pub(super) fn of(extent: &Extent) -> Option<Self> {
        let chunk = match Key::chunk(extent)? {
            Key::Fresh(place) => (place as u128).to_le_bytes(),
            Key::Stored(ObjectId(id)) => *id.first_chunk()?,
        };
        Some(Self { chunk, start: extent.start, len: extent.len.try_into().ok()? })
    }
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
                one.len() == other.len()
                    && one.iter().zip(&**other).all(|(one, other)| is_same_extent(one, other))
            }
            (Top::Many(one), Top::Many(other)) => one.is_same(other),
            (Top::Few(_), Top::Many(_)) | (Top::Many(_), Top::Few(_)) => false,
        },
        (File::Inline(_), File::Pieces { .. }) | (File::Pieces { .. }, File::Inline(_)) => false,
    }
}

fn is_same_extent(one: &Extent, other: &Extent) -> bool {
    // What was taken in from elsewhere lies in another place.
    let is_equal = || match (&one.piece, &other.piece) {
        (Piece::Fresh(piece), Piece::Fresh(other_piece)) => {
            one.start == other.start && piece == other_piece
        }
        (Piece::Fresh(_) | Piece::Stored(_) | Piece::Hole, _) => false,
    };
    one.len == other.len && (is_same_place(one, other) || is_equal())
}

/// Whether two extents begin at the same byte of the same chunk, or are both holes.
pub(super) fn is_same_place(one: &Extent, other: &Extent) -> bool {
    Key::chunk(one) == Key::chunk(other) && one.start == other.start
}
