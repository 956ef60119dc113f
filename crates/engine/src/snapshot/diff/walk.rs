//! Two trees side by side: what is not the same in both, in the order of the paths.

use std::sync::Arc;

use super::same;
use crate::SandboxPath;
use crate::tree::{Ahead, Directory, Item, Need, Node, Pair, Pairs, Source};

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

    /// The names in the directory that came or went.
    fn beneath(&self) -> Option<Pairs> {
        let (before, after) = match (&self.before, &self.after) {
            (Some(item), None) => (item.node.directory()?, &Directory::default()),
            (None, Some(item)) => (&Directory::default(), item.node.directory()?),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some(Pairs::of(before, after))
    }

    /// The pages of the directory that came or went, as far as they are not at hand.
    pub(super) fn ahead<'a>(&self, source: &'a dyn Source) -> Option<Ahead<'a>> {
        Some(Ahead::of([&self.beneath()?].into_iter(), beneath_all, source))
    }
}

/// A walk through two trees. It goes into what came or went only when told to.
///
/// It stays where it is when a page must be fetched, and does not recurse: a tree may be deeper
/// than the stack.
#[derive(Debug)]
pub(super) struct Walk {
    levels: Vec<Pairs>,
    /// The directory of the innermost level.
    here: SandboxPath,
    /// Found together with what was given last.
    second: Option<Found>,
    /// What it will go into.
    beneath: fn(&Pair) -> Option<Pairs>,
}

impl Walk {
    /// Through the trees of two directories, which are at the same path.
    pub(super) fn new(here: SandboxPath, before: &Node, after: &Node) -> Self {
        let root = |node: &Node| Some(Arc::new(Item { name: "".into(), node: node.clone() }));
        let (levels, beneath) = (Vec::new(), beneath_both as fn(&Pair) -> Option<Pairs>);
        let mut walk = Self { levels, here: here.clone(), second: None, beneath };
        let (Some(from), Some(to)) = (before.directory(), after.directory()) else { return walk };
        if before.mode != after.mode {
            walk.second = Some(Found { path: here, before: root(before), after: root(after) });
        }
        walk.levels.push(Pairs::of(from, to));
        walk
    }

    /// Through what is beneath a directory that came or went.
    pub(super) fn beneath(found: &Found) -> Option<Self> {
        let levels = vec![found.beneath()?];
        Some(Self { levels, here: found.path.clone(), second: None, beneath: beneath_all })
    }

    /// Goes into the directory that was given last and came or went.
    pub(super) fn enter(&mut self, found: &Found) {
        if let Some(beneath) = found.beneath() {
            self.here = found.path.clone();
            self.levels.push(beneath);
        }
    }

    /// The next thing that differs.
    pub(super) fn next(&mut self, source: &dyn Source) -> Result<Option<Found>, Need> {
        loop {
            if let Some(found) = self.second.take() {
                return Ok(Some(found));
            }
            let Some(level) = self.levels.last_mut() else { return Ok(None) };
            let next = level.next(source).inspect_err(|_| {
                source.foresee(&mut Ahead::of(self.levels.iter(), self.beneath, source));
            });
            let found = match next? {
                Some(Pair::Old(item)) => {
                    let path = self.here.child(&item.name);
                    Some(Found { path, before: Some(item), after: None })
                }
                Some(Pair::New(item)) => {
                    let path = self.here.child(&item.name);
                    Some(Found { path, before: None, after: Some(item) })
                }
                Some(Pair::Both(before, after)) => self.compare(before, after),
                None => {
                    self.levels.pop();
                    self.here = self.here.parent().unwrap_or_else(SandboxPath::root);
                    None
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    fn compare(&mut self, before: Arc<Item>, after: Arc<Item>) -> Option<Found> {
        if same::are_same(&before.node, &after.node) {
            return None;
        }
        let path = self.here.child(&before.name);
        if !same::are_of_one_kind(&before.node, &after.node) {
            return Some(self.replaced(path, before, after));
        }
        let is_changed = match (before.node.directory(), after.node.directory()) {
            (Some(from), Some(to)) => {
                self.here = path.clone();
                self.levels.push(Pairs::of(from, to));
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

/// What is in a directory that both trees have, if it differs.
fn beneath_both(pair: &Pair) -> Option<Pairs> {
    let Pair::Both(before, after) = pair else { return None };
    if same::are_same(&before.node, &after.node) {
        return None;
    }
    Some(Pairs::of(before.node.directory()?, after.node.directory()?))
}

/// The same, and what is in one that only one of them has.
fn beneath_all(pair: &Pair) -> Option<Pairs> {
    match pair {
        Pair::Old(item) => Some(Pairs::of(item.node.directory()?, &Directory::default())),
        Pair::New(item) => Some(Pairs::of(&Directory::default(), item.node.directory()?)),
        Pair::Both(..) => beneath_both(pair),
    }
}
