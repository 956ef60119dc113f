//! Everything that one family's roots lead to.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use storage::{ObjectId, Storage, frame};

use crate::Result;
use crate::tree::{
    Body, Damaged, Extent, ExtentPage, File, Link, Node, ObjectKind, Page, Piece, Top,
    decode_extents, decode_page,
};

use super::super::meaning::meaning;
use super::super::objects::Family;
use super::roots::Beginnings;

/// How many pages are read at a time. A page has some 32 names, of 1 KiB at most with what is in
/// small files, so that these are 8 MiB at most, and hardly ever more than one.
const AT_ONCE: usize = 256;
/// Half of an id tells it from all others, as long as nobody can choose ids.
const MARK: usize = 16;

/// The objects that something leads to. 20 to 40 bytes for each.
#[derive(Debug, Default)]
pub(super) struct Marked(HashSet<[u8; MARK], BuildHasherDefault<FirstBytes>>);

impl Marked {
    pub(super) fn has(&self, id: &ObjectId) -> bool {
        mark(id).is_some_and(|mark| self.0.contains(mark))
    }

    /// Whether it was not marked before.
    fn add(&mut self, id: &ObjectId) -> bool {
        mark(id).is_some_and(|mark| self.0.insert(*mark))
    }
}

fn mark(id: &ObjectId) -> Option<&[u8; MARK]> {
    id.0.first_chunk()
}

/// Ids are keyed hashes already.
#[derive(Debug, Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 ^= u64::from_le_bytes(*first);
        }
    }

    fn write_usize(&mut self, _len: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How a marking ended.
#[derive(Debug)]
pub(super) enum Marking {
    Done(Marked),
    /// Something on the way is missing or damaged, so that what it leads to is not known.
    Unreadable(Damaged),
}

/// Marks what is reached from some beginnings. Does not recurse: a tree may be deeper than the
/// stack. Calls `storage` anew for every step, so that a store can be closed in between.
pub(super) async fn mark_from(
    beginnings: &Beginnings,
    storage: impl Fn() -> Result<Arc<dyn Storage>>,
) -> Result<Marking> {
    let mut walk = Walk { family: beginnings.family, marked: Marked::default(), todo: Vec::new() };
    beginnings.tops.iter().for_each(|top| walk.page(top));
    beginnings.files.iter().for_each(|file| walk.file(file));
    while !walk.todo.is_empty() {
        let step = walk.todo.split_off(walk.todo.len().saturating_sub(AT_ONCE));
        let keys: Vec<_> = step.iter().map(|next| walk.family.key(next.id())).collect();
        let stored = storage()?.get_many(&keys).await.map_err(meaning)?;
        for (next, stored) in step.iter().zip(stored) {
            if let Err(err) = walk.follow(next, stored.as_ref()) {
                return Ok(Marking::Unreadable(err));
            }
        }
        // A storage in memory never makes anybody wait.
        tokio::task::yield_now().await;
    }
    Ok(Marking::Done(walk.marked))
}

struct Walk {
    family: Family,
    marked: Marked,
    /// Marked, but not looked into yet.
    todo: Vec<Next>,
}

#[derive(Clone, Copy)]
enum Next {
    Page(ObjectId),
    Extents(ObjectId),
}

impl Next {
    fn id(&self) -> ObjectId {
        match self {
            Self::Page(id) | Self::Extents(id) => *id,
        }
    }
}

impl Walk {
    fn follow(&mut self, next: &Next, stored: Option<&Bytes>) -> Result<(), Damaged> {
        let kind = match next {
            Next::Page(_) => ObjectKind::Page,
            Next::Extents(_) => ObjectKind::Extents,
        };
        let stored = stored.ok_or(Damaged("it is missing"))?;
        let plain = frame::open(stored).map_err(|_| Damaged("it cannot be opened"))?;
        if self.family.ids.id(kind, &plain) != next.id() {
            return Err(Damaged("it is not what it was"));
        }
        match next {
            Next::Page(_) => self.beneath(&decode_page(&plain)?),
            Next::Extents(_) => self.pieces(&decode_extents(&plain)?),
        }
        Ok(())
    }

    fn beneath(&mut self, page: &Page) {
        match page {
            Page::Leaf(items) => items.iter().for_each(|item| self.node(&item.node)),
            Page::Inner { children, .. } => {
                children.iter().for_each(|child| self.page_link(&child.link));
            }
        }
    }

    fn node(&mut self, node: &Node) {
        match &node.body {
            Body::File(file) => self.file(file),
            Body::Directory(dir) => dir.top.iter().for_each(|top| self.page_link(top)),
            Body::Symlink(_) => {}
        }
    }

    fn file(&mut self, file: &File) {
        match file {
            File::Inline(_) => {}
            File::Pieces { top: Top::Few(extents), .. } => self.chunks(extents),
            File::Pieces { top: Top::Many(link), .. } => self.extents_link(link),
        }
    }

    fn pieces(&mut self, page: &ExtentPage) {
        match page {
            ExtentPage::Leaf(extents) => self.chunks(extents),
            ExtentPage::Inner { children, .. } => {
                children.iter().for_each(|child| self.extents_link(&child.link));
            }
        }
    }

    fn chunks(&mut self, extents: &[Extent]) {
        for extent in extents {
            if let Piece::Stored(id) = &extent.piece {
                self.marked.add(id);
            }
        }
    }

    fn page_link(&mut self, link: &Link<Page>) {
        if let Link::Stored(id) = link {
            self.page(id);
        }
    }

    fn page(&mut self, id: &ObjectId) {
        if self.marked.add(id) {
            self.todo.push(Next::Page(*id));
        }
    }

    fn extents_link(&mut self, link: &Link<ExtentPage>) {
        match link {
            Link::Stored(id) => {
                if self.marked.add(id) {
                    self.todo.push(Next::Extents(*id));
                }
            }
            // Of a file that lost its name before it was stored. Such pages are few levels high.
            Link::Fresh(page) => self.pieces(page),
        }
    }
}
