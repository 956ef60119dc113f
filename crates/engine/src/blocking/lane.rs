//! Few threads for much short work.
//!
//! Work that touches memory alone is done soonest by about as many threads as there are processors.
//! Where each piece has a thread of its own, that has to wake for it, waits for locks that the others
//! hold, and sleeps again, which takes as long as the work.
//!
//! Nothing waits long behind a piece that waits for a disk after all: what has taken longer than a moment is
//! stuck to the sentry, and does not count until it ends.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Once};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

/// How long work waits behind what is stuck before another thread comes for it.
const MOMENT: Duration = Duration::from_millis(2);
/// The sentry sleeps when nothing had to wait for so many moments.
const QUIET: u32 = 50;
/// How many threads there are at most, whatever is stuck.
const MOST: usize = 512;
/// How long a thread stays that has nothing to do.
const PATIENCE: Duration = Duration::from_secs(10);

type Work = Box<dyn FnOnce() + Send>;

static LANE: Lane = Lane::new();

/// Does work soon, on a thread that may block. Gives it back if there is no thread, and none can be made.
pub(super) fn enter(work: Work) -> Result<(), Work> {
    LANE.enter(work)
}

struct Lane {
    state: Mutex<State>,
    work_came: Condvar,
    /// The sentry is asleep, and something has to wait.
    work_waits: Condvar,
    sentry: Once,
}

struct State {
    queue: VecDeque<Work>,
    /// How many threads work, or were called and are on their way.
    awake: usize,
    /// What is worked at, each at a place of its own.
    at_work: Vec<Option<Piece>>,
    /// How many of these take long.
    stuck: usize,
    /// The moments that the sentry counted.
    now: u64,
    is_watched: bool,
}

/// Work that a thread is at.
#[derive(Clone, Copy)]
struct Piece {
    begun: u64,
    is_stuck: bool,
}

impl Lane {
    const fn new() -> Self {
        let state = State {
            queue: VecDeque::new(),
            awake: 0,
            at_work: Vec::new(),
            stuck: 0,
            now: 0,
            is_watched: false,
        };
        Self {
            state: Mutex::new(state),
            work_came: Condvar::new(),
            work_waits: Condvar::new(),
            sentry: Once::new(),
        }
    }

    fn enter(&'static self, work: Work) -> Result<(), Work> {
        let mut state = self.state.lock();
        state.queue.push_back(work);
        if state.has_room() {
            let is_hopeless = !self.call_somebody(&mut state) && state.awake == 0;
            return state.queue.pop_back_if(|_| is_hopeless).map_or(Ok(()), Err);
        }
        if !state.is_watched {
            state.is_watched = true;
            drop(state);
            self.sentry.call_once(|| {
                if let Err(error) = start("lane-sentry", || self.watch()) {
                    tracing::error!(%error, "short work may wait behind long work");
                }
            });
            self.work_waits.notify_one();
        }
        Ok(())
    }

    /// Wakes a thread, or makes one. Whether there is one.
    fn call_somebody(&'static self, state: &mut State) -> bool {
        let is_called = self.work_came.notify_one() || start("lane", || self.work()).is_ok();
        state.awake += usize::from(is_called);
        is_called
    }

    /// What a thread does that was called.
    fn work(&self) {
        let mut state = self.state.lock();
        loop {
            while state.awake <= state.room()
                && let Some(work) = state.queue.pop_front()
            {
                let place = state.begin();
                MutexGuard::unlocked(&mut state, || {
                    // Whoever waits for it learns that it broke off.
                    drop(catch_unwind(AssertUnwindSafe(work)));
                });
                state.end(place);
            }
            state.awake -= 1;
            if self.work_came.wait_for(&mut state, PATIENCE).timed_out() {
                return;
            }
        }
    }

    /// Sees to it that nothing waits behind what takes long.
    fn watch(&'static self) {
        let mut state = self.state.lock();
        let mut quiet = 0;
        loop {
            MutexGuard::unlocked(&mut state, || thread::sleep(MOMENT));
            state.tick();
            quiet = if state.queue.is_empty() { quiet + 1 } else { 0 };
            if quiet == 0 && state.has_room() {
                self.call_somebody(&mut state);
            }
            if quiet > QUIET {
                state.is_watched = false;
                self.work_waits.wait_while(&mut state, |state| !state.is_watched);
                quiet = 0;
            }
        }
    }
}

impl State {
    /// How many threads may work now.
    fn room(&self) -> usize {
        MOST.min(usual() + self.stuck)
    }

    fn has_room(&self) -> bool {
        self.awake < self.room()
    }

    /// Notes that work begins, and where.
    fn begin(&mut self) -> usize {
        let piece = Some(Piece { begun: self.now, is_stuck: false });
        if let Some((place, free)) =
            self.at_work.iter_mut().enumerate().find(|(_, at)| at.is_none())
        {
            *free = piece;
            return place;
        }
        self.at_work.push(piece);
        self.at_work.len() - 1
    }

    fn end(&mut self, place: usize) {
        let ended = self.at_work.get_mut(place).and_then(Option::take);
        self.stuck -= usize::from(ended.is_some_and(|piece| piece.is_stuck));
    }

    /// Counts a moment, and finds what has taken more than one.
    fn tick(&mut self) {
        self.now += 1;
        for piece in self.at_work.iter_mut().flatten() {
            if !piece.is_stuck && self.now - piece.begun > 1 {
                piece.is_stuck = true;
                self.stuck += 1;
            }
        }
    }
}

/// How many threads work while nothing is stuck.
fn usual() -> usize {
    static USUAL: LazyLock<usize> =
        LazyLock::new(|| 1 + thread::available_parallelism().map_or(1, NonZero::get));
    *USUAL
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Instant;

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn lane() -> &'static Lane {
        Box::leak(Box::new(Lane::new()))
    }

    fn enter(lane: &'static Lane, work: impl FnOnce() + Send + 'static) {
        assert!(lane.enter(Box::new(work)).is_ok());
    }

    /// Enters work that tells when it was done.
    fn enter_told(lane: &'static Lane, count: usize) -> Receiver<()> {
        let (tell, told) = channel();
        for _ in 0..count {
            let tell = tell.clone();
            enter(lane, move || tell.send(()).unwrap());
        }
        told
    }

    fn assert_done(told: &Receiver<()>, count: usize) {
        for _ in 0..count {
            told.recv_timeout(SOON).unwrap();
        }
    }

    /// Work tells that it is done before its thread notes that it ended.
    fn assert_at_rest(lane: &Lane) {
        let end = Instant::now() + SOON;
        loop {
            let state = lane.state.lock();
            let is_over = state.at_work.iter().all(Option::is_none) && state.awake == 0;
            if is_over && state.stuck == 0 && state.queue.is_empty() {
                return;
            }
            assert!(Instant::now() < end, "{} awake, {} stuck", state.awake, state.stuck);
            drop(state);
            thread::yield_now();
        }
    }

    #[test]
    fn everything_is_done_by_few_threads() {
        let lane = lane();
        assert_done(&enter_told(lane, 10_000), 10_000);
        assert_at_rest(lane);
    }

    #[test]
    fn nothing_waits_behind_what_is_stuck() {
        let lane = lane();
        let (free, stuck) = channel::<()>();
        let stuck = Arc::new(Mutex::new(stuck));
        for _ in 0..3 * usual() {
            let stuck = Arc::clone(&stuck);
            enter(lane, move || assert!(stuck.lock().recv().is_err()));
        }
        assert_done(&enter_told(lane, 100), 100);
        drop(free);
        assert_done(&enter_told(lane, 100), 100);
        assert_at_rest(lane);
    }

    #[test]
    fn work_that_panics_takes_no_thread_away() {
        let lane = lane();
        for _ in 0..2 * usual() {
            enter(lane, || panic!("on purpose"));
        }
        assert_done(&enter_told(lane, 10), 10);
        assert_at_rest(lane);
    }
}
