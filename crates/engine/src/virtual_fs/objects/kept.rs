//! Objects as the tree wants them, and how much room they take.

use std::sync::Arc;

use bytes::Bytes;
use quick_cache::Weighter;
use storage::ObjectId;

use crate::Result;
use crate::tree::{
    Body, Child, Directory, Extent, ExtentPage, File, Item, Need, Node, ObjectKind, Page, Piece,
    Top, decode_extents, decode_page,
};

use super::{Family, damaged};

/// An object as the tree wants it.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    Page(Arc<Page>),
    Extents(Arc<ExtentPage>),
    Chunk(Bytes),
}

impl Kept {
    /// What a store gave, if it is what is needed.
    pub(super) fn open(family: &Family, need: Need, stored: Option<Bytes>) -> Result<Self> {
        Ok(match need {
            Need::Page(id) => {
                let page = decode_page(&family.open(id, ObjectKind::Page, stored)?);
                Self::Page(Arc::new(page.map_err(|err| damaged(err.0))?))
            }
            Need::Extents(id) => {
                let page = decode_extents(&family.open(id, ObjectKind::Extents, stored)?);
                Self::Extents(Arc::new(page.map_err(|err| damaged(err.0))?))
            }
            Need::Chunk(id) => Self::Chunk(family.open(id, ObjectKind::Chunk, stored)?),
        })
    }

    /// Whether it is of the kind that is needed.
    pub(super) fn is_for(&self, need: Need) -> bool {
        match (self, need) {
            (Self::Page(_), Need::Page(_))
            | (Self::Extents(_), Need::Extents(_))
            | (Self::Chunk(_), Need::Chunk(_)) => true,
            (Self::Page(_) | Self::Extents(_) | Self::Chunk(_), _) => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Weight;

impl Weighter<ObjectId, Kept> for Weight {
    fn weight(&self, _: &ObjectId, kept: &Kept) -> u64 {
        let held = match kept {
            Kept::Page(page) => match &**page {
                Page::Leaf(items) => items.iter().map(|item| item_weight(item)).sum(),
                Page::Inner { children, .. } => {
                    children.iter().map(|child| size_of::<Child>() + 32 + child.first.len()).sum()
                }
            },
            Kept::Extents(page) => match &**page {
                ExtentPage::Leaf(extents) => extents.len() * size_of::<Extent>(),
                ExtentPage::Inner { children, .. } => children.len() * 48,
            },
            Kept::Chunk(bytes) => bytes.len(),
        };
        held as u64 + 128
    }
}

fn item_weight(item: &Item) -> usize {
    size_of::<Item>() + 64 + item.name.len() + node_weight(&item.node)
}

/// How many bytes a node takes besides itself, without what is beneath it.
pub(in crate::virtual_fs) fn node_weight(node: &Node) -> usize {
    match &node.body {
        Body::File(File::Inline(bytes)) => bytes.len(),
        Body::File(File::Pieces { top: Top::Few(extents), .. }) => {
            extents.iter().map(extent_weight).sum()
        }
        Body::File(File::Pieces { top: Top::Many(_), .. }) => 0,
        Body::Directory(_) => size_of::<Directory>(),
        Body::Symlink(target) => target.len(),
    }
}

fn extent_weight(extent: &Extent) -> usize {
    size_of::<Extent>()
        + match &extent.piece {
            Piece::Fresh(bytes) => bytes.len(),
            Piece::Stored(_) | Piece::Hole => 0,
        }
}
