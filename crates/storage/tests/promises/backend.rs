//! A kind of store, and a fresh one of it for each trial.

use std::any::Any;

/// A kind of store.
pub(crate) struct Backend {
    /// What its trials are called.
    pub(crate) name: &'static str,
    /// What it can do that not every backend can.
    pub(crate) abilities: &'static [Ability],
    /// Where a store is that nobody has used yet.
    pub(crate) home: fn() -> Home,
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

impl Home {
    pub(crate) fn memory() -> Self {
        Self { url: "memory:".to_owned(), alive: Box::new(()) }
    }

    pub(crate) fn file() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("file:{}/store", dir.path().to_str().unwrap());
        Self { url, alive: Box::new(dir) }
    }
}
