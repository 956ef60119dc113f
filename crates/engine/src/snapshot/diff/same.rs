//! When two nodes are the same, and when they are known to be.
//!
//! Stamps are not compared: they tell how a node came about. So is when it was made.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;

use crate::tree::{Body, Directory, Extent, File, Link, Node, Piece, Top};

/// Whether both are known to be the same: mode, time, and all that is in them and beneath them.
pub(super) fn are_same(one: &Node, other: &Node) -> bool {
    one.mode == other.mode
        && one.modified == other.modified
        && match (&one.body, &other.body) {
            (Body::File(one), Body::File(other)) => are_same_content(one, other),
            (Body::Directory(one), Body::Directory(other)) => are_same_names(one, other),
            (Body::Symlink(one), Body::Symlink(other)) => one == other,
            (Body::File(_) | Body::Directory(_) | Body::Symlink(_), _) => false,
        }
}

pub(super) fn are_of_one_kind(one: &Node, other: &Node) -> bool {
    std::mem::discriminant(&one.body) == std::mem::discriminant(&other.body)
}

/// Whether two directories are known to hold the same.
pub(super) fn are_same_names(one: &Directory, other: &Directory) -> bool {
    match (&one.top, &other.top) {
        (None, None) => true,
        (Some(one), Some(other)) => one.is_same(other),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn are_same_content(one: &File, other: &File) -> bool {
    match (one, other) {
        (File::Inline(one), File::Inline(other)) => one == other,
        (File::Pieces { len, top }, File::Pieces { len: other_len, top: other }) => {
            len == other_len
                && match (top, other) {
                    (Top::Few(one), Top::Few(other)) => {
                        one.len() == other.len()
                            && one.iter().zip(other.iter()).all(|(one, other)| is_same(one, other))
                    }
                    (Top::Many(one), Top::Many(other)) => one.is_same(other),
                    (Top::Few(_), Top::Many(_)) | (Top::Many(_), Top::Few(_)) => false,
                }
        }
        (File::Inline(_), File::Pieces { .. }) | (File::Pieces { .. }, File::Inline(_)) => false,
    }
}

fn is_same(one: &Extent, other: &Extent) -> bool {
    let is_same_piece = match (&one.piece, &other.piece) {
        (Piece::Fresh(one), Piece::Fresh(other)) => place(one) == place(other) || one == other,
        (Piece::Stored(one), Piece::Stored(other)) => one == other,
        (Piece::Hole, Piece::Hole) => true,
        (Piece::Fresh(_) | Piece::Stored(_) | Piece::Hole, _) => false,
    };
    is_same_piece && one.start == other.start && one.len == other.len
}

/// A number that nodes which are known to be the same share, and hardly any others. Bytes that no
/// store has count as the same when they lie in the same place, which those of a node that moved
/// do: hashing them would cost more than a rename is worth.
pub(super) fn mark(node: &Node) -> u64 {
    let mut hash = DefaultHasher::new();
    (node.mode, node.modified).hash(&mut hash);
    std::mem::discriminant(&node.body).hash(&mut hash);
    match &node.body {
        Body::File(File::Inline(bytes)) => bytes.hash(&mut hash),
        Body::File(File::Pieces { len, top }) => {
            len.hash(&mut hash);
            match top {
                Top::Few(extents) => extents.iter().for_each(|extent| add(extent, &mut hash)),
                Top::Many(link) => add_link(link, &mut hash),
            }
        }
        Body::Directory(dir) => {
            if let Some(top) = &dir.top {
                add_link(top, &mut hash);
            }
        }
        Body::Symlink(target) => target.hash(&mut hash),
    }
    hash.finish()
}

fn add(extent: &Extent, hash: &mut DefaultHasher) {
    match &extent.piece {
        Piece::Fresh(bytes) => place(bytes).hash(hash),
        Piece::Stored(id) => id.hash(hash),
        Piece::Hole => {}
    }
    (extent.start, extent.len).hash(hash);
}

fn add_link<P>(link: &Link<P>, hash: &mut DefaultHasher) {
    match link {
        Link::Fresh(page) => std::sync::Arc::as_ptr(page).hash(hash),
        Link::Stored(id) => id.hash(hash),
    }
}

fn place(bytes: &Bytes) -> (*const u8, usize) {
    (bytes.as_ptr(), bytes.len())
}
