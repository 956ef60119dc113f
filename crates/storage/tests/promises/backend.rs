//! A kind of store, and a fresh one of it for each trial.

use std::any::Any;
use std::sync::Arc;

/// A kind of store.
#[derive(Clone)]
pub(crate) struct Backend {
    /// What its trials are called.
    pub(crate) name: &'static str,
    /// What it can do that not every backend can.
    pub(crate) abilities: &'static [Ability],
    /// Where a store is that nobody has used yet.
    pub(crate) home: Arc<dyn Fn() -> Home + Send + Sync>,
}

impl Backend {
    pub(crate) fn new(
        name: &'static str,
        abilities: &'static [Ability],
        home: impl Fn() -> Home + Send + Sync + 'static,
    ) -> Self {
        Self { name, abilities, home: Arc::new(home) }
    }
}

/// Something that some promises need and not every backend can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ability {
    /// What is stored outlives the process.
    Lasts,
    /// Only one may have the store open.
    Exclusive,
}

/// Where a store is.
pub(crate) struct Home {
    /// What opens it.
    pub(crate) url: String,
    /// Whatever must live as long as it.
    pub(crate) alive: Box<dyn Any + Send>,
}
