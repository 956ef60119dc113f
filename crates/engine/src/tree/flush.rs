//! Turning fresh pages into objects of a store.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use storage::ObjectId;

use super::codec::{self, Damaged};
use super::extents::{ExtentChild, ExtentPage};
use super::file::{Extent, File, Piece, Top};
use super::page::{Child, Link, Page};
use super::{Body, Directory, Item, Node};

/// What an object holds. It is hashed with the content, so that no page can pass for a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Page = 1,
    Extents = 2,
    Chunk = 3,
}

/// The key that ids are made with, one for a sandbox and its forks: nobody else can tell from an
/// id, or from how long a write takes, whether somebody keeps the same bytes.
#[derive(Clone, Copy)]
pub(crate) struct IdKey(pub(crate) [u8; 32]);

impl std::fmt::Debug for IdKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdKey")
    }
}

impl IdKey {
    pub(crate) fn id(&self, kind: ObjectKind, content: &[u8]) -> ObjectId {
        let mut hash = blake3::Hasher::new_keyed(&self.0);
        hash.update(&[kind as u8]).update(content);
        ObjectId(*hash.finalize().as_bytes())
    }
}

/// Objects that a store must have before anything may point at them.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// Ids and plain content, what is pointed at before what points at it.
    pub(crate) new: Vec<(ObjectId, Bytes)>,
    /// The pages among them as they are in memory, for a cache.
    pub(crate) pages: Vec<(ObjectId, Arc<Page>)>,
}

/// The directory with every fresh page and piece stored, which are added to `objects`.
///
/// Does not recurse into directories: a tree may be deeper than the stack.
pub(crate) fn flush(
    dir: &Directory,
    key: &IdKey,
    objects: &mut Objects,
) -> Result<Directory, Damaged> {
    let mut done: HashMap<*const Page, ObjectId> = HashMap::new();
    let mut todo = vec![];
    if let Some(Link::Fresh(top)) = &dir.top {
        todo.push((Arc::clone(top), Step::Enter));
    }
    while let Some((page, step)) = todo.pop() {
        match step {
            _ if done.contains_key(&Arc::as_ptr(&page)) => {}
            Step::Enter => {
                todo.push((Arc::clone(&page), Step::Leave));
                beneath(&page, &mut |lower| todo.push((Arc::clone(lower), Step::Enter)));
            }
            Step::Leave => {
                let stored = stored(&page, &done, key, objects)?;
                let bytes = codec::encode_page(&stored)?;
                let id = key.id(ObjectKind::Page, &bytes);
                objects.new.push((id, bytes.into()));
                objects.pages.push((id, Arc::new(stored)));
                done.insert(Arc::as_ptr(&page), id);
            }
        }
    }
    let top = dir.top.as_ref().map(|top| settled(top, &done));
    Ok(Directory { top, sum: dir.sum })
}

enum Step {
    Enter,
    Leave,
}

/// Calls `visit` with every fresh page right beneath a page.
fn beneath(page: &Page, visit: &mut dyn FnMut(&Arc<Page>)) {
    let mut follow = |link: &Link<Page>| {
        if let Link::Fresh(lower) = link {
            visit(lower);
        }
    };
    match page {
        Page::Leaf(items) => {
            let dirs = items.iter().filter_map(|item| item.node.directory());
            dirs.filter_map(|dir| dir.top.as_ref()).for_each(&mut follow);
        }
        Page::Inner { children, .. } => children.iter().for_each(|child| follow(&child.link)),
    }
}

/// The page with ids instead of the pages beneath it.
fn stored(
    page: &Page,
    done: &HashMap<*const Page, ObjectId>,
    key: &IdKey,
    objects: &mut Objects,
) -> Result<Page, Damaged> {
    match page {
        Page::Leaf(items) => {
            let mut stored = Vec::with_capacity(items.len());
            for item in items.iter() {
                stored.push(stored_item(item, done, key, objects)?);
            }
            Ok(Page::Leaf(stored.into()))
        }
        Page::Inner { level, children } => {
            let stored = children.iter().map(|child| Child {
                first: child.first.clone(),
                link: settled(&child.link, done),
                sum: child.sum,
            });
            Ok(Page::Inner { level: *level, children: stored.collect::<Vec<_>>().into() })
        }
    }
}

fn stored_item(
    item: &Arc<Item>,
    done: &HashMap<*const Page, ObjectId>,
    key: &IdKey,
    objects: &mut Objects,
) -> Result<Arc<Item>, Damaged> {
    let body = match &item.node.body {
        Body::Directory(dir) => match &dir.top {
            Some(top @ Link::Fresh(_)) => {
                Body::Directory(Box::new(Directory { top: Some(settled(top, done)), sum: dir.sum }))
            }
            Some(Link::Stored(_)) | None => return Ok(Arc::clone(item)),
        },
        Body::File(file) => match stored_file(file, key, objects)? {
            Some(file) => Body::File(file),
            None => return Ok(Arc::clone(item)),
        },
        Body::Symlink(_) => return Ok(Arc::clone(item)),
    };
    let node = Node { body, ..item.node.clone() };
    Ok(Arc::new(Item { name: item.name.clone(), node }))
}

fn settled(link: &Link<Page>, done: &HashMap<*const Page, ObjectId>) -> Link<Page> {
    match link {
        Link::Fresh(page) => match done.get(&Arc::as_ptr(page)) {
            Some(id) => Link::Stored(*id),
            None => link.clone(),
        },
        Link::Stored(id) => Link::Stored(*id),
    }
}

/// The file with its fresh pieces stored; none if it has no fresh ones.
pub(crate) fn stored_file(
    file: &File,
    key: &IdKey,
    objects: &mut Objects,
) -> Result<Option<File>, Damaged> {
    let File::Pieces { len, top } = file else { return Ok(None) };
    let top = match top {
        Top::Few(extents) => {
            if !extents.iter().any(|extent| matches!(extent.piece, Piece::Fresh(_))) {
                return Ok(None);
            }
            Top::Few(extents.iter().map(|extent| stored_extent(extent, key, objects)).collect())
        }
        Top::Many(Link::Stored(_)) => return Ok(None),
        Top::Many(Link::Fresh(page)) => {
            Top::Many(Link::Stored(stored_extents(page, key, objects)?))
        }
    };
    Ok(Some(File::Pieces { len: *len, top }))
}

fn stored_extents(
    page: &ExtentPage,
    key: &IdKey,
    objects: &mut Objects,
) -> Result<ObjectId, Damaged> {
    let stored = match page {
        ExtentPage::Leaf(extents) => ExtentPage::Leaf(
            extents.iter().map(|extent| stored_extent(extent, key, objects)).collect(),
        ),
        ExtentPage::Inner { level, children } => {
            let mut stored = Vec::with_capacity(children.len());
            for child in children {
                let id = match &child.link {
                    Link::Stored(id) => *id,
                    Link::Fresh(lower) => stored_extents(lower, key, objects)?,
                };
                stored.push(ExtentChild { len: child.len, link: Link::Stored(id) });
            }
            ExtentPage::Inner { level: *level, children: stored }
        }
    };
    let bytes = codec::encode_extents(&stored)?;
    let id = key.id(ObjectKind::Extents, &bytes);
    objects.new.push((id, bytes.into()));
    Ok(id)
}

fn stored_extent(extent: &Extent, key: &IdKey, objects: &mut Objects) -> Extent {
    let piece = match &extent.piece {
        Piece::Fresh(bytes) => {
            let id = key.id(ObjectKind::Chunk, bytes);
            objects.new.push((id, bytes.clone()));
            Piece::Stored(id)
        }
        Piece::Stored(id) => Piece::Stored(*id),
        Piece::Hole => Piece::Hole,
    };
    Extent { piece, start: extent.start, len: extent.len }
}
