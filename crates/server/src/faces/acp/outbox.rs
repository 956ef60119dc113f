//! What waits for a client's event stream, and what was sent on it a short while ago.
//!
//! An outbox is a ring: it keeps the newest messages, so many of them and so many bytes, whether they
//! were sent or not, so that a client that was cut off gets exactly what it missed. All outboxes of a
//! server share one more bound: each may keep a few messages whatever the others do, and beyond those
//! it draws on a common store, of which a key has a share. Whoever finds that empty, or has drawn his
//! share, lets his own oldest go. What is gone before it was read is told to whoever reads next, never
//! passed over.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use engine::Actor;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::problem::render;

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
/// The outboxes of one key together draw at most one part in so many of the common store.
const SHARES: usize = 8;
/// How many may listen to one outbox. Whoever comes then takes the place of the one who came first.
const MOST_LISTENERS: usize = 4;

/// How much an outbox keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::faces) struct OutboxRoom {
    pub(in crate::faces) messages: usize,
    pub(in crate::faces) bytes: usize,
}

/// The bytes that all outboxes may keep together, beyond a few of each.
#[derive(Debug)]
pub(in crate::faces) struct CommonStore {
    drawn: Mutex<Drawn>,
    most: usize,
}

/// How much of a common store is in use.
#[derive(Debug, Default)]
struct Drawn {
    total: usize,
    /// By those who draw something.
    each: HashMap<Option<Actor>, usize>,
}

impl CommonStore {
    pub(in crate::faces) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { drawn: Mutex::default(), most: bytes })
    }

    fn take(&self, by: Option<Actor>, bytes: usize) -> bool {
        let mut drawn = self.drawn.lock();
        let own = drawn.each.get(&by).copied().unwrap_or_default() + bytes;
        // Whoever has the server's own token, or needs none, is the operator.
        let is_key = matches!(by, Some(Actor::Key(_)));
        if drawn.total + bytes > self.most || is_key && own > self.most / SHARES {
            return false;
        }
        drawn.total += bytes;
        drawn.each.insert(by, own);
        true
    }

    fn give_back(&self, by: Option<Actor>, bytes: usize) {
        let mut drawn = self.drawn.lock();
        drawn.total = drawn.total.saturating_sub(bytes);
        if let Some(own) = drawn.each.get_mut(&by) {
            *own = own.saturating_sub(bytes);
            if *own == 0 {
                drawn.each.remove(&by);
            }
        }
    }
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

/// What a reader gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::faces) enum Delivery {
    /// A message, with its number.
    Message(u64, Arc<str>),
    /// The messages behind `after` and up to `until` are no longer there.
    Missed { after: u64, until: u64 },
    /// Somebody asks whether the reader is still there.
    Probe,
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

/// Somebody who reads. When he is dropped, another may.
#[derive(Debug)]
pub(in crate::faces) struct Reader {
    outbox: Arc<Outbox>,
    news: watch::Receiver<()>,
    cursor: Cursor,
}

/// Which reader it is, and where.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    ticket: u64,
    /// The number of the last message that it got.
    after: u64,
    /// How often it was asked whether it is there, up to when it last said so.
    probed: u64,
}

impl Reader {
    /// What comes next. None at the end.
    pub(in crate::faces) async fn next(&mut self) -> Option<Delivery> {
        loop {
            // What comes between the look and the wait ends the wait.
            self.news.mark_unchanged();
            if let Some(next) = self.outbox.behind(&self.cursor) {
                match next {
                    Some(Delivery::Message(number, _) | Delivery::Missed { until: number, .. }) => {
                        self.cursor.after = number;
                    }
                    Some(Delivery::Probe) => self.cursor.probed += 1,
                    None => {}
                }
                return next;
            }
            // The sender is part of the outbox, which is held here.
            self.news.changed().await.ok()?;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.outbox.state.lock().readers.retain(|ticket| *ticket != self.cursor.ticket);
        self.outbox.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use engine::KeyId;
    use futures::FutureExt as _;

    use super::*;

    fn outbox(messages: usize, bytes: usize) -> Arc<Outbox> {
        Outbox::new(OutboxRoom { messages, bytes }, &CommonStore::new(1024 * 1024), None)
    }

    /// What is there by now.
    async fn read(outbox: &Arc<Outbox>, after: Option<u64>) -> Vec<Delivery> {
        let mut reader = outbox.read(after).await.unwrap();
        let mut all = Vec::new();
        while let Some(Some(next)) = reader.next().now_or_never() {
            all.push(next);
        }
        all
    }

    fn message(number: u64) -> Delivery {
        Delivery::Message(number, number.to_string().into())
    }

    fn posted(outbox: &Outbox, numbers: std::ops::RangeInclusive<u64>) {
        for number in numbers {
            assert_eq!(outbox.post(&number), number);
        }
    }

    #[tokio::test]
    async fn whoever_comes_back_gets_exactly_what_he_missed() {
        let outbox = outbox(8, 4096);
        posted(&outbox, 1..=3);
        assert_eq!(read(&outbox, None).await, [message(1), message(2), message(3)]);
        posted(&outbox, 4..=4);
        assert_eq!(read(&outbox, Some(2)).await, [message(3), message(4)]);
        assert_eq!(read(&outbox, Some(4)).await, []);
        assert_eq!(read(&outbox, Some(0)).await.len(), 4);
    }

    #[tokio::test]
    async fn a_number_that_was_never_given_away_is_of_another_stream() {
        let outbox = outbox(8, 4096);
        posted(&outbox, 1..=2);
        assert_eq!(read(&outbox, Some(9)).await, [message(1), message(2)]);
    }

    #[tokio::test]
    async fn what_fell_out_is_told_and_not_passed_over() {
        let outbox = outbox(2, 4096);
        posted(&outbox, 1..=5);
        let missed = Delivery::Missed { after: 1, until: 3 };
        assert_eq!(read(&outbox, Some(1)).await, [missed, message(4), message(5)]);
        assert_eq!(read(&outbox, Some(3)).await, [message(4), message(5)]);
    }

    #[tokio::test]
    async fn bytes_are_bounded_too_and_what_never_fits_is_told() {
        let outbox = outbox(100, 4 * (ENVELOPE + 1));
        posted(&outbox, 1..=6);
        let first = &read(&outbox, None).await[0];
        assert_eq!(*first, Delivery::Missed { after: 0, until: 2 });
        assert_eq!(outbox.post(&"x".repeat(4096)), 7);
        assert_eq!(read(&outbox, Some(6)).await, [Delivery::Missed { after: 6, until: 7 }]);
        posted(&outbox, 8..=8);
        assert_eq!(read(&outbox, Some(7)).await, [message(8)]);
    }

    #[tokio::test]
    async fn all_outboxes_together_keep_no_more_than_the_common_store_and_a_few_each() {
        let common = CommonStore::new(4 * OWN);
        let room = OutboxRoom { messages: 1000, bytes: 64 * OWN };
        let boxes: Vec<_> = (0..8).map(|_| Outbox::new(room, &common, None)).collect();
        let text = "x".repeat(1000);
        for outbox in boxes.iter().cycle().take(8 * 200) {
            outbox.post(&text);
        }
        let kept = |outbox: &Arc<Outbox>| outbox.state.lock().bytes;
        let total: usize = boxes.iter().map(kept).sum();
        assert!(total <= 8 * OWN + 4 * OWN, "{total}");
        // Nobody's share is taken by others.
        assert!(boxes.iter().all(|outbox| kept(outbox) > OWN - 2 * 1000));
        drop(boxes);
        let drawn = common.drawn.lock();
        assert_eq!((drawn.total, drawn.each.len()), (0, 0));
    }

    #[tokio::test]
    async fn a_key_draws_its_share_of_the_common_store_and_leaves_the_rest_to_others() {
        let common = CommonStore::new(SHARES * 2 * OWN);
        let room = OutboxRoom { messages: 1000, bytes: 64 * OWN };
        let key = |id: &str| Some(Actor::Key(KeyId::parse(id).unwrap()));
        let (greedy, other) = (key("aaaaaaaaaaaa"), key("bbbbbbbbbbbb"));
        let many: Vec<_> = (0..2 * SHARES).map(|_| Outbox::new(room, &common, greedy)).collect();
        let text = "x".repeat(1000);
        for outbox in many.iter().cycle().take(many.len() * 100) {
            outbox.post(&text);
        }
        assert!(common.drawn.lock().total <= 2 * OWN);
        let victim = Outbox::new(room, &common, other);
        for _ in 0..40 {
            victim.post(&text);
        }
        assert_eq!(read(&victim, None).await.len(), 40);
        // The operator has no share but all of it.
        let operator = Outbox::new(room, &common, Some(Actor::Token));
        for _ in 0..80 {
            operator.post(&text);
        }
        assert_eq!(read(&operator, None).await.len(), 80);
    }

    #[tokio::test(start_paused = true)]
    async fn only_one_reads_and_whoever_comes_next_waits_a_moment() {
        let outbox = outbox(8, 4096);
        let first = outbox.read(None).await.unwrap();
        assert_eq!(outbox.read(None).await.unwrap_err(), Taken);
        let (second, ()) = tokio::join!(outbox.read(None), async {
            tokio::time::sleep(PATIENCE / 2).await;
            drop(first);
        });
        assert!(second.is_ok() && outbox.is_read());
        drop(second);
        assert!(!outbox.is_read());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_in_the_way_is_asked_whether_he_is_there() {
        let outbox = outbox(8, 4096);
        let mut first = outbox.read(None).await.unwrap();
        let (second, probe) = tokio::join!(outbox.read(None), first.next());
        assert_eq!((second.unwrap_err(), probe), (Taken, Some(Delivery::Probe)));
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_says_where_he_was_cut_off_takes_the_place_of_the_first() {
        let outbox = outbox(8, 4096);
        let mut first = outbox.read(None).await.unwrap();
        posted(&outbox, 1..=2);
        assert_eq!(first.next().await, Some(message(1)));
        let mut second = outbox.read(Some(1)).await.unwrap();
        assert_eq!(second.next().await, Some(message(2)));
        assert_eq!(first.next().await, None);
        drop(first);
        assert_eq!(outbox.read(None).await.unwrap_err(), Taken);
    }

    #[tokio::test]
    async fn a_few_may_listen_at_once_and_the_first_goes_when_there_are_too_many() {
        let outbox = outbox(8, 4096);
        let mut first = outbox.listen(None);
        let mut others: Vec<_> = (1..MOST_LISTENERS).map(|_| outbox.listen(None)).collect();
        posted(&outbox, 1..=1);
        for reader in others.iter_mut().chain([&mut first]) {
            assert_eq!(reader.next().await, Some(message(1)));
        }
        let (end, mut newest) = tokio::join!(first.next(), async { outbox.listen(Some(1)) });
        assert_eq!(end, None);
        drop(first);
        posted(&outbox, 2..=2);
        for reader in others.iter_mut().chain([&mut newest]) {
            assert_eq!(reader.next().await, Some(message(2)));
        }
        drop((others, newest));
        assert!(!outbox.is_read());
    }

    #[tokio::test]
    async fn a_reader_is_woken_and_the_end_comes_behind_the_last_message() {
        let outbox = outbox(8, 4096);
        let mut reader = outbox.read(None).await.unwrap();
        let posting = async {
            tokio::task::yield_now().await;
            posted(&outbox, 1..=1);
            tokio::task::yield_now().await;
            posted(&outbox, 2..=2);
            outbox.close();
            outbox.post(&3);
        };
        let reading = async {
            let mut all = Vec::new();
            while let Some(next) = reader.next().await {
                all.push(next);
            }
            all
        };
        let (all, ()) = tokio::join!(reading, posting);
        assert_eq!(all, [message(1), message(2)]);
    }
}
