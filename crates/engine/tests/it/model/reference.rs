//! A tree as simple as can be: a sorted map of paths. It copies whatever it copies, counts whatever
//! it counts, and knows nothing of pages, stores or commits.

mod change;
mod content;
mod place;
mod relocate;

use std::collections::BTreeMap;

use sandkeep_engine::{EntryKind, ErrorKind, Limits, UnixTime, Usage};

use crate::contents::Node;

pub(super) use self::change::Belief;
pub(super) use self::place::Place;
pub(super) use self::relocate::Move;

pub(super) type Outcome<T> = Result<T, ErrorKind>;

/// A tree. Paths are names joined by slashes, each after one, so the root is the empty text.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// Which file, directory or link has which path.
    pub(super) paths: BTreeMap<String, u64>,
    /// All of them, even those without a path, which somebody may have open.
    pub(super) things: BTreeMap<u64, Thing>,
    pub(super) limits: Limits,
    /// Numbers that were given out, to things, to versions and to births.
    given: u64,
    /// All that is made in one step, or one batch, is born at once.
    birth: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Thing {
    pub(super) kind: Kind,
    pub(super) mode: u32,
    /// The time that somebody set; others are not foretold.
    pub(super) modified: Option<UnixTime>,
    pub(super) birth: u64,
    pub(super) version: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File(Vec<u8>),
    Directory,
    Link(String),
}

impl Thing {
    /// Whether it is what was found in a real tree.
    pub(super) fn is(&self, node: &Node) -> bool {
        let content: &[u8] = match &self.kind {
            Kind::File(bytes) => bytes,
            Kind::Link(target) => target.as_bytes(),
            Kind::Directory => &[],
        };
        let was_set = self.modified.filter(|_| matches!(self.kind, Kind::File(_)));
        node.kind == self.kind.entry_kind()
            && node.mode == Some(self.mode)
            && node.content == content
            && was_set.is_none_or(|modified| node.modified == Some(modified))
    }
}

impl Kind {
    pub(super) fn entry_kind(&self) -> EntryKind {
        match self {
            Self::File(_) => EntryKind::File,
            Self::Directory => EntryKind::Directory,
            Self::Link(_) => EntryKind::Symlink,
        }
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::File(bytes) => bytes.len() as u64,
            Self::Directory => 0,
            Self::Link(target) => target.len() as u64,
        }
    }
}

impl Reference {
    pub(super) fn new(limits: Limits) -> Self {
        let mut tree =
            Self { paths: BTreeMap::new(), things: BTreeMap::new(), limits, given: 0, birth: 0 };
        let root = tree.make(Kind::Directory);
        tree.paths.insert(String::new(), root);
        tree
    }

    pub(super) fn next(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// A step that may be several changes: all of them happen, or none.
    pub(super) fn step<T>(&mut self, changes: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let mut tried = self.clone();
        tried.birth = tried.next();
        let outcome = changes(&mut tried).and_then(|done| {
            tried.check_limits(self)?;
            Ok(done)
        });
        // Numbers are never given out twice, not even by steps that failed.
        self.given = tried.given;
        if outcome.is_ok() {
            *self = tried;
        }
        outcome
    }

    pub(super) fn make(&mut self, kind: Kind) -> u64 {
        let mode = match kind {
            Kind::File(_) => 0o644,
            Kind::Directory => 0o755,
            Kind::Link(_) => 0o777,
        };
        let (number, version) = (self.next(), self.next());
        let thing = Thing { kind, mode, modified: None, birth: self.birth, version };
        self.things.insert(number, thing);
        number
    }

    pub(super) fn at(&self, path: &str) -> Option<&Thing> {
        self.things.get(self.paths.get(path)?)
    }

    pub(super) fn is_directory(&self, path: &str) -> bool {
        self.at(path).is_some_and(|thing| thing.kind == Kind::Directory)
    }

    /// A path and everything beneath it.
    pub(super) fn beneath(&self, path: &str) -> BTreeMap<String, u64> {
        let within = |other: &&String| {
            other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let keys = self.paths.keys().filter(within);
        keys.map(|key| (key[path.len()..].to_owned(), self.paths[key])).collect()
    }

    /// The names in a directory, sorted by their bytes.
    pub(super) fn names(&self, dir: &str) -> Vec<String> {
        let all = self.beneath(dir).into_keys();
        let own = all.filter_map(|path| path.strip_prefix('/').map(str::to_owned));
        let mut names: Vec<String> = own.filter(|name| !name.contains('/')).collect();
        names.sort();
        names
    }

    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for number in self.paths.values() {
            match &self.things[number].kind {
                Kind::File(bytes) => {
                    usage.bytes += bytes.len() as u64;
                    usage.files += 1;
                }
                Kind::Link(_) => usage.files += 1,
                Kind::Directory => usage.directories += 1,
            }
        }
        usage
    }

    fn longest(&self) -> u64 {
        self.paths.values().map(|number| self.file_len(*number)).max().unwrap_or_default()
    }

    pub(super) fn file_len(&self, number: u64) -> u64 {
        match &self.things[&number].kind {
            Kind::File(bytes) => bytes.len() as u64,
            Kind::Directory | Kind::Link(_) => 0,
        }
    }

    /// Whatever takes more of something that is over its limit is refused.
    fn check_limits(&self, before: &Self) -> Outcome<()> {
        let over = |before: u64, after: u64, limit: Option<u64>| {
            limit.is_some_and(|limit| after > before && after > limit)
        };
        let (was, is) = (before.usage(), self.usage());
        if over(before.longest(), self.longest(), self.limits.file_size) {
            return Err(ErrorKind::FileTooLarge);
        }
        if over(was.bytes, is.bytes, self.limits.total_size) {
            return Err(ErrorKind::StorageFull);
        }
        if over(was.nodes(), is.nodes(), self.limits.nodes) {
            return Err(ErrorKind::TooManyNodes);
        }
        Ok(())
    }

    /// Refuses a file that does not fit even if nothing else were there.
    pub(super) fn check_room(&self, more: u64) -> Outcome<()> {
        let (Usage { bytes, .. }, nodes) = (self.usage(), self.usage().nodes());
        let over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
        self.check_file_size(0, more)?;
        if over(bytes + more, self.limits.total_size) {
            return Err(ErrorKind::StorageFull);
        }
        if over(nodes, self.limits.nodes) { Err(ErrorKind::TooManyNodes) } else { Ok(()) }
    }

    pub(super) fn check_file_size(&self, before: u64, after: u64) -> Outcome<()> {
        let is_over = self.limits.file_size.is_some_and(|limit| after > before && after > limit);
        if is_over { Err(ErrorKind::FileTooLarge) } else { Ok(()) }
    }
}
