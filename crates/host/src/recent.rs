//! Small files that are read again and again stay open a moment longer.
//!
//! A file is looked at before it is opened, by a descriptor that asks nothing of it; to open it by that is
//! what a small read costs most. It is saved when what is looked at is a file that is open already: as
//! long as it is, no other file has its number. Nothing else is believed. The path is walked anew by every
//! read, the bytes are those that the file holds now, and a file of which anything changed, such as who may
//! read it, is opened anew.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::{OpenedFile, Stat};

/// How many files a generation holds.
const MOST: usize = 128;
/// How many files that were read once are remembered, by their numbers alone.
const MOST_SEEN: usize = 1024;
/// The room of a larger one should be free as soon as it is removed.
const LARGEST: u64 = 64 << 10;

/// Of all trees of the process, so that descriptors are bounded whatever their number.
static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

/// What was read since the last turn, and what was read between that and the one before.
#[derive(Debug, Default)]
struct Kept {
    young: Generation,
    old: Generation,
    /// What was read once since. Whoever goes through a whole tree reads each file once, and keeps none.
    once: HashSet<Key>,
}

/// Device and number.
type Key = ((u32, u32), u64);
type Generation = HashMap<Key, (Arc<OpenedFile>, Stat)>;

/// What is known of a file that was looked at.
pub(crate) enum Known {
    /// Nothing.
    No,
    /// It was read a moment ago, so that it is worth keeping.
    Often,
    /// It is open.
    Open(Arc<OpenedFile>),
}

/// What is known of a file that was looked at and is about to be read.
pub(crate) fn find(seen: &Stat) -> Known {
    if seen.size > LARGEST {
        return Known::No;
    }
    let key = (seen.device, seen.inode);
    let Kept { young, old, once } = &mut *kept();
    if let Some(found) = old.remove(&key) {
        young.insert(key, found);
    }
    match young.get(&key) {
        Some((file, known)) if is_unchanged(known, seen) => Known::Open(Arc::clone(file)),
        Some(_) => Known::Often,
        None if once.contains(&key) => Known::Often,
        None => {
            if once.len() < MOST_SEEN {
                once.insert(key);
            }
            Known::No
        }
    }
}

/// Keeps a file that was just opened.
pub(crate) fn keep(file: &Arc<OpenedFile>, seen: Stat) {
    let mut kept = kept();
    let forgotten = match kept.young.len() < MOST {
        true => None,
        false => Some(kept.turn()),
    };
    let replaced = kept.young.insert((seen.device, seen.inode), (Arc::clone(file), seen));
    drop(kept);
    // Closed where nobody waits for it.
    drop((forgotten, replaced));
}

/// Closes the files that nobody read since this was called last. Whether any is still open.
pub fn forget_unused() -> bool {
    let mut kept = kept();
    let forgotten = kept.turn();
    let is_any_left = !kept.old.is_empty();
    drop(kept);
    drop(forgotten);
    is_any_left
}

/// Whether any file is open that nobody may be reading.
pub fn keeps_any() -> bool {
    let kept = kept();
    !kept.young.is_empty() || !kept.old.is_empty()
}

impl Kept {
    /// Ends a generation, and gives what is to be closed.
    fn turn(&mut self) -> Generation {
        self.once.clear();
        mem::replace(&mut self.old, mem::take(&mut self.young))
    }
}

fn is_unchanged(known: &Stat, seen: &Stat) -> bool {
    let of = |stat: &Stat| (stat.changed, stat.mode, stat.uid, stat.gid);
    of(known) == of(seen)
}

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}
