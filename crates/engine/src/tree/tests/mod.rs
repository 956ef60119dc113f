//! What trees promise without a store, a clock or a runtime.

mod content;
mod crumbs;
mod depth;
pub(crate) mod golden;
mod hostile;
mod in_order;
mod in_place;
mod names;
mod shape;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use storage::ObjectId;

use super::codec::{encode_extents, encode_page};
use super::extents::{ExtentChild, FULL};
use super::file::{FEW, Top};
use super::page::Link;
use super::*;
use crate::UnixTime;

const HEIGHTS: Heights = Heights::new([7; 32]);
const IDS: IdKey = IdKey([9; 32]);
const EARLY: UnixTime = UnixTime { seconds: 1, nanoseconds: 2 };

/// Objects as whoever reads them from a store finds them.
#[derive(Debug, Default)]
struct Kept {
    pages: HashMap<ObjectId, Arc<Page>>,
    extents: HashMap<ObjectId, Arc<ExtentPage>>,
    chunks: HashMap<ObjectId, Bytes>,
    /// How many bytes of pages were stored, and how many of chunks.
    stored: (usize, usize),
}

impl Kept {
    /// Stores what is fresh in a directory; gives it as a reader finds it.
    fn flushed(&mut self, dir: &Directory) -> Directory {
        let mut objects = Objects::default();
        let dir = flush(dir, &IDS, &mut objects).unwrap();
        for (id, bytes) in objects.new {
            if id == IDS.id(ObjectKind::Chunk, &bytes) {
                self.stored.1 += bytes.len();
                self.chunks.insert(id, bytes);
                continue;
            }
            self.stored.0 += bytes.len();
            if id == IDS.id(ObjectKind::Page, &bytes) {
                self.pages.insert(id, Arc::new(decode_page(&bytes).unwrap()));
            } else {
                self.extents.insert(id, Arc::new(decode_extents(&bytes).unwrap()));
            }
        }
        dir
    }

    fn objects(&self) -> usize {
        self.pages.len() + self.extents.len() + self.chunks.len()
    }
}

impl Source for Kept {
    fn stored_page(&self, id: &ObjectId) -> Result<Arc<Page>, Need> {
        self.pages.get(id).cloned().ok_or(Need::Page(*id))
    }

    fn stored_extents(&self, id: &ObjectId) -> Result<Arc<ExtentPage>, Need> {
        self.extents.get(id).cloned().ok_or(Need::Extents(*id))
    }

    fn stored_chunk(&self, id: &ObjectId) -> Result<Bytes, Need> {
        self.chunks.get(id).cloned().ok_or(Need::Chunk(*id))
    }
}

/// A small file that says who wrote it.
fn node(content: u64) -> Node {
    let body = Body::File(File::of(vec![fresh(&content.to_le_bytes())], &Kept::default()).unwrap());
    Node { mode: 0o644, created: EARLY, modified: EARLY, stamp: Stamp::default(), body }
}

fn directory(dir: Directory) -> Node {
    Node { mode: 0o755, body: Body::Directory(Box::new(dir)), ..node(0) }
}

fn item(name: &str, node: Node) -> Arc<Item> {
    Arc::new(Item { name: name.into(), node })
}

fn fresh(bytes: &[u8]) -> Extent {
    Extent::fresh(Bytes::copy_from_slice(bytes))
}

/// The bytes that a node of [`node`] was made with.
fn content(node: &Node) -> u64 {
    let bytes = node.file().unwrap().bytes(0..8, &Kept::default()).unwrap();
    u64::from_le_bytes(bytes[..].try_into().unwrap())
}

/// All items of a directory.
fn items(dir: &Directory, after: Option<&str>, source: &dyn Source) -> Vec<Arc<Item>> {
    let mut cursor = Cursor::after(dir, after);
    std::iter::from_fn(|| cursor.next(source).unwrap()).collect()
}

/// Every page of a directory, without the directories in it.
fn pages(dir: &Directory, source: &dyn Source) -> Vec<Arc<Page>> {
    let mut todo: Vec<_> = dir.top.iter().map(|top| source.page(top).unwrap()).collect();
    let mut found = Vec::new();
    while let Some(page) = todo.pop() {
        if let Page::Inner { children, .. } = &*page {
            todo.extend(children.iter().map(|child| source.page(&child.link).unwrap()));
        }
        found.push(page);
    }
    found
}
