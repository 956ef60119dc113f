//! A directory: a search tree of pages whose shape depends on the names in it and on nothing else.
//!
//! A name has a height, drawn from its keyed hash: one name in 32 has at least 1, one in 1,024 at
//! least 2, and so on. A page of level `n` begins at each name that is higher than `n`, and at the
//! directory's first name. So equal directories have equal pages whatever their history, an edit
//! touches one page of each level, and nobody who does not know the key can make a page long.

use std::sync::Arc;

use super::page::{Child, Link, Page};
use super::source::{Need, Source};
use super::{Item, Sum};

/// One name in `2 ^ BITS` begins a page; one of so many such names begins a page above.
const BITS: u32 = 5;

/// A directory's names and what they add up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// The topmost page; none for an empty directory.
    pub(crate) top: Option<Link<Page>>,
    pub(crate) sum: Sum,
}

/// The key that the heights of names are drawn with. Secret: who knows it can choose names that
/// make a page as long as he likes.
#[derive(Clone, Copy)]
pub(crate) struct Heights([u8; 32]);

impl Heights {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    pub(crate) fn height(&self, name: &str) -> u8 {
        let hash = blake3::keyed_hash(&self.0, name.as_bytes());
        let mut start = [0; 8];
        start.copy_from_slice(hash.as_bytes().first_chunk::<8>().unwrap_or(&[0; 8]));
        (u64::from_le_bytes(start).trailing_zeros() / BITS) as u8
    }
}

impl std::fmt::Debug for Heights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Heights")
    }
}

enum Edit<'a> {
    Put(Arc<Item>),
    Remove(&'a str),
}

impl Edit<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Put(item) => &item.name,
            Self::Remove(name) => name,
        }
    }
}

impl Directory {
    /// The item of that name.
    pub(crate) fn find(&self, name: &str, source: &dyn Source) -> Result<Option<Arc<Item>>, Need> {
        let Some(top) = &self.top else { return Ok(None) };
        let mut page = source.page(top)?;
        loop {
            page = match &*page {
                Page::Leaf(items) => {
                    return Ok(items.find(name).map(Arc::clone));
                }
                Page::Inner { children, .. } => {
                    let Some(child) = children.get(children.holder(name)) else { return Ok(None) };
                    source.page(&child.link)?
                }
            };
        }
    }

    /// The directory with this item instead of what has its name.
    pub(crate) fn with(
        &self,
        item: Arc<Item>,
        heights: &Heights,
        source: &dyn Source,
    ) -> Result<Self, Need> {
        self.edited(&Edit::Put(item), heights, source)
    }

    /// The directory without what has that name.
    pub(crate) fn without(
        &self,
        name: &str,
        heights: &Heights,
        source: &dyn Source,
    ) -> Result<Self, Need> {
        self.edited(&Edit::Remove(name), heights, source)
    }

    fn edited(
        &self,
        edit: &Edit<'_>,
        heights: &Heights,
        source: &dyn Source,
    ) -> Result<Self, Need> {
        let top = match &self.top {
            Some(top) => source.page(top)?,
            None => Arc::new(Page::Leaf(Vec::new().into())),
        };
        let mut pages = edited(&[top], edit, heights, source)?;
        while pages.len() > 1 {
            pages = grown(pages, heights);
        }
        let Some(mut top) = pages.pop() else { return Ok(Self::default()) };
        while let Page::Inner { children, .. } = &*top
            && let [only] = &children[..]
        {
            top = source.page(&only.link)?;
        }
        Ok(Self { sum: top.sum(), top: Some(Link::Fresh(top)) })
    }
}

/// Which child holds a name, or would.
fn holder(children: &[Child], name: &str) -> usize {
    children.partition_point(|child| *child.first <= *name).saturating_sub(1)
}

/// What becomes of one page, or of two neighbours that lose the boundary between them.
fn edited(
    run: &[Arc<Page>],
    edit: &Edit<'_>,
    heights: &Heights,
    source: &dyn Source,
) -> Result<Vec<Arc<Page>>, Need> {
    match run.first().map(|page| page.level()) {
        None => Ok(Vec::new()),
        Some(0) => Ok(edited_leaf(run, edit, heights)),
        Some(level) => edited_inner(run, level, edit, heights, source),
    }
}

fn edited_leaf(run: &[Arc<Page>], edit: &Edit<'_>, heights: &Heights) -> Vec<Arc<Page>> {
    let mut items = Vec::with_capacity(run.iter().map(|page| page.len() + 1).sum());
    for page in run {
        if let Page::Leaf(some) = &**page {
            items.extend_from_slice(some);
        }
    }
    let place = items.binary_search_by(|item| (*item.name).cmp(edit.name()));
    let mut cut = None;
    match (edit, place) {
        (Edit::Put(item), Ok(at)) => {
            if let Some(old) = items.get_mut(at) {
                *old = Arc::clone(item);
            }
        }
        (Edit::Put(item), Err(at)) => {
            items.insert(at, Arc::clone(item));
            // Before the first name of all: the one that was first may begin a page of its own.
            let at = at.max(1);
            let begins = |item: &Arc<Item>| heights.height(&item.name) > 0;
            cut = items.get(at).is_some_and(begins).then_some(at);
        }
        (Edit::Remove(_), Ok(at)) => drop(items.remove(at)),
        (Edit::Remove(_), Err(_)) => {}
    }
    let rest = cut.map(|at| items.split_off(at));
    let parts = [Some(items), rest].into_iter().flatten().filter(|items| !items.is_empty());
    parts.map(|items| Arc::new(Page::Leaf(items.into()))).collect()
}

fn edited_inner(
    run: &[Arc<Page>],
    level: u8,
    edit: &Edit<'_>,
    heights: &Heights,
    source: &dyn Source,
) -> Result<Vec<Arc<Page>>, Need> {
    let mut children = Vec::with_capacity(run.iter().map(|page| page.len() + 1).sum());
    for page in run {
        if let Page::Inner { children: some, .. } = &**page {
            children.extend_from_slice(some);
        }
    }
    let at = holder(&children, edit.name());
    let loses_boundary = matches!(edit, Edit::Remove(name)
        if children.get(at).is_some_and(|child| *child.first == **name));
    let first = if loses_boundary { at.saturating_sub(1) } else { at };
    let touched = children.get(first..=at).unwrap_or_default();
    let pages =
        touched.iter().map(|child| source.page(&child.link)).collect::<Result<Vec<_>, _>>()?;
    let edited = edited(&pages, edit, heights, source)?;
    // Only a page that is new among its neighbours can begin one up here.
    let cuts: Vec<usize> = edited
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, page)| page.first().is_some_and(|name| heights.height(name) > level))
        .map(|(index, _)| first + index)
        .collect();
    children.splice(first..=at, edited.into_iter().filter_map(Child::of));
    Ok(cut(children, &cuts, level))
}

/// The pages of the level above, over pages that have none.
pub(super) fn grown(pages: Vec<Arc<Page>>, heights: &Heights) -> Vec<Arc<Page>> {
    let level = pages.first().map_or(0, |page| page.level()) + 1;
    let children: Vec<_> = pages.into_iter().filter_map(Child::of).collect();
    let begins = |(_, child): &(usize, &Child)| heights.height(&child.first) > level;
    let cuts: Vec<usize> =
        children.iter().enumerate().skip(1).filter(begins).map(|(index, _)| index).collect();
    cut(children, &cuts, level)
}

fn cut(mut children: Vec<Child>, cuts: &[usize], level: u8) -> Vec<Arc<Page>> {
    let mut pages = Vec::with_capacity(cuts.len() + 1);
    for at in cuts.iter().rev() {
        pages.push(children.split_off(*at));
    }
    pages.push(children);
    pages.reverse();
    let full = pages.into_iter().filter(|children| !children.is_empty());
    full.map(|children| Arc::new(Page::Inner { level, children: children.into() })).collect()
}
