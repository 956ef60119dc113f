//! Watching a virtual tree: whoever watches compares the state that he knows with the current one.
//!
//! - `history`: the states that somebody who was cut off may come back to
//! - `following`: one stream, from state to state
//! - `telling`: two states as notices

mod following;
mod history;
mod telling;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::garbage::drop_later;
use crate::tree::{End, Node, resolve_within};
use crate::watch::{MOST_STREAMS, StateMark, too_many};
use crate::{Error, ErrorKind, Links, NoticeStream, Result, SandboxPath, Watch};

use self::following::Following;
use self::history::History;
use self::telling::Scope;
use super::VirtualFs;
use super::change::not_found;
use super::root::Root;
use super::trunk::{State, Trunk};

/// How long states are remembered after they passed.
const MEMORY: Duration = Duration::from_mins(5);
/// How soon after one state the next is looked at: commits in between are told as one.
const PACE: Duration = Duration::from_millis(50);

/// Who watches a tree, and what they have seen.
#[derive(Debug)]
pub(super) struct Watching {
    /// Counts changes, as long as anybody watches.
    changes: watch::Sender<u64>,
    streams: AtomicUsize,
    history: Mutex<History>,
    /// How many bytes were written to a tree in memory while it had a history.
    written: AtomicU64,
}

impl Watching {
    pub(super) fn new() -> Self {
        Self {
            changes: watch::Sender::new(0),
            streams: AtomicUsize::new(0),
            history: Mutex::default(),
            written: AtomicU64::new(0),
        }
    }

    /// Says that the tree has another state, or none any more. Costs one look when nobody watches.
    pub(super) fn note(&self) {
        if self.changes.receiver_count() > 0 {
            self.changes.send_modify(|count| *count = count.wrapping_add(1));
        }
    }

    /// Notes that so many bytes were written to a tree in memory, where old states keep what new
    /// ones replaced.
    pub(super) fn note_written(&self, bytes: u64) {
        let written = self.written.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
        let forgotten = self.history.lock().outgrow(written);
        if !forgotten.is_empty() {
            drop_later(forgotten);
        }
    }

    /// Whether anybody watches.
    pub(super) fn is_on(&self) -> bool {
        self.changes.receiver_count() > 0
    }

    fn remember(&self, state: &Arc<State>) {
        let written = self.written.load(Ordering::Relaxed);
        let forgotten = self.history.lock().remember(state, Instant::now(), written);
        drop(forgotten);
    }

    fn recall(&self, mark: StateMark) -> Option<Arc<State>> {
        self.history.lock().recall(mark)
    }
}

/// A place among those who watch a tree.
#[derive(Debug)]
struct Seat {
    trunk: Arc<Trunk>,
}

impl Seat {
    fn take(trunk: &Arc<Trunk>) -> Result<Self> {
        let streams = &trunk.watching.streams;
        let seat = Self { trunk: Arc::clone(trunk) };
        // Whoever is refused gives his place back like any other.
        if streams.fetch_add(1, Ordering::Relaxed) >= MOST_STREAMS {
            return Err(too_many());
        }
        Ok(seat)
    }
}

/// Whoever was cut off can come back for a while. After the last one the states are forgotten in
/// time, or at once where nobody could do that later.
impl Drop for Seat {
    fn drop(&mut self) {
        let watching = &self.trunk.watching;
        if watching.streams.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        let left = watching.history.lock().leave();
        let weak = Arc::downgrade(&self.trunk);
        let forget = move || {
            let trunk =
                weak.upgrade().filter(|trunk| trunk.watching.streams.load(Ordering::Relaxed) == 0);
            let forgotten = trunk.map(|trunk| trunk.watching.history.lock().forget(left));
            forgotten.into_iter().for_each(drop_later);
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(MEMORY).await;
                forget();
            })),
            Err(_) => forget(),
        }
    }
}

impl VirtualFs {
    pub(super) async fn watch_dir(&self, dir: &SandboxPath, wish: Watch) -> Result<NoticeStream> {
        if self.frozen.is_some() {
            let message = "a snapshot never changes, so there is nothing to watch";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        self.trunk.check_there()?;
        let seat = Seat::take(&self.trunk)?;
        // Counted from here on, so that no change falls between the first state and the next.
        let changes = self.trunk.watching.changes.subscribe();
        let state = self.trunk.fresh_state().await?;
        let Watch { recursive, after } = wish;
        let scope = Scope { floor: self.floor.clone(), dir: dir.clone(), recursive };
        match self.trunk.node_at(&state, &scope).await? {
            Some(node) if node.directory().is_some() => {}
            Some(_) => {
                return Err(Error::new(ErrorKind::NotADirectory, "path is not a directory"));
            }
            None => return Err(not_found()),
        }
        Ok(Following::begin(seat, changes, state, scope, after).await?.into_stream())
    }
}

impl Trunk {
    /// What is watched, as it is in a state.
    async fn node_at(&self, state: &State, scope: &Scope) -> Result<Option<Node>> {
        let Scope { floor, dir, .. } = scope;
        let found = self.read(state, |root, source| {
            Ok(match resolve_within(&root.tree, floor, dir, Links::Follow, source)?.end {
                End::Root => Some(root.tree.clone()),
                End::Item(item) => Some(item.node.clone()),
                End::Missing(_) => None,
            })
        });
        found.await
    }

    /// A state that was seen before, or is the current one.
    fn known_state(&self, mark: StateMark, now: &Arc<State>) -> Option<Arc<State>> {
        let is_now = self::mark(&now.root) == mark;
        if is_now { Some(Arc::clone(now)) } else { self.watching.recall(mark) }
    }
}

/// What a state is known by: no other state of the sandbox has its number and its clock.
fn mark(root: &Root) -> StateMark {
    let mut hash = blake3::Hasher::new();
    hash.update(&root.family.domain.0);
    hash.update(&root.created.seconds.to_le_bytes());
    hash.update(&root.created.nanoseconds.to_le_bytes());
    hash.update(&root.clock.to_le_bytes());
    hash.update(&root.sequence.to_le_bytes());
    let [a, b, c, d, e, f, g, h, ..] = *hash.finalize().as_bytes();
    StateMark { sequence: root.sequence, hash: u64::from_le_bytes([a, b, c, d, e, f, g, h]) }
}
