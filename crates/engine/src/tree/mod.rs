//! Trees of files as immutable pages. Pure: no clock, no store, nothing to wait for.
//!
//! A change makes new pages along one path and shares all others, so a copy, a move, a removal or
//! a snapshot of anything costs the same. Pages that a store keeps are named by a hash of their
//! content; work that meets one that is not at hand stops with a [`Need`] and starts over.

mod ahead;
mod branch;
mod codec;
mod cursor;
mod directory;
mod draft;
mod extents;
mod file;
mod flush;
mod glance;
mod in_order;
mod in_place;
mod input;
mod leaf;
mod node;
mod page;
mod pairs;
mod resolve;
mod source;
mod sum;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use ahead::Ahead;
pub(crate) use branch::Branch;
pub(crate) use codec::{
    Damaged, decode_extents, decode_node, decode_page, encode_node, is_target, put_check,
    put_number, put_text, put_time,
};
#[cfg(fuzzing)]
pub(crate) use codec::{encode_extents, encode_page};
pub(crate) use cursor::Cursor;
pub(crate) use directory::{Directory, Heights};
pub(crate) use draft::{DEEPEST, Draft, MOST, Touch, check_possible};
pub(crate) use extents::ExtentPage;
pub(crate) use file::{Extent, FEW, File, INLINE, LARGEST_FILE, Piece, Top};
pub(crate) use flush::{IdKey, ObjectKind, Objects, flush, stored_file};
pub(crate) use glance::glance;
pub(crate) use in_order::{NamesInOrder, Pages, PiecesInOrder};
pub(crate) use in_place::Placing;
pub(crate) use input::Input;
pub(crate) use leaf::Leaf;
pub(crate) use node::{Body, Item, Name, Node, Stamp};
pub(crate) use page::{Child, Link, Page};
pub(crate) use pairs::{Pair, Pairs};
pub(crate) use resolve::{End, Way, outside, resolve, resolve_within};
pub(crate) use source::{InMemory, Need, Source, Stop};
pub(crate) use sum::Sum;
