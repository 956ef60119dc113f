//! What came last, within a window.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Things that are sent, and how long ago.
#[derive(Debug)]
pub(super) struct Sent<K> {
    places: HashMap<K, u64>,
    /// The last ones in order; none for what cannot be told apart.
    order: VecDeque<Option<K>>,
    count: u64,
    window: usize,
}

impl<K: Copy + Eq + Hash> Sent<K> {
    pub(super) fn within(window: usize) -> Self {
        let order = VecDeque::with_capacity(window);
        Self { places: HashMap::new(), order, count: 0, window }
    }

    /// How long ago this was sent: 1 for what was last.
    pub(super) fn distance(&self, key: &K) -> Option<u64> {
        self.places.get(key).map(|place| self.count - place)
    }

    /// Notes the next one.
    pub(super) fn push(&mut self, key: Option<K>) {
        if self.order.len() == self.window {
            let oldest = self.count - self.window as u64;
            if let Some(key) = self.order.pop_front().flatten()
                && self.places.get(&key) == Some(&oldest)
            {
                self.places.remove(&key);
            }
        }
        self.order.push_back(key);
        if let Some(key) = key {
            self.places.insert(key, self.count);
        }
        self.count += 1;
    }
}

/// Things that came.
#[derive(Debug)]
pub(super) struct Received<T> {
    last: VecDeque<T>,
    window: usize,
}

impl<T> Received<T> {
    pub(super) fn within(window: usize) -> Self {
        // Room that is not used yet costs nothing, and moving what came would cost twice as much.
        Self { last: VecDeque::with_capacity(window), window }
    }

    /// What came so long ago: 1 for the last.
    pub(super) fn back(&self, distance: u64) -> Option<&T> {
        let back = usize::try_from(distance).ok()?;
        self.last.get(self.last.len().checked_sub(back)?)
    }

    /// Takes the next one.
    pub(super) fn push(&mut self, next: T) {
        if self.last.len() == self.window {
            self.last.pop_front();
        }
        self.last.push_back(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sends_and_who_receives_mean_the_same() {
        let (mut sent, mut received) = (Sent::within(10), Received::within(10));
        for number in 0_u32..1000 {
            let key = number * number % 37;
            match sent.distance(&key) {
                Some(distance) => assert_eq!(received.back(distance), Some(&key)),
                None => {
                    sent.push(Some(key));
                    received.push(key);
                }
            }
        }
    }

    #[test]
    fn what_is_older_than_the_window_is_forgotten() {
        let (mut sent, mut received) = (Sent::within(3), Received::within(3));
        for key in [Some(1), None, Some(2), Some(3)] {
            sent.push(key);
            received.push(key);
        }
        assert_eq!([sent.distance(&1), sent.distance(&2)], [None, Some(2)]);
        assert_eq!([received.back(0), received.back(4), received.back(u64::MAX)], [None; 3]);
    }
}
