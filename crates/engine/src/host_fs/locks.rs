//! Locks of single names, so that a precondition still holds when the change is made.

use std::hash::{BuildHasher as _, RandomState};

use parking_lot::{Mutex, MutexGuard};

use super::meaning::Meaning as _;
use crate::Result;

const STRIPES: usize = 1024;

/// One lock for each of many groups of names.
#[derive(Debug)]
pub(super) struct Locks {
    stripes: Vec<Mutex<()>>,
    hasher: RandomState,
}

impl Default for Locks {
    fn default() -> Self {
        let stripes = (0..STRIPES).map(|_| Mutex::new(())).collect();
        Self { stripes, hasher: RandomState::new() }
    }
}

impl Locks {
    /// Holds one spot.
    pub(super) fn hold(&self, spot: &host::Spot) -> Result<Option<MutexGuard<'_, ()>>> {
        let stripe = self.stripe(spot)?;
        Ok(self.stripes.get(stripe).map(Mutex::lock))
    }

    /// Holds two spots, in an order that cannot deadlock.
    pub(super) fn hold_both(
        &self,
        one: &host::Spot,
        other: &host::Spot,
    ) -> Result<[Option<MutexGuard<'_, ()>>; 2]> {
        let (one, other) = (self.stripe(one)?, self.stripe(other)?);
        let first = self.stripes.get(one.min(other)).map(Mutex::lock);
        let second = self.stripes.get(one.max(other)).filter(|_| one != other).map(Mutex::lock);
        Ok([first, second])
    }

    fn stripe(&self, spot: &host::Spot) -> Result<usize> {
        let hash = self.hasher.hash_one(spot.identity().meaning()?);
        Ok(usize::try_from(hash % STRIPES as u64).unwrap_or_default())
    }
}
