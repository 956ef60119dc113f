//! Taking away the objects that nothing leads to any more.
//!
//! A round marks what every ref leads to, and what somebody in this process still needs. What is
//! not marked is condemned; a later round deletes it, if it is still not marked and nobody wrote it
//! again. docs/decisions/0006 says why nothing that anybody needs can go.
//!
//! - `roots`: where the marking begins
//! - `mark`: what is reached from there
//! - `condemned`: what a later round shall delete, as the store keeps it
//! - `round`: one family of sandboxes after the other
//! - `rehearsal`: what a round would do

mod condemned;
mod mark;
mod rehearsal;
mod roots;
mod round;

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use storage::Storage;

use crate::{Error, ErrorKind, Result};

use super::meaning::meaning;
use super::pins::{Hold, LONGEST_WORK};
use super::shelf::{Shelf, Store};

#[cfg(fuzzing)]
pub(crate) use self::condemned::again as condemned_again;
use self::roots::Roots;
use self::round::Round;

/// How a collection is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectOptions {
    /// How long an object stays after it was written, and after it was condemned.
    ///
    /// Within one process, none at all is safe. Where several processes share a store it is at
    /// least twelve hours, whatever is said here: nobody knows what the others are about to commit.
    pub grace: Duration,
}

impl Default for CollectOptions {
    /// An hour.
    fn default() -> Self {
        Self { grace: Duration::from_hours(1) }
    }
}

/// What a collection found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The trees are in memory, where nothing is ever left behind: there was nothing to do.
    pub in_memory: bool,
    /// Objects that were looked at.
    pub objects: u64,
    /// Those of them that something leads to.
    pub live: u64,
    /// Those that nothing leads to, and that a later collection deletes.
    pub condemned: u64,
    /// How many bytes they take.
    pub condemned_bytes: u64,
    /// Objects that an earlier collection condemned, and that are gone now.
    pub deleted: u64,
    /// How many bytes they took.
    pub freed: u64,
    /// Families of sandboxes that were left alone because an earlier collection looked at them
    /// less than the grace ago.
    pub waiting: u64,
    /// Families of sandboxes that were left alone because a part of them is missing or damaged:
    /// what it led to may still be wanted.
    pub unreadable: u64,
}

impl Store {
    /// Takes away what nothing leads to any more. It takes two collections, with the grace between
    /// them, until something is gone.
    ///
    /// Safe beside everything else, and may be broken off at any moment. Needs some 40 bytes of
    /// memory for each object of the largest family of sandboxes, and some 50 for each snapshot.
    pub async fn collect(&self, options: CollectOptions) -> Result<Collected> {
        collect(&Arc::downgrade(&self.shelf), options, Manner::Earnest).await
    }

    /// What [`Self::collect`] would find and do now. Nothing is condemned or deleted.
    pub async fn would_collect(&self, options: CollectOptions) -> Result<Collected> {
        collect(&Arc::downgrade(&self.shelf), options, Manner::Rehearsal).await
    }

    /// Collects in the background, every `interval` until the last sandbox of the store is closed.
    ///
    /// Must be called within a tokio runtime.
    pub fn tend(&self, interval: Duration) {
        if self.shelf.is_resident() {
            return;
        }
        let shelf = Arc::downgrade(&self.shelf);
        tokio::spawn(async move {
            // Servers that were started together do not collect together.
            let mut pause = interval.mul_f64(rand::random_range(0.5..1.0));
            loop {
                tokio::time::sleep(pause).await;
                pause = interval;
                if shelf.strong_count() == 0 {
                    return;
                }
                match collect(&shelf, CollectOptions::default(), Manner::Earnest).await {
                    Ok(collected) => tracing::info!(?collected, "garbage was collected"),
                    Err(_) if shelf.strong_count() == 0 => return,
                    Err(err) => {
                        tracing::error!(error = &err as &dyn std::error::Error, "no collection");
                    }
                }
            }
        });
    }
}

/// Whether a collection happens, or is only tried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Earnest,
    Rehearsal,
}

async fn collect(
    shelf: &Weak<Shelf>,
    options: CollectOptions,
    manner: Manner,
) -> Result<Collected> {
    let Some(Ground { pins, storage, turn }) = Ground::of(shelf)? else {
        return Ok(Collected { in_memory: true, ..Collected::default() });
    };
    let _turn = turn.lock().await;
    let watch = pins.watch().await;
    let grace = grace(&*storage, options)?;
    let now = SystemTime::now();
    let horizon = watch.horizon.min(now.checked_sub(grace).unwrap_or(SystemTime::UNIX_EPOCH));
    let mut roots = Roots::default();
    roots.add_orphans(&*open(shelf)?);
    let over = roots.add_refs(&*storage, now, grace).await?;
    roots.add_states(&watch.end().await);
    if manner == Manner::Earnest {
        for (key, token) in over {
            storage.delete_ref(&key, &token).await.map_err(meaning)?;
        }
    }
    drop(storage);
    let round = Round { shelf: Weak::clone(shelf), manner, grace, now, horizon };
    round.run(&roots).await
}

/// How long objects stay in this storage.
fn grace(storage: &dyn Storage, options: CollectOptions) -> Result<Duration> {
    let capabilities = storage.capabilities();
    if !capabilities.exact_delete {
        let message = "the storage cannot delete one object and spare a newer one of its name";
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let least = if capabilities.shared { 2 * LONGEST_WORK } else { Duration::ZERO };
    Ok(options.grace.max(least))
}

impl Shelf {
    /// Refuses to let a ref lead to what was stored so long ago that another process may have taken
    /// it for garbage.
    pub(crate) fn check_age(&self, stored: Option<&Hold>) -> Result<()> {
        match stored {
            Some(Hold::Work(work)) if self.staleness.is_some() => work.check_age(),
            Some(Hold::Work(_) | Hold::State(_)) | None => Ok(()),
        }
    }
}

/// What a collection needs of a store.
struct Ground {
    pins: Arc<super::pins::Pins>,
    storage: Arc<dyn Storage>,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Ground {
    fn of(shelf: &Weak<Shelf>) -> Result<Option<Self>> {
        let shelf = open(shelf)?;
        let (pins, turn) = (Arc::clone(&shelf.pins), Arc::clone(&shelf.pins.collecting));
        let storage = Arc::clone(shelf.cache.storage());
        Ok((!shelf.is_resident()).then_some(Self { pins, storage, turn }))
    }
}

/// The store, unless everybody closed it.
fn open(shelf: &Weak<Shelf>) -> Result<Arc<Shelf>> {
    shelf.upgrade().ok_or_else(|| Error::new(ErrorKind::Unavailable, "the store was closed"))
}
