//! Two directories side by side, without the pages that they share.

use std::cmp::Ordering;
use std::sync::Arc;

use super::page::{Link, Page};
use super::source::{Need, Source};
use super::{Directory, Item};

/// A name that only one of two directories has, or that may stand for something else in each.
#[derive(Debug)]
pub(crate) enum Pair {
    Old(Arc<Item>),
    New(Arc<Item>),
    Both(Arc<Item>, Arc<Item>),
}

/// A place between two names in each of two directories.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    old: Side,
    new: Side,
}

impl Pairs {
    pub(crate) fn of(old: &Directory, new: &Directory) -> Self {
        let is_same = matches!((&old.top, &new.top), (Some(old), Some(new)) if old.is_same(new));
        let [old, new] = if is_same { Default::default() } else { [old.clone(), new.clone()] };
        Self { old: Side::of(old), new: Side::of(new) }
    }

    /// The rest of one directory, beside an empty one.
    pub(super) fn rest(way: &[(Arc<Page>, usize)]) -> Self {
        Self { old: Side::default(), new: Side { dir: None, way: way.to_vec() } }
    }

    /// The next pair. When something is needed first, what was passed stays passed.
    pub(crate) fn next(&mut self, source: &dyn Source) -> Result<Option<Pair>, Need> {
        loop {
            self.old.settle(source)?;
            self.new.settle(source)?;
            let order = match (self.old.name(), self.new.name()) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.cmp(new),
            };
            let levels = self.old.level().cmp(&self.new.level());
            match (order, levels) {
                (Ordering::Equal, Ordering::Equal) if self.same_page() => {
                    self.old.pass();
                    self.new.pass();
                }
                (Ordering::Equal, Ordering::Equal) => {
                    if let (Some(old), Some(new)) = (self.old.item(), self.new.item()) {
                        let both = Pair::Both(Arc::clone(old), Arc::clone(new));
                        self.old.pass();
                        self.new.pass();
                        return Ok(Some(both));
                    }
                    self.old.descend(source)?;
                }
                (Ordering::Less, _) | (Ordering::Equal, Ordering::Greater) => {
                    if let Some(item) = self.old.take(source)? {
                        return Ok(Some(Pair::Old(item)));
                    }
                }
                (Ordering::Greater, _) | (Ordering::Equal, Ordering::Less) => {
                    if let Some(item) = self.new.take(source)? {
                        return Ok(Some(Pair::New(item)));
                    }
                }
            }
        }
    }

    /// Goes past a page that is needed next and not at hand; gives how far above the names it is.
    pub(super) fn pass_missing(&mut self, need: &Need) -> Option<u8> {
        self.old.pass_missing(need).or_else(|| self.new.pass_missing(need))
    }

    /// Whether both are before the same page, or the same item.
    fn same_page(&self) -> bool {
        match (self.old.place(), self.new.place()) {
            (Some((Page::Leaf(old), at)), Some((Page::Leaf(new), place))) => {
                matches!((old.get(at), new.get(place)), (Some(old), Some(new)) if Arc::ptr_eq(old, new))
            }
            (
                Some((Page::Inner { children: old, .. }, at)),
                Some((Page::Inner { children: new, .. }, place)),
            ) => {
                matches!((old.get(at), new.get(place)), (Some(old), Some(new)) if old.link.is_same(&new.link))
            }
            _ => false,
        }
    }
}

/// A place in one directory: the pages on the way down, each with where to go on in it.
#[derive(Clone, Debug, Default)]
struct Side {
    dir: Option<Directory>,
    way: Vec<(Arc<Page>, usize)>,
}

impl Side {
    fn of(dir: Directory) -> Self {
        Self { dir: Some(dir), way: Vec::new() }
    }

    /// Leaves pages that were passed wholly.
    fn settle(&mut self, source: &dyn Source) -> Result<(), Need> {
        if let Some(dir) = &self.dir {
            let top = dir.top.as_ref().map(|top| source.page(top)).transpose()?;
            self.way.extend(top.map(|page| (page, 0)));
            self.dir = None;
        }
        while self.way.last().is_some_and(|(page, at)| *at >= page.len()) {
            self.way.pop();
        }
        Ok(())
    }

    fn place(&self) -> Option<(&Page, usize)> {
        self.way.last().map(|(page, at)| (&**page, *at))
    }

    /// The name that comes next.
    fn name(&self) -> Option<&str> {
        match self.place()? {
            (Page::Leaf(items), at) => items.get(at).map(|item| &*item.name),
            (Page::Inner { children, .. }, at) => children.get(at).map(|child| &*child.first),
        }
    }

    fn level(&self) -> u8 {
        self.place().map_or(0, |(page, _)| page.level())
    }

    fn item(&self) -> Option<&Arc<Item>> {
        match self.place()? {
            (Page::Leaf(items), at) => items.get(at),
            (Page::Inner { .. }, _) => None,
        }
    }

    fn pass(&mut self) {
        if let Some((_, at)) = self.way.last_mut() {
            *at += 1;
        }
    }

    fn pass_missing(&mut self, need: &Need) -> Option<u8> {
        let is_it = |link: &Link<Page>| matches!((link, need), (Link::Stored(id), Need::Page(needed)) if id == needed);
        if self.dir.take_if(|dir| dir.top.as_ref().is_some_and(is_it)).is_some() {
            return Some(0);
        }
        let (Page::Inner { level, children }, at) = self.place()? else { return None };
        let above = level.saturating_sub(1);
        children.get(at).filter(|child| is_it(&child.link))?;
        self.pass();
        Some(above)
    }

    /// The next item; none if it went a page down instead.
    fn take(&mut self, source: &dyn Source) -> Result<Option<Arc<Item>>, Need> {
        match self.item().map(Arc::clone) {
            Some(item) => {
                self.pass();
                Ok(Some(item))
            }
            None => self.descend(source).map(|()| None),
        }
    }

    fn descend(&mut self, source: &dyn Source) -> Result<(), Need> {
        let Some((Page::Inner { children, .. }, at)) = self.place() else { return Ok(()) };
        let Some(child) = children.get(at) else { return Ok(()) };
        let lower = source.page(&child.link)?;
        self.pass();
        self.way.push((lower, 0));
        Ok(())
    }
}
