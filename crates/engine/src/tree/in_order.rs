//! Directories and files whose parts come in order: each page is made once, and is done with as
//! soon as it is full. Nothing but one open page of each level is held.

use std::sync::Arc;

use super::codec::{self, Damaged};
use super::directory::Heights;
use super::extents::{ExtentChild, ExtentPage, FULL};
use super::file::{Extent, FEW, File, Top};
use super::flush::{IdKey, ObjectKind, Objects};
use super::page::{Child, Link, Page};
use super::{Directory, Item};

/// Where pages go that are done.
#[derive(Debug)]
pub(crate) enum Pages {
    /// They stay in memory as they are.
    Fresh,
    /// They become objects. Whatever is beneath them must be stored, too.
    Stored { key: IdKey, objects: Objects },
}

impl Pages {
    fn page(&mut self, page: Page) -> Result<Option<Child>, Damaged> {
        let (first, sum) = (page.first().cloned(), page.sum());
        let link = match self {
            Self::Fresh => Link::Fresh(Arc::new(page)),
            Self::Stored { key, objects } => {
                let bytes = codec::encode_page(&page)?;
                let id = key.id(ObjectKind::Page, &bytes);
                objects.new.push((id, bytes.into()));
                Link::Stored(id)
            }
        };
        Ok(first.map(|first| Child { first, link, sum }))
    }

    fn extents(&mut self, page: ExtentPage) -> Result<ExtentChild, Damaged> {
        let len = page.len();
        let link = match self {
            Self::Fresh => Link::Fresh(Arc::new(page)),
            Self::Stored { key, objects } => {
                let bytes = codec::encode_extents(&page)?;
                let id = key.id(ObjectKind::Extents, &bytes);
                objects.new.push((id, bytes.into()));
                Link::Stored(id)
            }
        };
        Ok(ExtentChild { len, link })
    }
}

/// A directory whose names come in order.
#[derive(Debug, Default)]
pub(crate) struct NamesInOrder {
    leaf: Vec<Arc<Item>>,
    /// The open page of each level above the leaves, lowest first.
    above: Vec<Vec<Child>>,
}

impl NamesInOrder {
    /// Takes the next item.
    pub(crate) fn push(
        &mut self,
        item: Item,
        heights: &Heights,
        pages: &mut Pages,
    ) -> Result<(), Damaged> {
        let height = if self.leaf.is_empty() { 0 } else { heights.height(&item.name) };
        // A name of this height begins a page on each level below it.
        for level in 0..height {
            self.close(level, pages)?;
        }
        self.leaf.push(Arc::new(item));
        Ok(())
    }

    /// The directory of all names that came.
    pub(crate) fn finish(mut self, pages: &mut Pages) -> Result<Directory, Damaged> {
        if self.leaf.is_empty() {
            return Ok(Directory::default());
        }
        let mut level = 0;
        while self.above.iter().skip(usize::from(level)).any(|children| !children.is_empty()) {
            self.close(level, pages)?;
            level += 1;
        }
        let Some(top) = pages.page(self.take(level))? else { return Ok(Directory::default()) };
        Ok(Directory { top: Some(top.link), sum: top.sum })
    }

    /// Ends the open page of a level.
    fn close(&mut self, level: u8, pages: &mut Pages) -> Result<(), Damaged> {
        let page = self.take(level);
        let above = usize::from(level);
        if self.above.len() <= above {
            self.above.push(Vec::new());
        }
        if let Some(children) = self.above.get_mut(above) {
            children.extend(pages.page(page)?);
        }
        Ok(())
    }

    fn take(&mut self, level: u8) -> Page {
        match level.checked_sub(1).map(|above| self.above.get_mut(usize::from(above))) {
            None => Page::Leaf(std::mem::take(&mut self.leaf).into()),
            Some(children) => {
                let children = children.map(std::mem::take).unwrap_or_default();
                Page::Inner { level, children: children.into() }
            }
        }
    }
}

/// A file of pieces that come in order.
#[derive(Debug, Default)]
pub(crate) struct PiecesInOrder {
    len: u64,
    leaf: Vec<Extent>,
    /// The open page of each level above the leaves, lowest first.
    above: Vec<Vec<ExtentChild>>,
}

impl PiecesInOrder {
    /// Takes the next piece.
    pub(crate) fn push(&mut self, extent: Extent, pages: &mut Pages) -> Result<(), Damaged> {
        if self.leaf.len() == FULL {
            let page = ExtentPage::Leaf(std::mem::take(&mut self.leaf));
            let child = pages.extents(page)?;
            self.add(1, child, pages)?;
        }
        self.len += extent.len;
        self.leaf.push(extent);
        Ok(())
    }

    /// The file of all pieces that came, which has more bytes than lie in a directory page.
    pub(crate) fn finish(mut self, pages: &mut Pages) -> Result<File, Damaged> {
        let len = self.len;
        let leaf = std::mem::take(&mut self.leaf);
        if self.above.is_empty() && leaf.len() <= FEW {
            return Ok(File::Pieces { len, top: Top::Few(leaf.into()) });
        }
        let (mut level, mut child) = (0, pages.extents(ExtentPage::Leaf(leaf))?);
        while usize::from(level) < self.above.len() {
            level += 1;
            self.add(level, child, pages)?;
            let open = self.above.get_mut(usize::from(level) - 1);
            let children = open.map(std::mem::take).unwrap_or_default();
            child = pages.extents(ExtentPage::Inner { level, children })?;
        }
        Ok(File::Pieces { len, top: Top::Many(child.link) })
    }

    /// Adds a page to the open one of a level; one that is full gives way to the next.
    fn add(
        &mut self,
        mut level: u8,
        mut child: ExtentChild,
        pages: &mut Pages,
    ) -> Result<(), Damaged> {
        while let Some(open) = self.above.get_mut(usize::from(level) - 1) {
            if open.len() < FULL {
                open.push(child);
                return Ok(());
            }
            let children = std::mem::replace(open, vec![child]);
            child = pages.extents(ExtentPage::Inner { level, children })?;
            level += 1;
        }
        self.above.push(vec![child]);
        Ok(())
    }
}
