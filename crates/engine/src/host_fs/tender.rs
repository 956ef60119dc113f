//! One thread that takes care of all trees of the process.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Tree;
use super::budget::RESCAN_SHARE;
use crate::{Error, ErrorKind, Result};

/// How long the thread waits when no tree needs it.
const LONG: Duration = Duration::from_hours(1);

/// How the thread is told of a new tree.
static NEWCOMERS: Mutex<Option<Sender<Weak<Tree>>>> = Mutex::new(None);

/// Sweeps the tree once and then counts it from time to time, for as long as it is open.
pub(super) fn tend(tree: &Arc<Tree>) -> Result<()> {
    let mut newcomers = NEWCOMERS.lock();
    let mut tree = Arc::downgrade(tree);
    if let Some(sender) = &*newcomers {
        match sender.send(tree) {
            Ok(()) => return Ok(()),
            Err(unsent) => tree = unsent.0,
        }
    }
    let (sender, receiver) = channel();
    thread::Builder::new()
        .name("sandkeep-tend".into())
        .spawn(move || keep_tending(&receiver))
        .map_err(|err| Error::new(ErrorKind::Busy, "no thread could be started").because(err))?;
    // The thread has only just begun to listen.
    let _unheard = sender.send(tree);
    *newcomers = Some(sender);
    Ok(())
}

fn keep_tending(newcomers: &Receiver<Weak<Tree>>) {
    let mut schedule = Schedule::default();
    loop {
        match newcomers.recv_timeout(schedule.pause(Instant::now())) {
            Ok(tree) => {
                let pause = tree.upgrade().and_then(|tree| tree.sweep());
                schedule.note(tree, Instant::now(), pause);
            }
            Err(RecvTimeoutError::Timeout) => {
                let Some(tree) = schedule.take() else { continue };
                let began = Instant::now();
                let pause = tree.upgrade().and_then(|tree| tree.recount());
                let now = Instant::now();
                schedule.rest(now, now - began);
                schedule.note(tree, now, pause);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Which tree is counted when.
#[derive(Debug)]
struct Schedule<T> {
    /// Trees by the moment they are due, and by the order in which they came.
    due: BTreeMap<(Instant, Reverse<u64>), T>,
    count: u64,
    /// Nothing is counted before that.
    rested: Option<Instant>,
}

impl<T> Default for Schedule<T> {
    fn default() -> Self {
        Self { due: BTreeMap::new(), count: 0, rested: None }
    }
}

impl<T> Schedule<T> {
    /// How long there is nothing to count.
    fn pause(&self, now: Instant) -> Duration {
        let Some(((due, _), _)) = self.due.first_key_value() else { return LONG };
        self.rested.map_or(*due, |rested| rested.max(*due)).saturating_duration_since(now)
    }

    /// The tree that is due first.
    fn take(&mut self) -> Option<T> {
        self.due.pop_first().map(|(_, tree)| tree)
    }

    /// A tree is due after a while, or never again.
    fn note(&mut self, tree: T, now: Instant, pause: Option<Duration>) {
        if let Some(due) = pause.and_then(|pause| now.checked_add(pause)) {
            self.count += 1;
            self.due.insert((due, Reverse(self.count)), tree);
        }
    }

    /// Rests after a count that took so long: however many trees there are, counting them all takes
    /// no more of a processor than counting one.
    fn rest(&mut self, now: Instant, took: Duration) {
        self.rested = now.checked_add(took * RESCAN_SHARE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_tree_that_is_due_first_is_counted_first() {
        let (mut schedule, now) = (Schedule::default(), Instant::now());
        schedule.note("late", now, Some(9 * SECOND));
        schedule.note("soon", now, Some(3 * SECOND));
        schedule.note("never", now, None);
        assert_eq!(schedule.pause(now), 3 * SECOND);
        assert_eq!([schedule.take(), schedule.take()], [Some("soon"), Some("late")]);
        assert_eq!(schedule.take(), None);
    }

    #[test]
    fn many_trees_that_are_due_at_once_do_not_keep_a_processor_busy() {
        let (mut schedule, mut now) = (Schedule::default(), Instant::now());
        (0..1000).for_each(|tree| schedule.note(tree, now, Some(Duration::ZERO)));
        let (began, mut counting) = (now, Duration::ZERO);
        for _ in 0..100 {
            now += schedule.pause(now);
            let tree = schedule.take().unwrap();
            now += SECOND;
            counting += SECOND;
            schedule.rest(now, SECOND);
            schedule.note(tree, now, Some(30 * SECOND));
        }
        assert!(counting * RESCAN_SHARE <= now - began, "{:?}", now - began);
    }
}
