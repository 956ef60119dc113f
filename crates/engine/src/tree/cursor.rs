//! Taking the names of a directory one after the other.

use std::sync::Arc;

use super::page::{Child, Page};
use super::pairs::Pairs;
use super::source::{Need, Source};
use super::{Ahead, Directory, Item, Name};

/// A place between two names. It holds the pages on the way down, and nothing of the rest.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    dir: Directory,
    /// Names up to this one are passed; only used until the way down was found.
    after: Option<Name>,
    way: Option<Vec<(Arc<Page>, usize)>>,
    /// How many names will be asked for, at most.
    names: usize,
}

impl Cursor {
    /// Before the first name that sorts behind `after`.
    pub(crate) fn after(dir: &Directory, after: Option<&str>) -> Self {
        Self { dir: dir.clone(), after: after.map(Name::from), way: None, names: usize::MAX }
    }

    /// Says how many more names will be asked for, at most: what is fetched ahead is measured by
    /// it.
    pub(crate) fn will_take(&mut self, names: usize) {
        self.names = names;
    }

    /// The pages that it is about to need and that are not at hand.
    pub(crate) fn ahead<'a>(&self, source: &'a dyn Source) -> Ahead<'a> {
        let rest = match &self.way {
            Some(way) => Pairs::rest(way),
            None => Pairs::of(&Directory::default(), &self.dir),
        };
        Ahead::along(rest, self.names, source)
    }

    /// The next item. When something is needed first, the cursor stays where it is.
    pub(crate) fn next(&mut self, source: &dyn Source) -> Result<Option<Arc<Item>>, Need> {
        self.look(source).map(|item| item.map(Arc::clone))
    }

    /// The same, to look at.
    pub(crate) fn look(&mut self, source: &dyn Source) -> Result<Option<&Arc<Item>>, Need> {
        let way = match &mut self.way {
            Some(way) => way,
            lost => {
                let way = descend(&self.dir, self.after.as_deref(), self.names, source)?;
                let way = lost.insert(way);
                way.last().into_iter().for_each(|(page, _)| page.touch());
                way
            }
        };
        while let Some((page, at)) = way.last_mut() {
            let lower = match &**page {
                Page::Leaf(items) if *at < items.len() => break,
                Page::Leaf(_) => None,
                Page::Inner { children, .. } => children.get(*at),
            };
            match lower.map(|child| source.page(&child.link)) {
                Some(Ok(lower)) => {
                    *at += 1;
                    lower.touch();
                    way.push((lower, 0));
                }
                Some(Err(need)) => return Err(missing(way, self.names, need, source)),
                None => drop(way.pop()),
            }
        }
        let Some((page, at)) = way.last_mut() else { return Ok(None) };
        *at += 1;
        match &**page {
            Page::Leaf(items) => Ok(items.get(*at - 1)),
            Page::Inner { .. } => Ok(None),
        }
    }
}

/// Says what follows a page that is not at hand.
#[cold]
fn missing(way: &[(Arc<Page>, usize)], names: usize, need: Need, source: &dyn Source) -> Need {
    source.foresee(&mut Ahead::along(Pairs::rest(way), names, source));
    need
}

/// The pages down to the first name that sorts behind `after`, each with where to go on in it.
fn descend(
    dir: &Directory,
    after: Option<&str>,
    names: usize,
    source: &dyn Source,
) -> Result<Vec<(Arc<Page>, usize)>, Need> {
    let mut way = Vec::new();
    let (Some(after), mut link) = (after, dir.top.clone()) else {
        way.extend(dir.top.as_ref().map(|top| source.page(top)).transpose()?.map(|page| (page, 0)));
        return Ok(way);
    };
    while let Some(next) = link.take() {
        let page = source.page(&next).map_err(|need| missing(&way, names, need, source))?;
        let at = match &*page {
            Page::Leaf(items) => items.partition_point(|item| *item.name <= *after),
            Page::Inner { children, .. } => {
                let at = children.partition_point(|child: &Child| *child.first <= *after);
                let at = at.saturating_sub(1);
                link = children.get(at).map(|child| child.link.clone());
                at + 1
            }
        };
        way.push((page, at));
    }
    Ok(way)
}
