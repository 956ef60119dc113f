//! One connection through a proxy, forwarded read by read.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parking_lot::Mutex;
use rand::rngs::StdRng;

use super::traffic::{Counters, Turn};
use super::trouble::{Fate, Trouble};

/// Larger than what clients usually send at once.
const READ: usize = 64 << 10;

/// A client and its server.
pub(super) struct Connection {
    client: TcpStream,
    server: TcpStream,
    turn: Mutex<Turn>,
    answer_is_lost: AtomicBool,
}

/// Where bytes flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

impl Connection {
    pub(super) fn new(client: TcpStream, server: TcpStream) -> Self {
        for stream in [&client, &server] {
            // What was sent at once is forwarded at once; a socket that refuses is about to close.
            drop(stream.set_nodelay(true));
        }
        let turn = Mutex::new(Turn::Nobody);
        Self { client, server, turn, answer_is_lost: AtomicBool::new(false) }
    }

    /// Closes it for both sides.
    pub(super) fn cut(&self) {
        for stream in [&self.client, &self.server] {
            // It fails for those that are closed already.
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Forwards one direction until its end: orderly, by an error, or by trouble.
    pub(super) fn forward(
        &self,
        direction: Direction,
        mut dice: StdRng,
        trouble: &Mutex<Trouble>,
        counters: &Counters,
    ) {
        let (mut from, mut to) = match direction {
            Direction::Up => (&self.client, &self.server),
            Direction::Down => (&self.server, &self.client),
        };
        let mut buffer = vec![0; READ];
        while let Ok(length) = from.read(&mut buffer) {
            if length == 0 {
                drop(to.shutdown(Shutdown::Write));
                return;
            }
            let trouble = *trouble.lock();
            thread::sleep(trouble.pause(&mut dice));
            let fate = self.fate(direction, length, trouble, &mut dice);
            let passing = match fate {
                Fate::Passes | Fate::AnswerIsLost => length,
                Fate::CutAfter(length) => length,
            };
            let bytes = buffer.get(..passing).unwrap_or_default();
            // It counts before it arrives, so whoever has an answer finds it counted.
            counters.passes(direction, passing, &self.turn);
            if to.write_all(bytes).is_err() || matches!(fate, Fate::CutAfter(_)) {
                break;
            }
        }
        self.cut();
    }

    fn fate(
        &self,
        direction: Direction,
        length: usize,
        trouble: Trouble,
        dice: &mut StdRng,
    ) -> Fate {
        if direction == Direction::Down && self.answer_is_lost.load(Ordering::Acquire) {
            return Fate::CutAfter(0);
        }
        let fate = trouble.fate(direction, length, dice);
        if matches!(fate, Fate::AnswerIsLost) {
            self.answer_is_lost.store(true, Ordering::Release);
        }
        fate
    }
}
