//! Who has a place among the connections, and who makes room for a newcomer.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use tokio::task::AbortHandle;

use crate::pace::Pace;

/// The places of all connections.
///
/// A limit per address would turn a proxy's clients into one. Instead, whoever was let in keeps
/// its place, and the others have theirs only as long as nobody else needs it.
#[derive(Debug)]
pub(crate) struct Places {
    most: usize,
    taken: Mutex<Taken>,
    /// How many had to make room.
    evicted: Counter,
}

#[derive(Debug, Default)]
struct Taken {
    /// In the order in which they came.
    guests: BTreeMap<u64, Guest>,
    next: u64,
}

#[derive(Debug)]
struct Guest {
    pace: Arc<Pace>,
    /// What serves it, as soon as something does. It is ended where it is when the place is lost.
    served_by: Option<AbortHandle>,
}

/// One place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
    pace: Arc<Pace>,
}

impl Places {
    pub(crate) fn new(most: usize, evicted: &Counter) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default(), evicted: evicted.clone() })
    }

    /// A place, if need be that of the longest known client who was never let in.
    pub(crate) fn take(self: &Arc<Self>) -> Option<Place> {
        let mut taken = self.taken.lock();
        if taken.guests.len() >= self.most {
            taken.evict_stranger()?;
            self.evicted.inc();
        }
        let (number, pace) = (taken.next, Arc::<Pace>::default());
        taken.next += 1;
        taken.guests.insert(number, Guest { pace: Arc::clone(&pace), served_by: None });
        Some(Place { places: Arc::clone(self), number, pace })
    }

    /// Tells by what the guest of a place is served, unless it has left already.
    pub(crate) fn served(&self, number: u64, task: AbortHandle) {
        if let Some(guest) = self.taken.lock().guests.get_mut(&number) {
            guest.served_by = Some(task);
        }
    }

    /// Asks every connection to end after what it is doing.
    pub(crate) fn end(&self) {
        self.taken.lock().guests.values().for_each(|guest| guest.pace.end());
    }

    /// Ends every connection where it is.
    pub(crate) fn close(&self) {
        self.taken.lock().guests.values().for_each(Guest::lose);
    }
}

impl Taken {
    fn evict_stranger(&mut self) -> Option<()> {
        let stranger = self.guests.iter().find(|(_, guest)| !guest.pace.is_let_in());
        let number = stranger.map(|(number, _)| *number)?;
        self.guests.remove(&number)?.lose();
        Some(())
    }
}

impl Guest {
    fn lose(&self) {
        self.served_by.iter().for_each(AbortHandle::abort);
    }
}

impl Place {
    pub(crate) fn pace(&self) -> Arc<Pace> {
        Arc::clone(&self.pace)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken.lock().guests.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_client_leaves() {
        let places = Places::new(1, &Counter::default());
        let first = places.take().unwrap();
        first.pace().let_in();
        assert!(places.take().is_none());
        drop(first);
        assert!(places.take().is_some());
    }

    #[tokio::test]
    async fn the_stranger_who_came_first_makes_room() {
        let evicted = Counter::default();
        let places = Places::new(3, &evicted);
        let three = [(); 3].map(|()| places.take().unwrap());
        three[0].pace().let_in();
        let served = three.map(|place| {
            let number = place.number();
            let task = tokio::spawn(async move {
                let _held = place;
                pending::<()>().await;
            });
            places.served(number, task.abort_handle());
            task
        });
        let _newcomer = places.take().unwrap();
        let [known, first, second] = served;
        assert!(first.await.unwrap_err().is_cancelled());
        assert!(!known.is_finished() && !second.is_finished());
        assert_eq!((places.taken.lock().guests.len(), evicted.get()), (3, 1));
        places.close();
        assert!(known.await.unwrap_err().is_cancelled());
        assert!(second.await.unwrap_err().is_cancelled());
    }
}
