//! The state that a tree is in at the moment.

use std::sync::Arc;

use parking_lot::{RwLock, RwLockReadGuard};

use super::trunk::State;

/// The current state. Whoever takes it keeps it as it is; whoever only looks at it keeps it from
/// changing for as long.
#[derive(Debug)]
pub(super) struct Current(RwLock<Arc<State>>);

impl Current {
    pub(super) fn new(state: Arc<State>) -> Self {
        Self(RwLock::new(state))
    }

    /// The state, to keep.
    pub(super) fn take(&self) -> Arc<State> {
        Arc::clone(&self.0.read())
    }

    /// The state, to look at. Whoever holds the look must neither wait nor look again.
    pub(super) fn look(&self) -> RwLockReadGuard<'_, Arc<State>> {
        self.0.read()
    }

    /// Puts another state in its place, and gives the one that was there.
    pub(super) fn replace(&self, new: Arc<State>) -> Arc<State> {
        std::mem::replace(&mut *self.0.write(), new)
    }

    /// Changes the state itself, if nobody else has it; none if somebody does, or nothing changed.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> Option<T>) -> Option<T> {
        change(Arc::get_mut(&mut self.0.write())?)
    }
}
