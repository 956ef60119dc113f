//! Which of what went is the same as something that came.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::same;
use super::walk::Found;
use crate::SandboxPath;
use crate::tree::{Cursor, Item, Need, Source};

/// How many directories are looked ahead when something must be fetched.
const FORESEEN: usize = 256;

/// What has another path now.
#[derive(Debug, Default)]
pub(super) struct Renames {
    /// Where it is now, and where and what it was.
    to: HashMap<SandboxPath, (SandboxPath, Arc<Item>)>,
    from: HashSet<SandboxPath>,
}

impl Renames {
    /// Where and what it was that is at a path now.
    pub(super) fn source_of(&self, path: &SandboxPath) -> Option<&(SandboxPath, Arc<Item>)> {
        self.to.get(path)
    }

    /// Whether what was at a path is elsewhere now.
    pub(super) fn is_source(&self, path: &SandboxPath) -> bool {
        self.from.contains(path)
    }
}

/// A search among what came and what went. Directories that are not the same as any other are
/// looked into, the outermost first, while there is room.
#[derive(Debug)]
pub(super) struct Search {
    came: Candidates,
    went: Candidates,
    /// Directories whose names were not all looked at.
    todo: VecDeque<Inside>,
    room: usize,
    renames: Renames,
}

#[derive(Debug)]
struct Inside {
    side: Side,
    dir: usize,
    cursor: Cursor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Came,
    Went,
}

impl Search {
    /// Among what was found different.
    pub(super) fn among<'a>(found: impl Iterator<Item = &'a Found> + Clone, room: usize) -> Self {
        let (came, went) = (Candidates::default(), Candidates::default());
        let (todo, renames) = (VecDeque::new(), Renames::default());
        let mut search = Self { came, went, todo, room, renames };
        let came = found.clone().filter(|found| found.before.is_none());
        let went = found.filter(|found| found.after.is_none());
        // What came cannot have been anywhere before, nor what went be anywhere now.
        if came.clone().next().is_none() || went.clone().next().is_none() {
            return search;
        }
        for found in went {
            search.consider(Side::Went, None, &found.path, found.before.as_ref());
        }
        for found in came {
            search.consider(Side::Came, None, &found.path, found.after.as_ref());
        }
        search
    }

    pub(super) fn is_done(&self) -> bool {
        self.todo.is_empty() || self.room == 0
    }

    /// Looks at so many more names.
    pub(super) fn go_on(&mut self, names: usize, source: &dyn Source) -> Result<(), Need> {
        for _ in 0..names {
            if self.room == 0 {
                break;
            }
            let Some(Inside { side, dir, cursor }) = self.todo.front_mut() else { break };
            let (side, dir) = (*side, *dir);
            let candidates = match side {
                Side::Came => &self.came,
                Side::Went => &self.went,
            };
            let is_open = !is_within_taken(&candidates.all, dir);
            let next = is_open.then(|| cursor.next(source)).transpose();
            let next = next.inspect_err(|_| self.foresee(source));
            let Some(item) = next?.flatten() else {
                self.todo.pop_front();
                continue;
            };
            if let Some(path) = candidates.all.get(dir).map(|dir| dir.path.child(&item.name)) {
                self.consider(side, Some(dir), &path, Some(&item));
            }
        }
        Ok(())
    }

    /// Says what the directories that are next will need.
    fn foresee(&self, source: &dyn Source) {
        let next = self.todo.iter().skip(1).take(FORESEEN);
        source.foresee(&mut next.flat_map(|inside| inside.cursor.ahead(source)));
    }

    pub(super) fn into_renames(self) -> Renames {
        self.renames
    }

    fn consider(
        &mut self,
        side: Side,
        parent: Option<usize>,
        path: &SandboxPath,
        item: Option<&Arc<Item>>,
    ) {
        let Some(item) = item else { return };
        self.room = self.room.saturating_sub(size_of::<Candidate>() + path.as_str().len());
        let (own, others) = match side {
            Side::Came => (&mut self.came, &mut self.went),
            Side::Went => (&mut self.went, &mut self.came),
        };
        let mark = same::mark(&item.node);
        let own_index = own.add(Candidate::new(path, item, parent));
        match others.find(mark, item) {
            Some(partner) => {
                own.take(own_index);
                others.take(partner);
                let (came, went) = match side {
                    Side::Came => (own_index, partner),
                    Side::Went => (partner, own_index),
                };
                self.note(came, went);
            }
            None => {
                own.offer(mark, own_index);
                if let Some(dir) = item.node.directory() {
                    let cursor = Cursor::after(dir, None);
                    self.todo.push_back(Inside { side, dir: own_index, cursor });
                }
            }
        }
    }

    fn note(&mut self, came: usize, went: usize) {
        let (Some(came), Some(went)) = (self.came.all.get(came), self.went.all.get(went)) else {
            return;
        };
        self.renames.from.insert(went.path.clone());
        self.renames.to.insert(came.path.clone(), (went.path.clone(), Arc::clone(&went.item)));
    }
}

/// What came, or what went, as far as it was looked at.
#[derive(Debug, Default)]
struct Candidates {
    all: Vec<Candidate>,
    by_mark: HashMap<u64, VecDeque<usize>>,
}

#[derive(Debug)]
struct Candidate {
    path: SandboxPath,
    item: Arc<Item>,
    /// The directory that it is in, if that came or went too.
    parent: Option<usize>,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing is the same as far as is known.
    Free,
    /// Something beneath it is a rename of its own.
    Broken,
    /// It is a rename, with all that is beneath it.
    Taken,
}

impl Candidate {
    fn new(path: &SandboxPath, item: &Arc<Item>, parent: Option<usize>) -> Self {
        Self { path: path.clone(), item: Arc::clone(item), parent, fate: Fate::Free }
    }
}

impl Candidates {
    fn add(&mut self, candidate: Candidate) -> usize {
        self.all.push(candidate);
        self.all.len() - 1
    }

    /// Lets others find a candidate.
    fn offer(&mut self, mark: u64, index: usize) {
        self.by_mark.entry(mark).or_default().push_back(index);
    }

    /// The first that is the same as an item and may be a rename. Those that may not never will,
    /// and are forgotten on the way.
    fn find(&mut self, mark: u64, item: &Item) -> Option<usize> {
        let offered = self.by_mark.get_mut(&mark)?;
        loop {
            let index = *offered.front()?;
            let candidate = self.all.get(index)?;
            let is_free = candidate.fate == Fate::Free && !is_within_taken(&self.all, index);
            if is_free {
                return same::are_same(&candidate.item.node, &item.node).then_some(index);
            }
            offered.pop_front();
        }
    }

    fn take(&mut self, index: usize) {
        let mut next = Some(index);
        let mut fate = Fate::Taken;
        while let Some(candidate) = next.and_then(|index| self.all.get_mut(index)) {
            candidate.fate = fate;
            fate = Fate::Broken;
            next = candidate.parent;
        }
    }
}

/// Whether a candidate, or a directory above it, is a rename.
fn is_within_taken(all: &[Candidate], index: usize) -> bool {
    let mut next = all.get(index);
    while let Some(candidate) = next {
        if candidate.fate == Fate::Taken {
            return true;
        }
        next = candidate.parent.and_then(|parent| all.get(parent));
    }
    false
}
