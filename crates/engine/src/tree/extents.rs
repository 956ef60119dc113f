//! The pieces of a long file: a tree of pages, found by offset.

use std::ops::Range;
use std::sync::Arc;

use super::file::{Extent, FEW, File, Top};
use super::page::Link;
use super::source::{Need, Source};

/// The most extents or pages right in one page.
pub(crate) const FULL: usize = 128;

/// A part of a long file: some extents in order, or the pages that hold them.
#[derive(Debug)]
pub(crate) enum ExtentPage {
    Leaf(Vec<Extent>),
    Inner { level: u8, children: Vec<ExtentChild> },
}

/// A page beneath another, and how many bytes of the file it stands for.
#[derive(Clone, Debug)]
pub(crate) struct ExtentChild {
    pub(crate) len: u64,
    pub(crate) link: Link<ExtentPage>,
}

impl ExtentPage {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Leaf(extents) => extents.iter().map(|extent| extent.len).sum(),
            Self::Inner { children, .. } => children.iter().map(|child| child.len).sum(),
        }
    }

    fn level(&self) -> u8 {
        match self {
            Self::Leaf(_) => 0,
            Self::Inner { level, .. } => *level,
        }
    }

    fn child(self) -> ExtentChild {
        ExtentChild { len: self.len(), link: Link::Fresh(Arc::new(self)) }
    }
}

/// The file that consists of these extents.
pub(crate) fn file(extents: &[Extent]) -> File {
    let pages = extents.chunks(FULL).map(|extents| ExtentPage::Leaf(extents.to_vec()));
    topped(pages.collect())
}

/// The rest of the extent that holds this offset.
pub(crate) fn at(top: &Top, offset: u64, source: &dyn Source) -> Result<Option<Extent>, Need> {
    let link = match top {
        Top::Few(extents) => return Ok(rest_at(extents, offset)),
        Top::Many(link) => link,
    };
    let (mut page, mut offset) = (source.extents(link)?, offset);
    loop {
        page = match &*page {
            ExtentPage::Leaf(extents) => return Ok(rest_at(extents, offset)),
            ExtentPage::Inner { children, .. } => {
                let (index, start) = holder(children.iter().map(|child| child.len), offset);
                let Some(child) = children.get(index) else { return Ok(None) };
                offset -= start;
                source.extents(&child.link)?
            }
        };
    }
}

/// The file with other extents in the place of a part of it.
pub(crate) fn spliced(
    top: &Top,
    part: Range<u64>,
    new: Vec<Extent>,
    source: &dyn Source,
) -> Result<File, Need> {
    let mut pages = match top {
        Top::Few(extents) => replaced_in_leaf(extents, &part, new),
        Top::Many(link) => replaced(&*source.extents(link)?, &part, new, source)?,
    };
    // A tree whose top has one page beneath is that page.
    while let [ExtentPage::Inner { children, .. }] = &pages[..]
        && let [only] = &children[..]
    {
        let lower = source.extents(&only.link)?;
        pages = vec![match &*lower {
            ExtentPage::Leaf(extents) => ExtentPage::Leaf(extents.clone()),
            ExtentPage::Inner { level, children } => {
                ExtentPage::Inner { level: *level, children: children.clone() }
            }
        }];
    }
    Ok(topped(pages))
}

/// What becomes of a page when a part of it gives way to other extents.
fn replaced(
    page: &ExtentPage,
    part: &Range<u64>,
    new: Vec<Extent>,
    source: &dyn Source,
) -> Result<Vec<ExtentPage>, Need> {
    let (level, children) = match page {
        ExtentPage::Leaf(extents) => return Ok(replaced_in_leaf(extents, part, new)),
        ExtentPage::Inner { level, children } => (*level, children),
    };
    let lens = || children.iter().map(|child| child.len);
    let (first, first_start) = holder(lens(), part.start);
    let (last, last_start) = holder(lens(), part.end.saturating_sub(1).max(part.start));
    let beneath = |index: usize, start: u64, part: Range<u64>, new| {
        let Some(child) = children.get(index) else { return Ok(Vec::new()) };
        let part = part.start.saturating_sub(start)..part.end.saturating_sub(start).min(child.len);
        replaced(&*source.extents(&child.link)?, &part, new, source)
    };
    let mut pages = beneath(first, first_start, part.clone(), new)?;
    if last > first {
        pages.extend(beneath(last, last_start, last_start..part.end, Vec::new())?);
    }
    let mut all = children.clone();
    all.splice(
        first..=last.min(children.len().saturating_sub(1)),
        joined(pages).map(ExtentPage::child),
    );
    let grows_at_end = part.start >= page.len();
    let parts = if grows_at_end { filled(all).collect() } else { evened(all) };
    Ok(parts.into_iter().map(|children| ExtentPage::Inner { level, children }).collect())
}

fn replaced_in_leaf(extents: &[Extent], part: &Range<u64>, new: Vec<Extent>) -> Vec<ExtentPage> {
    let (mut before, mut after) = (Vec::with_capacity(extents.len() + new.len() + 1), Vec::new());
    let mut at = 0;
    for extent in extents {
        before.extend(extent.part(0, part.start.saturating_sub(at)));
        after.extend(extent.part(part.end.saturating_sub(at), extent.len));
        at += extent.len;
    }
    before.extend(new);
    let grows_at_end = after.is_empty();
    before.extend(after);
    let parts = if grows_at_end { filled(before).collect() } else { evened(before) };
    parts.into_iter().map(ExtentPage::Leaf).collect()
}

/// Neighbours that fit into one leaf become one.
fn joined(pages: Vec<ExtentPage>) -> impl Iterator<Item = ExtentPage> {
    let mut joined: Vec<ExtentPage> = Vec::with_capacity(pages.len());
    for page in pages {
        match (joined.last_mut(), page) {
            (Some(ExtentPage::Leaf(left)), ExtentPage::Leaf(right))
                if left.len() + right.len() <= FULL =>
            {
                left.extend(right);
            }
            (_, page) => joined.push(page),
        }
    }
    joined.into_iter()
}

/// As many as fit into each page, the rest in the last: right for what grows at its end.
fn filled<T>(items: Vec<T>) -> impl Iterator<Item = Vec<T>> {
    let mut rest = items.into_iter();
    std::iter::from_fn(move || {
        let part: Vec<T> = rest.by_ref().take(FULL).collect();
        (!part.is_empty()).then_some(part)
    })
}

/// Pages of about the same size: right for what changes in the middle.
fn evened<T>(mut items: Vec<T>) -> Vec<Vec<T>> {
    let pages = items.len().div_ceil(FULL);
    if pages == 0 {
        return Vec::new();
    }
    let size = items.len().div_ceil(pages);
    let mut parts = Vec::with_capacity(pages);
    while items.len() > size {
        let rest = items.split_off(size);
        parts.push(std::mem::replace(&mut items, rest));
    }
    parts.push(items);
    parts
}

/// The file over these pages of one level.
fn topped(mut pages: Vec<ExtentPage>) -> File {
    let len = pages.iter().map(ExtentPage::len).sum();
    while pages.len() > 1 {
        let level = pages.first().map_or(0, ExtentPage::level) + 1;
        let children: Vec<_> = pages.into_iter().map(ExtentPage::child).collect();
        pages = filled(children).map(|children| ExtentPage::Inner { level, children }).collect();
    }
    let top = match pages.pop() {
        None => return File::empty(),
        Some(ExtentPage::Leaf(extents)) if extents.len() <= FEW => Top::Few(extents.into()),
        Some(page) => Top::Many(Link::Fresh(Arc::new(page))),
    };
    File::Pieces { len, top }
}

/// Which part holds an offset, the last one if it is the end, and where that part begins.
fn holder(lens: impl Iterator<Item = u64>, offset: u64) -> (usize, u64) {
    let (mut start, mut found) = (0, (0, 0));
    for (index, len) in lens.enumerate() {
        found = (index, start);
        start += len;
        if offset < start {
            break;
        }
    }
    found
}

fn rest_at(extents: &[Extent], offset: u64) -> Option<Extent> {
    let (index, start) = holder(extents.iter().map(|extent| extent.len), offset);
    extents.get(index)?.part(offset - start, u64::MAX)
}
