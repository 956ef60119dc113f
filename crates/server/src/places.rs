//! Who has a place among the connections, and who makes room for a newcomer.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::pace::Pace;

/// The places of all connections.
///
/// A limit per address would turn a proxy's clients into one. Instead, whoever was let in keeps
/// its place, and the others have theirs only as long as nobody else needs it.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    taken: Mutex<Taken>,
    /// Takes all places away.
    closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Taken {
    /// In the order in which they came.
    guests: BTreeMap<u64, Guest>,
    next: u64,
}

#[derive(Clone, Debug)]
struct Guest {
    pace: Arc<Pace>,
    lost: CancellationToken,
}

/// One place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    guest: Guest,
}

impl Places {
    pub(crate) fn new(most: usize, closed: &CancellationToken) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default(), closed: closed.clone() })
    }

    /// A place, if need be that of the longest known client who was never let in.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Place> {
        let mut taken = self.taken.lock();
        if taken.guests.len() >= self.most {
            taken.evict_stranger()?;
        }
        let guest = Guest { pace: Arc::default(), lost: self.closed.child_token() };
        let number = taken.next;
        taken.next += 1;
        taken.guests.insert(number, guest.clone());
        Some(Place { places: Arc::clone(self), number, guest })
    }
}

impl Taken {
    fn evict_stranger(&mut self) -> Option<()> {
        let stranger = self.guests.iter().find(|(_, guest)| !guest.pace.is_let_in());
        let number = stranger.map(|(number, _)| *number)?;
        self.guests.remove(&number)?.lost.cancel();
        Some(())
    }
}

impl Place {
    pub(crate) fn pace(&self) -> Arc<Pace> {
        Arc::clone(&self.guest.pace)
    }

    /// Cancelled when somebody else gets the place, or nobody has one any more.
    pub(crate) fn lost(&self) -> &CancellationToken {
        &self.guest.lost
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken.lock().guests.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_client_leaves() {
        let places = Places::new(1, &CancellationToken::new());
        let first = places.take().unwrap();
        first.pace().let_in();
        assert!(places.take().is_none());
        drop(first);
        assert!(places.take().is_some());
    }

    #[test]
    fn the_stranger_who_came_first_makes_room() {
        let places = Places::new(3, &CancellationToken::new());
        let [known, first, second] = [(); 3].map(|()| places.take().unwrap());
        known.pace().let_in();
        let newcomer = places.take().unwrap();
        let lost = [&known, &first, &second, &newcomer].map(|one| one.lost().is_cancelled());
        assert_eq!(lost, [false, true, false, false]);
        drop(first);
        assert_eq!(places.taken.lock().guests.len(), 3);
    }
}
