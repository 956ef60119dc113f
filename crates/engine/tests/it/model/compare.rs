//! One sequence on a real tree and on the reference, compared after every step.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt as _;
use sandkeep_engine::{
    Entry, FileSystem, If, Limits, Links, OpenFile, Page, Result, SandboxId, SandboxPath,
    SnapshotId, Span, Step, Usage, Version, VirtualFs, WriteMode,
};

use super::changes;
use super::home::Home;
use super::operation::{Change, Guess, Operation};
use super::reference::{Belief, Kind, Outcome, Reference, Thing};
use crate::contents::{Node, at, contents, read};

/// A real tree and the reference, with what is open and kept of both.
pub(super) struct Pair<'a> {
    pub(super) home: &'a mut Home,
    id: SandboxId,
    /// None while the store is closed.
    files: Option<VirtualFs>,
    pub(super) reference: Reference,
    pub(super) handles: [Option<(Arc<dyn OpenFile>, u64, bool)>; 2],
    pub(super) snapshots: [Option<Reference>; 2],
    pub(super) versions: Versions,
}

/// What a store must hold of a tree, as the reference says it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) reference: Reference,
    pub(super) snapshots: [Option<Reference>; 2],
}

impl Default for Kept {
    fn default() -> Self {
        Self { reference: Reference::new(Limits::default()), snapshots: [None, None] }
    }
}

impl Kept {
    /// Whether a tree looks like this.
    pub(super) async fn is_in(&self, files: &VirtualFs) -> bool {
        let held = contents(files).await;
        let is_same = |(path, node): (&SandboxPath, &Node)| {
            self.reference.at(path.as_str()).is_some_and(|thing| thing.is(node))
        };
        let snapshots = files.snapshots().unwrap();
        for (slot, kept) in self.snapshots.iter().enumerate() {
            if snapshots.stat(&snapshot_id(slot)).await.is_ok() != kept.is_some() {
                return false;
            }
        }
        // The root is a path of the reference alone.
        held.len() + 1 == self.reference.paths.len()
            && held.iter().all(is_same)
            && files.limits() == self.reference.limits
    }
}

/// Which version of the real tree is which of the reference's.
#[derive(Debug, Default)]
pub(super) struct Versions {
    real: HashMap<u64, Version>,
    ours: HashMap<String, u64>,
}

impl Versions {
    /// Notes that two versions are the same; says whether that is new.
    fn note(&mut self, ours: u64, real: &Version) -> bool {
        let known = self.real.insert(ours, real.clone());
        assert!(known.as_ref().is_none_or(|known| known == real), "a version changed by itself");
        let other = self.ours.insert(real.as_str().to_owned(), ours);
        assert!(other.is_none_or(|other| other == ours), "two states have the version {real}");
        known.is_none()
    }
}

impl<'a> Pair<'a> {
    /// An empty tree.
    pub(super) async fn new(home: &'a mut Home) -> Self {
        let id = home.fresh_id();
        Self::named(home, id).await
    }

    /// An empty tree in a sandbox of this name.
    pub(super) async fn named(home: &'a mut Home, id: SandboxId) -> Self {
        let files = home.fresh(&id).await;
        Self::of(home, id, files, Kept::default())
    }

    /// A tree that exists, which must be what was kept of it.
    pub(super) async fn found(home: &'a mut Home, id: SandboxId, kept: Kept) -> Self {
        let files = home.sandbox(&id).await;
        let mut pair = Self::of(home, id, files, kept);
        pair.check().await;
        pair.check_all().await;
        pair
    }

    fn of(home: &'a mut Home, id: SandboxId, files: VirtualFs, kept: Kept) -> Self {
        let (files, handles, versions) = (Some(files), [None, None], Versions::default());
        let Kept { reference, snapshots } = kept;
        Self { home, id, files, reference, handles, snapshots, versions }
    }

    /// What outlives the process: all but what is open.
    pub(super) fn kept(&self) -> Kept {
        Kept { reference: self.reference.clone(), snapshots: self.snapshots.clone() }
    }

    pub(super) fn files(&self) -> &VirtualFs {
        self.files.as_ref().unwrap()
    }

    /// Takes the tree away.
    pub(super) async fn end(self) {
        self.home.forget(&self.id).await;
    }

    /// Does one operation on both; what they answer must be the same.
    pub(super) async fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Change(change) => self.change(change).await,
            Operation::Batch(changes) => self.batch(changes).await,
            Operation::SetLimits(limits) => {
                self.files().set_limits(*limits).await.unwrap();
                self.reference.limits = *limits;
            }
            Operation::Reopen => {
                self.handles = [None, None];
                self.files = None;
                self.files = Some(self.home.reopened(&self.id).await);
            }
            Operation::Stat { .. }
            | Operation::List { .. }
            | Operation::Read { .. }
            | Operation::ReadLink { .. }
            | Operation::Pack { .. } => self.look(operation).await,
            Operation::Open { .. }
            | Operation::ReadAt { .. }
            | Operation::WriteAt { .. }
            | Operation::SetLen { .. }
            | Operation::Close { .. } => self.handle(operation).await,
            Operation::Snapshot { .. }
            | Operation::Restore { .. }
            | Operation::Forget { .. }
            | Operation::Fork { .. } => self.snapshot(operation).await,
            Operation::Unpack { path, files } => {
                let files: BTreeMap<_, _> =
                    files.iter().map(|(path, bytes)| (path.clone(), bytes.bytes())).collect();
                self.unpack(path, &files).await;
            }
        }
    }

    async fn change(&mut self, change: &Change) {
        // A body that is too long is refused while it comes, whatever else is wrong.
        let body = if let Change::Write { content, .. } = change { content.len() } else { 0 };
        let step = self.real(change);
        let checked = self.reference.check_file_size(0, body);
        let ours = checked.and_then(|()| self.step(std::slice::from_ref(change)));
        let real = changes::single(self.files(), step).await;
        let ours = ours.map(|mut things| things.remove(0));
        self.assert_same_entries(real.map(|entry| vec![entry]), ours.map(|thing| vec![thing]));
    }

    async fn batch(&mut self, changes: &[Change]) {
        let steps: Vec<Step> = changes.iter().map(|change| self.real(change)).collect();
        let ours = self.step(changes);
        let real = self.files().batch(steps).await;
        self.assert_same_entries(real, ours);
    }

    /// What both must say is at the paths of some steps.
    fn assert_same_entries(
        &self,
        real: Result<Vec<Option<Entry>>>,
        ours: Outcome<Vec<Option<Thing>>>,
    ) {
        let Some((real, ours)) = same_outcome(real, ours) else { return };
        assert_eq!(real.len(), ours.len());
        for (real, ours) in real.iter().zip(&ours) {
            match (real, ours) {
                (Some(entry), Some(thing)) => assert_same(entry, thing),
                (None, None) => {}
                _ => panic!("{real:?} is there instead of {ours:?}"),
            }
        }
    }

    /// Takes the reference through some changes, all or none.
    fn step(&mut self, changes: &[Change]) -> Outcome<Vec<Option<Thing>>> {
        let beliefs: Vec<Belief> = changes.iter().map(|change| self.belief(change)).collect();
        self.reference.step(|tree| {
            let both = changes.iter().zip(&beliefs);
            both.map(|(change, belief)| changes::applied(tree, change, belief)).collect()
        })
    }

    /// What the caller of a change believes, as the reference says it.
    fn belief(&self, change: &Change) -> Belief {
        let (path, guess, follow) = match change {
            Change::Write { path, guess, mode, .. } => {
                (path, *guess, *mode != WriteMode::CreateNew)
            }
            Change::Remove { path, guess, .. } => (path, *guess, false),
            Change::Check { path, guess } => (path, *guess, true),
            Change::CreateDir { .. }
            | Change::Symlink { .. }
            | Change::Rename { .. }
            | Change::Copy { .. }
            | Change::SetMetadata { .. } => return Belief::Nothing,
        };
        let place = self.reference.place(path, follow).ok();
        let thing = place.and_then(|place| place.thing).map(|number| self.reference.thing(number));
        match (guess, thing) {
            (Guess::Nothing, _) => Belief::Nothing,
            (Guess::Missing, _) => Belief::Missing,
            // What the version of a directory means is its own affair.
            (Guess::Current, Some(thing)) if thing.kind != Kind::Directory => {
                Belief::Matches(Some(thing.version))
            }
            (Guess::NotCurrent, Some(thing)) if thing.kind != Kind::Directory => {
                Belief::Differs(Some(thing.version))
            }
            (Guess::Exists | Guess::Current, _) => Belief::Exists,
            (Guess::Wrong, _) => Belief::Matches(None),
            (Guess::NotCurrent, _) => Belief::Differs(None),
        }
    }

    /// A change as a step of a real batch.
    fn real(&self, change: &Change) -> Step {
        let version = |ours: &Option<u64>| {
            vec![match ours {
                Some(ours) => self.versions.real[ours].clone(),
                None => Version::new("nothing"),
            }]
        };
        let expected = match self.belief(change) {
            Belief::Nothing => If::Always,
            Belief::Exists => If::Exists,
            Belief::Missing => If::Missing,
            Belief::Matches(ours) => If::Matches(version(&ours)),
            Belief::Differs(ours) => If::Differs(version(&ours)),
        };
        changes::step(change, expected)
    }

    /// Holds that both trees are the same, and all that is kept of them.
    pub(super) async fn check(&mut self) {
        let files = self.files().clone();
        check_tree(&files, &self.reference, &mut self.versions).await;
        assert_eq!(self.files().limits(), self.reference.limits);
    }

    /// The same for every byte, for what is open, and for snapshots.
    pub(super) async fn check_all(&mut self) {
        let mut afresh = Versions::default();
        check_tree(self.files(), &self.reference, &mut afresh).await;
        for (handle, file, _) in self.handles.iter().flatten() {
            let bytes = self.reference.file_bytes(*file);
            assert_eq!(handle.stat().await.unwrap().size, bytes.len() as u64);
            assert!(handle.read_at(0, 1 << 20).await.unwrap() == bytes, "an open file differs");
        }
        for (slot, kept) in self.snapshots.iter().enumerate() {
            let Some(kept) = kept else { continue };
            let tree = self.files().snapshots().unwrap().open(&snapshot_id(slot)).await.unwrap();
            check_tree(&*tree, kept, &mut afresh).await;
        }
    }
}

pub(super) fn snapshot_id(slot: usize) -> SnapshotId {
    SnapshotId::parse(&format!("s{slot}")).unwrap()
}

/// Holds that both succeeded, and gives what they gave, or that both failed for the same reason.
#[track_caller]
pub(super) fn same_outcome<R: Debug, O: Debug>(
    real: Result<R>,
    ours: Outcome<O>,
) -> Option<(R, O)> {
    match (real, ours) {
        (Ok(real), Ok(ours)) => Some((real, ours)),
        (Err(real), Err(ours)) => {
            assert_eq!(real.kind(), ours, "{real}");
            None
        }
        (real, ours) => panic!("{real:?} instead of {ours:?}"),
    }
}

pub(super) fn assert_same(entry: &Entry, thing: &Thing) {
    assert_eq!(entry.kind, thing.kind.entry_kind(), "{entry:?}");
    assert_eq!(entry.size, thing.kind.size(), "{entry:?}");
    assert_eq!(entry.mode, Some(thing.mode), "{entry:?}");
    if let (Kind::File(_), Some(modified)) = (&thing.kind, thing.modified) {
        assert_eq!(entry.modified, Some(modified), "{entry:?}");
    }
}

/// Compares two trees name by name. What has a version that was seen is not read again.
pub(super) async fn check_tree(
    files: &dyn FileSystem,
    reference: &Reference,
    versions: &mut Versions,
) {
    let usage: Usage = files.usage().await.unwrap();
    assert_eq!(usage, reference.usage());
    let dirs = reference.paths.keys().filter(|path| reference.is_directory(path));
    for dir in dirs {
        let path = at(if dir.is_empty() { "/" } else { dir });
        let listed: Vec<Entry> =
            files.list(&path, Page::default()).await.unwrap().try_collect().await.unwrap();
        let names: Vec<&str> = listed.iter().map(|entry| entry.path.name()).collect();
        assert_eq!(names, reference.names(dir), "in {path}");
        for entry in &listed {
            let thing = reference.at(entry.path.as_str()).unwrap();
            assert_same(entry, thing);
            if thing.kind == Kind::Directory {
                continue;
            }
            if versions.note(thing.version, entry.version.as_ref().unwrap()) {
                check_content(files, entry, thing).await;
            }
        }
    }
}

async fn check_content(files: &dyn FileSystem, entry: &Entry, thing: &Thing) {
    match &thing.kind {
        Kind::File(bytes) => {
            let held: Bytes = read(files, &entry.path).await;
            assert!(held == bytes, "{} holds something else", entry.path);
            let content = files.read(&entry.path, Span::Whole).await.unwrap();
            assert_eq!(content.range, 0..bytes.len() as u64);
        }
        Kind::Link(target) => assert_eq!(files.read_link(&entry.path).await.unwrap(), *target),
        Kind::Directory => {}
    }
    assert_eq!(files.stat(&entry.path, Links::Keep).await.unwrap(), *entry);
}
