//! What must stay in a store although no ref leads to it: what is written before its commit, and
//! old states that somebody still reads. docs/decisions/0006 has the reasons.

#[cfg(test)]
mod aged;

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::sync::{RwLock, RwLockReadGuard};

use crate::{Error, ErrorKind, Result};

use super::trunk::State;

/// Where others may collect too, nobody may take longer than this from the first object that he
/// stores to his commit: they wait for twice as long before they take an object for garbage.
pub(super) const LONGEST_WORK: Duration = Duration::from_hours(6);

/// What a collector must leave alone.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    states: Mutex<States>,
    works: Arc<Mutex<Works>>,
    /// Held by whoever reads a ref until he holds what he found there. A collector that gets it
    /// alone knows that nobody is in between.
    gate: RwLock<()>,
    /// Held by the one who collects.
    pub(super) collecting: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct States {
    held: Vec<Weak<State>>,
    /// What was found in refs since a collector began to read them.
    seen: Option<Vec<Arc<State>>>,
}

/// When each work in progress began, with a number that tells equal times apart.
#[derive(Debug, Default)]
struct Works {
    began: BTreeSet<(SystemTime, u64)>,
    last: u64,
}

/// Something that stores objects before a ref leads to them. Nothing that was written since it
/// began is collected before it ends.
#[derive(Debug)]
pub(crate) struct Work {
    began: (SystemTime, u64),
    works: Arc<Mutex<Works>>,
}

/// What a change that waits for its commit needs in the store.
#[derive(Debug)]
pub(crate) enum Hold {
    /// What was stored for it.
    Work(Work),
    /// What it brings back.
    State(#[expect(dead_code, reason = "it is held, not read")] Arc<State>),
}

impl Pins {
    /// A state that is held as long as anybody has it.
    pub(super) fn hold(&self, state: State) -> Arc<State> {
        let state = Arc::new(state);
        let mut states = self.states.lock();
        if states.held.len() == states.held.capacity() {
            states.held.retain(|state| state.strong_count() > 0);
        }
        states.held.push(Arc::downgrade(&state));
        state
    }

    /// The same for a state that was found in a ref. The caller entered before he read the ref.
    pub(super) fn hold_seen(&self, state: State, _entered: &RwLockReadGuard<'_, ()>) -> Arc<State> {
        let state = self.hold(state);
        if let Some(seen) = &mut self.states.lock().seen {
            seen.push(Arc::clone(&state));
        }
        state
    }

    /// Says that a ref is about to be read for what it leads to.
    pub(super) async fn enter(&self) -> RwLockReadGuard<'_, ()> {
        self.gate.read().await
    }

    /// Begins to store objects.
    pub(super) fn begin(&self) -> Work {
        let mut works = self.works.lock();
        works.last += 1;
        // Asked for within the lock: who looks for the oldest has seen it, or looked before.
        let began = (whole_milliseconds(SystemTime::now()), works.last);
        works.began.insert(began);
        Work { began, works: Arc::clone(&self.works) }
    }

    /// Begins to watch what is held, for a collector.
    pub(super) async fn watch(self: &Arc<Self>) -> Watch {
        let alone = self.gate.write().await;
        let now = SystemTime::now();
        let oldest = self.works.lock().began.first().map(|(began, _)| *began);
        let horizon = oldest.map_or(now, |oldest| oldest.min(now));
        let mut states = self.states.lock();
        states.seen = Some(Vec::new());
        let held = states.held.iter().filter_map(Weak::upgrade).collect();
        drop(states);
        drop(alone);
        Watch { pins: Arc::clone(self), horizon: whole_milliseconds(horizon), held }
    }
}

/// A collector's look at what is held.
#[derive(Debug)]
pub(super) struct Watch {
    pins: Arc<Pins>,
    /// Whatever was written since then may be about to be committed.
    pub(super) horizon: SystemTime,
    held: Vec<Arc<State>>,
}

impl Watch {
    /// Every state that anybody held since the watch began.
    pub(super) async fn end(mut self) -> Vec<Arc<State>> {
        let alone = self.pins.gate.write().await;
        let seen = self.pins.states.lock().seen.take();
        drop(alone);
        let mut held = std::mem::take(&mut self.held);
        held.extend(seen.into_iter().flatten());
        held
    }
}

/// A collector that breaks off watches no more.
impl Drop for Watch {
    fn drop(&mut self) {
        self.pins.states.lock().seen = None;
    }
}

impl Work {
    /// Refuses work that takes so long that other processes may take its objects for garbage.
    pub(super) fn check_age(&self) -> Result<()> {
        let age = SystemTime::now().duration_since(self.began.0).unwrap_or_default();
        if age <= LONGEST_WORK {
            return Ok(());
        }
        let message = "it took longer than 6 hours from the first byte to the last";
        Err(Error::new(ErrorKind::Timeout, message))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.works.lock().began.remove(&self.began);
    }
}

/// The time as sealed objects bear it.
fn whole_milliseconds(time: SystemTime) -> SystemTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let rest = Duration::from_nanos(u64::from(since.subsec_nanos() % 1_000_000));
    time.checked_sub(rest).unwrap_or(UNIX_EPOCH)
}
