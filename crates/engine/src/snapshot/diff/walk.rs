//! Two trees side by side: what is not the same in both, in the order of the paths.

use std::cmp::Ordering;
use std::sync::Arc;

use super::same;
use crate::SandboxPath;
use crate::tree::{Child, Directory, Item, Link, Need, Node, Page, Source};

/// Something that differs: it came, it went, or it is another.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: SandboxPath,
    pub(super) before: Option<Arc<Item>>,
    pub(super) after: Option<Arc<Item>>,
}

impl Found {
    /// About how many bytes of memory it takes.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>() + 2 * size_of::<Item>() + self.path.as_str().len()
    }

    /// The directory that came or went.
    fn lone_directory(&self) -> Option<(&Directory, Lone)> {
        match (&self.before, &self.after) {
            (Some(item), None) => item.node.directory().map(|dir| (dir, Lone::Before)),
            (None, Some(item)) => item.node.directory().map(|dir| (dir, Lone::After)),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Lone {
    Before,
    After,
}

/// A walk through two trees. It goes into what came or went only when told to.
///
/// It stays where it is when a page must be fetched, and does not recurse: a tree may be deeper
/// than the stack.
#[derive(Debug)]
pub(super) struct Walk {
    levels: Vec<Level>,
    /// The directory of the innermost level.
    here: SandboxPath,
    /// Found together with what was given last.
    second: Option<Found>,
}

/// A directory in both trees.
#[derive(Debug)]
struct Level {
    before: Side,
    after: Side,
}

impl Walk {
    /// Through the trees of two root directories.
    pub(super) fn new(before: &Node, after: &Node) -> Self {
        let root = |node: &Node| Some(Arc::new(Item { name: "".into(), node: node.clone() }));
        let here = SandboxPath::root();
        let mut walk = Self { levels: Vec::new(), here: here.clone(), second: None };
        let (Some(from), Some(to)) = (before.directory(), after.directory()) else { return walk };
        if before.mode != after.mode {
            walk.second = Some(Found { path: here, before: root(before), after: root(after) });
        }
        if !same::are_same_names(from, to) {
            walk.levels.push(Level { before: Side::of(Some(from)), after: Side::of(Some(to)) });
        }
        walk
    }

    /// Through what is beneath a directory that came or went.
    pub(super) fn beneath(found: &Found) -> Option<Self> {
        found.lone_directory()?;
        let mut walk = Self { levels: Vec::new(), here: found.path.clone(), second: None };
        walk.enter(found);
        Some(walk)
    }

    /// Goes into the directory that was given last and came or went.
    pub(super) fn enter(&mut self, found: &Found) {
        let Some((dir, lone)) = found.lone_directory() else { return };
        let (before, after) = match lone {
            Lone::Before => (Side::of(Some(dir)), Side::of(None)),
            Lone::After => (Side::of(None), Side::of(Some(dir))),
        };
        self.here = found.path.clone();
        self.levels.push(Level { before, after });
    }

    /// The next thing that differs.
    pub(super) fn next(&mut self, source: &dyn Source) -> Result<Option<Found>, Need> {
        loop {
            if let Some(found) = self.second.take() {
                return Ok(Some(found));
            }
            let Some(level) = self.levels.last_mut() else { return Ok(None) };
            let Some(pair) = level.next(source)? else {
                self.levels.pop();
                self.here = self.here.parent().unwrap_or_else(SandboxPath::root);
                continue;
            };
            if let Some(found) = self.compare(pair) {
                return Ok(Some(found));
            }
        }
    }

    fn compare(&mut self, pair: Pair) -> Option<Found> {
        let (before, after) = match pair {
            Pair { before: Some(before), after: Some(after) } => (before, after),
            Pair { before, after } => {
                let name = before.as_ref().or(after.as_ref()).map(|item| Arc::clone(&item.name))?;
                return Some(Found { path: self.here.child(&name), before, after });
            }
        };
        if Arc::ptr_eq(&before, &after) || same::are_same(&before.node, &after.node) {
            return None;
        }
        let path = self.here.child(&before.name);
        if !same::are_of_one_kind(&before.node, &after.node) {
            return Some(self.replaced(path, before, after));
        }
        let is_changed = match (before.node.directory(), after.node.directory()) {
            (Some(from), Some(to)) => {
                if !same::are_same_names(from, to) {
                    self.here = path.clone();
                    let (before, after) = (Side::of(Some(from)), Side::of(Some(to)));
                    self.levels.push(Level { before, after });
                }
                before.node.mode != after.node.mode
            }
            (Some(_), None) | (None, Some(_)) | (None, None) => true,
        };
        is_changed.then_some(Found { path, before: Some(before), after: Some(after) })
    }

    /// What went and what came in its place, the directory last: what is beneath it follows.
    fn replaced(&mut self, path: SandboxPath, before: Arc<Item>, after: Arc<Item>) -> Found {
        let was_directory = before.node.directory().is_some();
        let went = Found { path: path.clone(), before: Some(before), after: None };
        let came = Found { path, before: None, after: Some(after) };
        let (first, second) = if was_directory { (came, went) } else { (went, came) };
        self.second = Some(second);
        first
    }
}

/// The items of one name.
struct Pair {
    before: Option<Arc<Item>>,
    after: Option<Arc<Item>>,
}

impl Level {
    /// The next name that is not in a page that both sides have.
    fn next(&mut self, source: &dyn Source) -> Result<Option<Pair>, Need> {
        self.before.begin(source)?;
        self.after.begin(source)?;
        loop {
            match compared(self.before.next().as_ref(), self.after.next().as_ref()) {
                Move::End => return Ok(None),
                Move::Pass => {
                    self.before.pass();
                    self.after.pass();
                }
                // When the other page must be fetched, this one is open already, which is no
                // matter: the other is then the higher one.
                Move::Open { before, after } => {
                    if before {
                        self.before.open(source)?;
                    }
                    if after {
                        self.after.open(source)?;
                    }
                }
                Move::Take { before, after } => {
                    let before = before.then(|| self.before.take()).flatten();
                    let after = after.then(|| self.after.take()).flatten();
                    return Ok(Some(Pair { before, after }));
                }
            }
        }
    }
}

/// What to do with what is next on both sides.
enum Move {
    /// Nothing is left.
    End,
    /// Both have the same page.
    Pass,
    /// Look into pages.
    Open { before: bool, after: bool },
    /// Take the items that have the smallest name.
    Take { before: bool, after: bool },
}

/// Page boundaries depend on names alone. So a page that both sides have begins with the same name
/// and has the same level on both, and is passed whole if only the side that is behind, or above,
/// is looked into.
fn compared(before: Option<&Next<'_>>, after: Option<&Next<'_>>) -> Move {
    let (before, after) = match (before, after) {
        (None, None) => return Move::End,
        (Some(Next::Page(..)), None) => return Move::Open { before: true, after: false },
        (None, Some(Next::Page(..))) => return Move::Open { before: false, after: true },
        (Some(Next::Item(_)), None) => return Move::Take { before: true, after: false },
        (None, Some(Next::Item(_))) => return Move::Take { before: false, after: true },
        (Some(before), Some(after)) => (before, after),
    };
    if let (Next::Page(one, _), Next::Page(other, _)) = (before, after)
        && one.link.is_same(&other.link)
    {
        return Move::Pass;
    }
    let order = before.first().cmp(after.first()).then(after.level().cmp(&before.level()));
    let (is_before, is_after) = (order != Ordering::Greater, order != Ordering::Less);
    match (before, after) {
        (Next::Item(_), Next::Item(_)) => Move::Take { before: is_before, after: is_after },
        (Next::Item(_), Next::Page(..)) if is_before => Move::Take { before: true, after: false },
        (Next::Page(..), Next::Item(_)) if is_after => Move::Take { before: false, after: true },
        (Next::Page(..), _) | (_, Next::Page(..)) => {
            Move::Open { before: is_before, after: is_after }
        }
    }
}

/// Where a walk is within a directory of one tree.
#[derive(Debug)]
struct Side {
    /// The topmost page, until it was looked into.
    top: Option<Link<Page>>,
    way: Vec<(Arc<Page>, usize)>,
}

/// What is next in a directory: a name, or a page of names.
enum Next<'a> {
    Page(&'a Child, u8),
    Item(&'a Arc<Item>),
}

impl Next<'_> {
    fn first(&self) -> &str {
        match self {
            Self::Page(child, _) => &child.first,
            Self::Item(item) => &item.name,
        }
    }

    /// How far above the names it is.
    fn level(&self) -> u8 {
        match self {
            Self::Page(_, level) => level + 1,
            Self::Item(_) => 0,
        }
    }
}

impl Side {
    fn of(dir: Option<&Directory>) -> Self {
        Self { top: dir.and_then(|dir| dir.top.clone()), way: Vec::new() }
    }

    fn begin(&mut self, source: &dyn Source) -> Result<(), Need> {
        if let Some(top) = &self.top {
            self.way.push((source.page(top)?, 0));
            self.top = None;
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Next<'_>> {
        while self.way.last().is_some_and(|(page, at)| *at >= page.len()) {
            self.way.pop();
        }
        let (page, at) = self.way.last()?;
        match &**page {
            Page::Leaf(items) => items.get(*at).map(Next::Item),
            Page::Inner { level, children } => {
                children.get(*at).map(|child| Next::Page(child, level.saturating_sub(1)))
            }
        }
    }

    fn pass(&mut self) {
        if let Some((_, at)) = self.way.last_mut() {
            *at += 1;
        }
    }

    fn open(&mut self, source: &dyn Source) -> Result<(), Need> {
        let Some(Next::Page(child, _)) = self.next() else { return Ok(()) };
        let page = source.page(&child.link)?;
        self.pass();
        self.way.push((page, 0));
        Ok(())
    }

    fn take(&mut self) -> Option<Arc<Item>> {
        let Some(Next::Item(item)) = self.next() else { return None };
        let item = Arc::clone(item);
        self.pass();
        Some(item)
    }
}
