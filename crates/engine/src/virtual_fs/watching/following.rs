//! One watch of a virtual tree, from state to state.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::super::trunk::{State, Trunk};
use super::telling::{Scope, Telling};
use super::{PACE, Seat, mark};
use crate::watch::{Cursor, Mark, gone};
use crate::{EntryKind, Loss, Notice, NoticeKind, NoticeStream, Result};

/// How old a cursor gets before a younger one is told, when the tree changed elsewhere.
const YOUNG: Duration = Duration::from_secs(10);
/// How often a store is asked that others change, at most.
const SOONEST_LOOK: Duration = Duration::from_millis(100);

/// A watch of one directory.
pub(super) struct Following {
    seat: Seat,
    changes: watch::Receiver<u64>,
    scope: Scope,
    /// The last state of which everything was told.
    seen: Arc<State>,
    telling: Option<Telling>,
    next: Option<Notice>,
    /// The state of the last cursor that was told, and when that was.
    told: (Arc<State>, Instant),
    /// When two states were last compared.
    compared: Option<Instant>,
    is_over: bool,
}

impl Following {
    pub(super) async fn begin(
        seat: Seat,
        changes: watch::Receiver<u64>,
        now: Arc<State>,
        scope: Scope,
        after: Option<Cursor>,
    ) -> Result<Self> {
        let trunk = &seat.trunk;
        let known = |mark| trunk.known_state(mark, &now);
        let found = match after.as_ref().map(|cursor| &cursor.0) {
            None => Some((Arc::clone(&now), None)),
            Some(Mark::State(state)) => known(*state).map(|state| (state, None)),
            Some(Mark::Between { from, to, told, scope: of }) if *of == scope.hash() => {
                known(*from).zip(known(*to)).map(|(from, to)| (from, Some((to, *told))))
            }
            Some(Mark::Between { .. } | Mark::Notice { .. }) => None,
        };
        let why = Loss::UnknownCursor;
        let (seen, kind, halfway) = match found {
            Some((state, halfway)) => (state, NoticeKind::Here, halfway),
            None => (Arc::clone(&now), NoticeKind::Resync { why }, None),
        };
        let cursor = match (&kind, after) {
            (NoticeKind::Here, Some(cursor)) => cursor,
            _ => at(&seen),
        };
        trunk.watching.remember(&seen);
        let telling = match halfway {
            Some((to, told)) => {
                Some(Telling::begin(trunk, &scope, Arc::clone(&seen), to, told).await?)
            }
            None => None,
        };
        let (next, told) = (Some(Notice { cursor, kind }), (Arc::clone(&seen), Instant::now()));
        let (compared, is_over) = (None, false);
        Ok(Self { seat, changes, scope, seen, telling, next, told, compared, is_over })
    }

    pub(super) fn into_stream(self) -> NoticeStream {
        let notices = stream::try_unfold(self, |mut following| async {
            let notice = following.next().await?;
            Ok(Some((notice, following)))
        });
        notices.boxed()
    }

    fn trunk(&self) -> &Arc<Trunk> {
        &self.seat.trunk
    }

    async fn next(&mut self) -> Result<Notice> {
        loop {
            if let Some(notice) = self.next.take() {
                return Ok(notice);
            }
            if self.is_over {
                return Err(gone(&self.scope.dir));
            }
            if let Some(telling) = &mut self.telling {
                if let Some(notice) = telling.next(&self.scope).await? {
                    self.told = (Arc::clone(telling.to()), Instant::now());
                    return Ok(notice);
                }
                self.seen = Arc::clone(telling.to());
                self.telling = None;
            }
            let to = self.another_state().await?;
            self.next = self.elsewhere();
            self.go_on(to).await?;
        }
    }

    /// Begins to tell what differs in the next state.
    async fn go_on(&mut self, to: Arc<State>) -> Result<()> {
        let is_there = match self.trunk().node_at(&to, &self.scope).await {
            Ok(node) => node.is_some_and(|node| node.directory().is_some()),
            // Links on the way lead nowhere, or out.
            Err(err) => {
                self.trunk().check_there()?;
                tracing::debug!(error = &err as &dyn std::error::Error, "a watch lost its way");
                false
            }
        };
        if !is_there {
            let (path, entry) = (self.scope.dir.clone(), Some(EntryKind::Directory));
            let notice = Notice { cursor: at(&to), kind: NoticeKind::Removed { path, entry } };
            (self.next, self.is_over) = (Some(notice), true);
            return Ok(());
        }
        self.compared = Some(Instant::now());
        let from = Arc::clone(&self.seen);
        self.telling = Some(Telling::begin(self.trunk(), &self.scope, from, to, 0).await?);
        Ok(())
    }

    /// A younger cursor, if the last one is old although the tree has changed.
    fn elsewhere(&mut self) -> Option<Notice> {
        let (state, when) = &self.told;
        if when.elapsed() < YOUNG || mark(&state.root) == mark(&self.seen.root) {
            return None;
        }
        self.trunk().watching.remember(&self.seen);
        self.told = (Arc::clone(&self.seen), Instant::now());
        Some(Notice { cursor: at(&self.seen), kind: NoticeKind::Here })
    }

    /// A state that comes after the one that was seen.
    async fn another_state(&mut self) -> Result<Arc<State>> {
        loop {
            self.changes.mark_unchanged();
            if let Some(state) = fresh_state(&self.seat.trunk).await?
                && mark(&state.root) != mark(&self.seen.root)
            {
                match self.too_soon(&state) {
                    None => return Ok(state),
                    Some(then) => sleep_until(then).await,
                }
                continue;
            }
            let staleness = self.trunk().shelf.staleness;
            match staleness.map(|staleness| staleness.max(SOONEST_LOOK)) {
                // The sender lives as long as the tree, which this holds.
                None => drop(self.changes.changed().await),
                Some(pause) => {
                    drop(timeout_at(Instant::now() + pause, self.changes.changed()).await);
                }
            }
        }
    }

    /// When the next state may be told, if the last one was so short ago that more may be told
    /// together with it.
    fn too_soon(&self, state: &Arc<State>) -> Option<Instant> {
        let history = self.trunk().watching.history.lock();
        // What another watch was just told of is told at once: both have the same cursors then.
        let others = history.latest().filter(|(latest, _)| !Arc::ptr_eq(latest, state));
        let others = others.map(|(_, when)| Instant::from_std(when));
        let then = others.max(self.compared)? + PACE;
        (then > Instant::now()).then_some(then)
    }
}

/// The state as the store has it. A store that does not answer is asked again later.
async fn fresh_state(trunk: &Trunk) -> Result<Option<Arc<State>>> {
    trunk.check_there()?;
    match trunk.fresh_state().await {
        Ok(state) => Ok(Some(state)),
        Err(err) => {
            trunk.check_there()?;
            tracing::debug!(error = &err as &dyn std::error::Error, "a watch sees no state");
            Ok(None)
        }
    }
}

/// The cursor of one who knows a state.
fn at(state: &State) -> Cursor {
    Cursor(Mark::State(mark(&state.root)))
}
