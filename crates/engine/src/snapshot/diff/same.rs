//! When two nodes are the same, as far as a difference tells.
//!
//! Stamps are not compared: they tell how a node came about. So is when it was made.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::snapshot::identity::{Key, PartKey, is_same_body};
use crate::tree::{Body, File, Node, Top};

/// Whether both are known to be the same: mode, time, and all that is in them and beneath them.
pub(super) fn are_same(one: &Node, other: &Node) -> bool {
    one.mode == other.mode && one.modified == other.modified && is_same_body(&one.body, &other.body)
}

pub(super) fn are_of_one_kind(one: &Node, other: &Node) -> bool {
    std::mem::discriminant(&one.body) == std::mem::discriminant(&other.body)
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
                Top::Few(extents) => {
                    extents.iter().for_each(|extent| PartKey::of(extent).hash(&mut hash));
                }
                Top::Many(link) => Key::page(link).hash(&mut hash),
            }
        }
        Body::Directory(dir) => dir.top.as_ref().map(Key::page).hash(&mut hash),
        Body::Symlink(target) => target.hash(&mut hash),
    }
    hash.finish()
}
