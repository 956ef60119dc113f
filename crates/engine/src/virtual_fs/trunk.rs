//! One sandbox's tree: its current state, and the way to the next one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use storage::{Ref, RefKey, Token};

use crate::garbage::drop_later;
use crate::snapshot::{Record, SnapshotId};
use crate::tree::{Draft, Source, Stamp, Stop};
use crate::{Error, ErrorKind, Result, SandboxId, SandboxPath, UnixTime};

use super::change::{Applied, Change, apply, check_limits, create_in_place, on};
use super::current::Current;
use super::fresh::Freshness;
use super::handles::Handles;
use super::lease::Distrust;
use super::meaning::meaning;
use super::objects::damaged;
use super::pins::Hold;
use super::queue::Queue;
use super::root::Root;
use super::shelf::Shelf;
use super::watching::Watching;

/// Whoever makes a tree so many nodes smaller does not wait until the last of them is gone.
const MANY: u64 = 256;

/// One sandbox's tree.
#[derive(Debug)]
pub(crate) struct Trunk {
    pub(crate) id: SandboxId,
    pub(crate) shelf: Arc<Shelf>,
    pub(super) state: Current,
    removed: AtomicBool,
    pub(super) handles: Handles,
    pub(super) queue: Queue,
    pub(super) fresh: Freshness,
    pub(super) watching: Watching,
    /// Another server that asked for our changes and could not be reached.
    pub(super) distrusted: Mutex<Option<Distrust>>,
    /// Tells our stamps from those of others who opened the same tree.
    salt: u32,
    /// Held while a tree in memory changes.
    turn: Mutex<()>,
    /// The snapshots of a tree in memory.
    pub(super) kept: Mutex<BTreeMap<SnapshotId, Arc<Record>>>,
}

/// A state of a tree. It never changes while anybody holds it, who can read it for as long as he
/// likes.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) root: Root,
    /// What the store calls this state; none for a tree in memory.
    pub(crate) token: Option<Token>,
}

impl Trunk {
    pub(crate) fn new(id: SandboxId, shelf: Arc<Shelf>, state: Arc<State>) -> Self {
        Self {
            id,
            shelf,
            state: Current::new(state),
            removed: AtomicBool::new(false),
            handles: Handles::default(),
            queue: Queue::default(),
            fresh: Freshness::now(),
            watching: Watching::new(),
            distrusted: Mutex::default(),
            salt: rand::random(),
            turn: Mutex::new(()),
            kept: Mutex::default(),
        }
    }

    /// The state as it is now.
    pub(crate) fn state(&self) -> Arc<State> {
        self.state.take()
    }

    pub(crate) fn ref_key(&self) -> Result<RefKey> {
        super::shelf::root_key(&self.id)
    }

    /// Makes changes, all of them or none. They are durable when this returns, as far as the store
    /// is.
    pub(crate) async fn commit(self: &Arc<Self>, changes: Vec<Change>) -> Result<Vec<Applied>> {
        self.commit_holding(changes, None).await
    }

    /// Makes one change.
    pub(crate) async fn change(self: &Arc<Self>, change: Change) -> Result<Applied> {
        self.change_holding(change, None).await
    }

    /// Makes one change that needs more in the store than the tree leads to.
    pub(crate) async fn change_holding(
        self: &Arc<Self>,
        change: Change,
        hold: Option<Hold>,
    ) -> Result<Applied> {
        if let Some(applied) = self.create_here(&change) {
            return Ok(applied);
        }
        let applied = Box::pin(self.commit_holding(vec![change], hold)).await?;
        applied.into_iter().next().ok_or_else(|| damaged("a change gave no answer"))
    }

    async fn commit_holding(
        self: &Arc<Self>,
        changes: Vec<Change>,
        hold: Option<Hold>,
    ) -> Result<Vec<Applied>> {
        self.check_there()?;
        if self.shelf.is_resident() {
            self.commit_here(&changes)
        } else {
            self.submit(changes, hold).await
        }
    }

    /// Lets everything that is asked of the tree be refused from now on.
    pub(super) fn remove(&self) {
        self.removed.store(true, Ordering::Relaxed);
        self.watching.note();
    }

    pub(super) fn check_there(&self) -> Result<()> {
        if self.removed.load(Ordering::Relaxed) { Err(removed()) } else { Ok(()) }
    }

    /// Looks whether the sandbox is still there, wherever it may have been removed.
    pub(super) async fn check_stored(&self) -> Result<()> {
        self.check_there()?;
        let stored = self.shelf.cache.storage().load(&self.ref_key()?).await.map_err(meaning)?;
        self.stored_root(stored.as_ref()).map(drop)
    }

    /// The root that is stored for this sandbox, whose id another one may have by now.
    pub(super) fn stored_root(&self, stored: Option<&Ref>) -> Result<Root> {
        let root = stored.map(|stored| Root::decode(&stored.value)).transpose();
        let root = root.map_err(|err| damaged(err.0))?;
        let ours = self.state.look().root.identity();
        root.filter(|root| root.identity() == ours).ok_or_else(|| {
            self.remove();
            removed()
        })
    }

    /// Makes a new file of a tree in memory without copying a page, if nobody else holds the tree
    /// and nothing stands in the way; otherwise does nothing.
    fn create_here(&self, change: &Change) -> Option<Applied> {
        let is_here = self.shelf.is_resident() && self.check_there().is_ok();
        if !is_here || !change.is_small_new_file() {
            return None;
        }
        let turn = self.turn.lock();
        let applied = self.state.change(|State { root, .. }| {
            let (now, stamp) = self.stamp(root.clock);
            let applied = create_in_place(root, change, now, stamp)?;
            (root.clock, root.sequence) = (stamp.time, root.sequence + 1);
            Some(applied)
        });
        drop(turn);
        if let Some(applied) = &applied {
            self.note_written(std::slice::from_ref(applied), 0);
            self.watching.note();
        }
        applied
    }

    /// Notes how much was written to a tree in memory that somebody watches.
    fn note_written(&self, applied: &[Applied], grown: u64) {
        if self.watching.is_on() {
            let sizes = applied.iter().filter_map(|applied| applied.entry.as_ref());
            let written = sizes.map(|entry| entry.size).fold(0, u64::saturating_add);
            self.watching.note_written(written.max(grown));
        }
    }

    /// Makes changes of a tree that is wholly in memory; nobody has to be waited for.
    fn commit_here(&self, changes: &[Change]) -> Result<Vec<Applied>> {
        let turn = self.turn.lock();
        let old = self.state();
        let view = self.shelf.cache.view();
        let (root, mut applied) = match self.next(&old.root, changes, &view) {
            Ok(next) => next,
            Err(Stop::Failed(err)) => return Err(err),
            Err(Stop::Need(_)) => return Err(damaged("a tree in memory has a page elsewhere")),
        };
        let (before, after) = (old.root.sum(), root.sum());
        let removed = before.nodes().saturating_sub(after.nodes());
        let published = self.publish(&Arc::new(State { root, token: None }), &applied, &view);
        drop(turn);
        published.map_err(|_| damaged("a tree in memory has a page elsewhere"))?;
        self.note_written(&applied, after.bytes.saturating_sub(before.bytes));
        if removed > MANY {
            applied.iter_mut().filter_map(|applied| applied.trees.take()).for_each(drop_later);
            drop_later(old);
        }
        Ok(applied)
    }

    /// The root after these changes.
    pub(super) fn next(
        &self,
        old: &Root,
        changes: &[Change],
        source: &dyn Source,
    ) -> Result<(Root, Vec<Applied>), Stop> {
        let (now, stamp) = self.stamp(old.clock);
        let heights = old.family.heights;
        let (root, floor) = (old.tree.clone(), SandboxPath::root());
        let mut draft = Draft { root, heights, source, now, stamp, floor };
        let Root { family, created, mut limits, .. } = *old;
        let mut applied = Vec::with_capacity(changes.len());
        for change in changes {
            if let Change::SetLimits(new) = change {
                limits = *new;
            }
            let outcome = apply(&mut draft, change, &limits);
            applied.push(outcome.map_err(|stop| match change.path() {
                Some(path) => on(stop, path),
                None => stop,
            })?);
            // Two files that one batch made may change places later.
            draft.stamp.time = draft.stamp.time.saturating_add(1);
        }
        check_limits(&limits, &old.sum(), &draft.sum())?;
        let Draft { root: tree, stamp, .. } = draft;
        let sequence = old.sequence + 1;
        let (clock, writers, lease) = (stamp.time, old.writers.clone(), old.lease.clone());
        let root = Root { family, sequence, clock, created, limits, writers, lease, tree };
        Ok((root, applied))
    }

    /// The time, and a stamp that nothing bears yet.
    fn stamp(&self, clock: u64) -> (UnixTime, Stamp) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanoseconds = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let time = nanoseconds.max(clock.saturating_add(1));
        let now = UnixTime {
            seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: since.subsec_nanos(),
        };
        (now, Stamp { time, salt: self.salt })
    }

    /// A stamp for nodes that are made outside of a commit: no commit bears its salt.
    pub(crate) fn own_stamp(&self) -> Stamp {
        let (_, Stamp { time, .. }) = self.stamp(0);
        Stamp { time, salt: rand::random() }
    }

    /// Does work that reads a state, fetching what it needs.
    pub(crate) async fn read<T>(
        &self,
        state: &State,
        mut work: impl FnMut(&Root, &dyn Source) -> Result<T, Stop>,
    ) -> Result<T> {
        self.check_there()?;
        let mut view = self.shelf.cache.view();
        loop {
            match work(&state.root, &view) {
                Ok(outcome) => return Ok(outcome),
                Err(Stop::Failed(err)) => return Err(err),
                Err(Stop::Need(need)) => view.fetch(&state.root.family, need).await?,
            }
        }
    }
}

/// A sandbox that is no longer there.
fn removed() -> Error {
    Error::new(ErrorKind::Unavailable, "the sandbox was removed from its store")
}
