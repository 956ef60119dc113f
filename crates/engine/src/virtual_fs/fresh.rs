//! How old the state may be that is shown, where other servers change the tree too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, MutexGuard};

use crate::Result;

use super::change::Applied;
use super::meaning::meaning;
use super::trunk::{State, Trunk};

/// When the store was last asked what the tree is.
#[derive(Debug)]
pub(super) struct Freshness {
    origin: Instant,
    /// Nanoseconds from the origin to the beginning of the last look.
    looked: AtomicU64,
    /// The same to the moment when it became known that the state has changed: an older look is of
    /// no use.
    outdated: AtomicU64,
    /// Held by whoever brings a new state from the store, or puts one there: otherwise an old one
    /// could take the place of a newer one.
    turn: Mutex<()>,
}

impl Freshness {
    /// The tree was just looked at.
    pub(super) fn now() -> Self {
        let (looked, outdated) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { origin: Instant::now(), looked, outdated, turn: Mutex::new(()) }
    }

    /// Notes that the state is as the store had it at some time since `began`.
    pub(super) fn note(&self, began: Instant) {
        self.looked.fetch_max(self.nanos_to(began), Ordering::Relaxed);
    }

    /// Notes that somebody else changed the tree.
    pub(super) fn outdate(&self) {
        self.outdated.fetch_max(self.nanos_to(Instant::now()), Ordering::Relaxed);
    }

    fn nanos_to(&self, moment: Instant) -> u64 {
        let nanos = moment.saturating_duration_since(self.origin).as_nanos();
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }

    /// When the look began to which the state goes back.
    fn looked(&self) -> Instant {
        self.origin + Duration::from_nanos(self.looked.load(Ordering::Relaxed))
    }

    /// When a look must have begun to be of use.
    fn outdated(&self) -> Instant {
        self.origin + Duration::from_nanos(self.outdated.load(Ordering::Relaxed))
    }

    /// Waits until nobody else brings or stores a state.
    pub(super) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}

impl Trunk {
    /// Whether the state may be shown without looking at the store.
    pub(super) fn is_fresh(&self) -> bool {
        self.shelf.staleness.is_none_or(|staleness| {
            let looked = self.fresh.looked();
            looked.elapsed() < staleness && looked >= self.fresh.outdated()
        })
    }

    /// The state, no older than the store lets it be.
    pub(crate) async fn fresh_state(&self) -> Result<Arc<State>> {
        if let Some(staleness) = self.shelf.staleness
            && !self.is_fresh()
        {
            let oldest = Instant::now().checked_sub(staleness).unwrap_or_else(Instant::now);
            Box::pin(self.look_again(oldest.max(self.fresh.outdated()))).await?;
        }
        Ok(self.state())
    }

    /// Looks at the store, so that everything that others did until now is seen.
    pub(super) async fn refresh(&self) -> Result<()> {
        if self.shelf.staleness.is_none() {
            return Ok(());
        }
        self.look_again(Instant::now()).await
    }

    /// Looks at the store, unless somebody did since `oldest`.
    async fn look_again(&self, oldest: Instant) -> Result<()> {
        let turn = self.fresh.turn().await;
        // Whoever had the turn before may have brought what is wanted.
        if self.fresh.looked() >= oldest {
            return Ok(());
        }
        let began = Instant::now();
        let entered = self.shelf.pins.enter().await;
        let stored = self.shelf.cache.storage().load(&self.ref_key()?).await.map_err(meaning)?;
        let old = self.state();
        if stored.as_ref().map(|stored| &stored.token) != old.token.as_ref() {
            let root = self.stored_root(stored.as_ref())?;
            let applied = [Applied::by_others(old.root.tree.clone(), root.tree.clone())];
            let state = State { root, token: stored.map(|stored| stored.token) };
            let new = self.shelf.pins.hold_seen(state, &entered);
            drop(entered);
            self.publish_fetching(new, &applied, &mut self.shelf.cache.view()).await;
        }
        self.fresh.note(began);
        drop(turn);
        Ok(())
    }
}
