//! What waits for a client's event stream, and what was sent on it a short while ago.
//!
//! An outbox is a ring: it keeps the newest messages, so many of them and so many bytes, whether they
//! were sent or not, so that a client that was cut off gets exactly what it missed. All outboxes of a
//! server share one more bound: each may keep a few messages whatever the others do, and beyond those
//! it draws on a common store, of which a key has a share. Whoever finds that empty, or has drawn his
//! share, lets his own oldest go. What is gone before it was read is told to whoever reads next, never
//! passed over.

mod common;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use engine::Actor;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use self::reader::Cursor;
use crate::problem::render;

pub(in crate::faces) use self::common::CommonStore;
pub(in crate::faces) use self::reader::{Delivery, Reader};

/// What an outbox may keep without drawing on the common store.
const OWN: usize = 16 * 1024;
/// What a message takes beside its text.
const ENVELOPE: usize = 64;
/// How long a new stream waits for the one before it. Who comes back at once may be faster than the
/// news that he left.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often meanwhile the one before is asked whether it is still there. A client that closed its
/// side might be waiting for the rest: only writing to it tells, and only the second time.
const PROBE: Duration = Duration::from_millis(100);
/// How many may listen to one outbox. Whoever comes then takes the place of the one who came first.
const MOST_LISTENERS: usize = 4;

/// How much an outbox keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::faces) struct OutboxRoom {
    pub(in crate::faces) messages: usize,
    pub(in crate::faces) bytes: usize,
}

/// The messages for one client.
#[derive(Debug)]
pub(in crate::faces) struct Outbox {
    state: Mutex<State>,
    /// Something came, nothing more will, or a reader must go.
    news: watch::Sender<()>,
    /// Nobody reads any more.
    left: Notify,
    room: OutboxRoom,
    common: Arc<CommonStore>,
    /// Whose share of it is drawn.
    by: Option<Actor>,
}

#[derive(Debug, Default)]
struct State {
    /// The newest ones, without a gap between them.
    kept: VecDeque<Arc<str>>,
    /// The number of the newest, counted from 1.
    last: u64,
    bytes: usize,
    /// How many of the bytes are of the common store.
    drawn: usize,
    /// Who reads, in the order in which they came.
    readers: VecDeque<u64>,
    /// How many came by now.
    came: u64,
    /// How often those who read were asked whether they are there.
    probes: u64,
    is_closed: bool,
}

/// Somebody reads already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::faces) struct Taken;

impl Outbox {
    pub(in crate::faces) fn new(
        room: OutboxRoom,
        common: &Arc<CommonStore>,
        by: Option<Actor>,
    ) -> Arc<Self> {
        let (news, left, common) = (watch::Sender::new(()), Notify::new(), Arc::clone(common));
        Arc::new(Self { state: Mutex::default(), news, left, room, common, by })
    }

    /// Puts a message in, at the cost of the oldest ones. The number that it has; what comes behind
    /// the end has none of its own.
    pub(in crate::faces) fn post(&self, message: &impl Serialize) -> u64 {
        // JSON without line ends, which an event could not hold.
        let text: Arc<str> = String::from_utf8_lossy(&render(message)).into();
        let number = {
            let mut state = self.state.lock();
            if state.is_closed {
                return state.last;
            }
            state.last += 1;
            // What never fits took everything else out, so that there is no gap inside.
            if self.make_room(&mut state, text.len() + ENVELOPE) {
                state.kept.push_back(text);
            }
            state.last
        };
        self.news.send_replace(());
        number
    }

    /// Lets old messages go until a new one fits, and counts it. Whether it fits at all.
    fn make_room(&self, state: &mut State, bytes: usize) -> bool {
        loop {
            let total = state.bytes + bytes;
            let fits = state.kept.len() < self.room.messages && total <= self.room.bytes;
            if fits && self.draw(state, total) {
                state.bytes = total;
                return true;
            }
            if !self.let_go(state) {
                return false;
            }
        }
    }

    /// Draws on the common store, or gives back to it, until so many bytes may be kept.
    fn draw(&self, state: &mut State, total: usize) -> bool {
        let needed = total.saturating_sub(OWN);
        if needed > state.drawn && !self.common.take(self.by, needed - state.drawn) {
            return false;
        }
        self.common.give_back(self.by, state.drawn.saturating_sub(needed));
        state.drawn = needed;
        true
    }

    fn let_go(&self, state: &mut State) -> bool {
        let Some(oldest) = state.kept.pop_front() else { return false };
        state.bytes = state.bytes.saturating_sub(oldest.len() + ENVELOPE);
        self.draw(state, state.bytes)
    }

    /// Reads what comes behind a message, all of it without one. A number that was never given away
    /// is of another stream, of which nothing was seen here. Only one can read at a time. Whoever says
    /// where he was cut off takes the place of whom nobody has heard of meanwhile.
    pub(in crate::faces) async fn read(
        self: &Arc<Self>,
        after: Option<u64>,
    ) -> Result<Reader, Taken> {
        let waiting = async {
            loop {
                let left = self.left.notified();
                if let Some(reader) = self.try_read(after) {
                    return reader;
                }
                drop(timeout(PROBE, left).await);
            }
        };
        match (timeout(PATIENCE, waiting).await, after) {
            (Ok(reader), _) => Ok(reader),
            (Err(_), Some(_)) => Ok(self.displace(after)),
            (Err(_), None) => Err(Taken),
        }
    }

    /// A reader if there is no other; otherwise that one is asked whether it is there.
    fn try_read(self: &Arc<Self>, after: Option<u64>) -> Option<Reader> {
        let mut state = self.state.lock();
        if state.readers.is_empty() {
            return Some(self.admit(&mut state, after));
        }
        state.probes += 1;
        self.news.send_replace(());
        None
    }

    /// A reader in the place of all others, whose streams end.
    fn displace(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = self.state.lock();
        state.readers.clear();
        self.news.send_replace(());
        self.admit(&mut state, after)
    }

    /// The same, however many read already.
    pub(in crate::faces) fn listen(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = self.state.lock();
        if state.readers.len() >= MOST_LISTENERS {
            state.readers.pop_front();
            self.news.send_replace(());
        }
        self.admit(&mut state, after)
    }

    fn admit(self: &Arc<Self>, state: &mut State, after: Option<u64>) -> Reader {
        state.came += 1;
        state.readers.push_back(state.came);
        let after = after.filter(|after| *after <= state.last).unwrap_or(0);
        let news = self.news.subscribe();
        let (ticket, probed) = (state.came, state.probes);
        let cursor = Cursor { ticket, after, probed };
        Reader { outbox: Arc::clone(self), news, cursor }
    }

    /// The number of the newest message; 0 before the first.
    pub(in crate::faces) fn last(&self) -> u64 {
        self.state.lock().last
    }

    /// Whether somebody reads.
    pub(in crate::faces) fn is_read(&self) -> bool {
        !self.state.lock().readers.is_empty()
    }

    /// Takes no more messages, and ends the stream behind what is there.
    pub(in crate::faces) fn close(&self) {
        self.state.lock().is_closed = true;
        self.news.send_replace(());
    }

    /// What comes behind a message. Nothing if it must be waited for; the inner nothing is the end.
    fn behind(&self, reader: &Cursor) -> Option<Option<Delivery>> {
        let state = self.state.lock();
        let Cursor { ticket, after, probed } = *reader;
        if !state.readers.contains(&ticket) {
            return Some(None);
        }
        if state.probes > probed {
            return Some(Some(Delivery::Probe));
        }
        let kept = u64::try_from(state.kept.len()).unwrap_or(u64::MAX);
        let before_first = state.last.saturating_sub(kept);
        if after < before_first {
            return Some(Some(Delivery::Missed { after, until: before_first }));
        }
        let place = usize::try_from(after - before_first).unwrap_or(usize::MAX);
        match state.kept.get(place) {
            Some(text) => Some(Some(Delivery::Message(after + 1, Arc::clone(text)))),
            None => state.is_closed.then_some(None),
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.common.give_back(self.by, self.state.get_mut().drawn);
    }
}
