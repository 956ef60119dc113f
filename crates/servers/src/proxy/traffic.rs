//! What passes through a proxy, counted.

use parking_lot::Mutex;

use super::connection::Direction;

/// What has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Connections that were opened to the server.
    pub connections: u64,
    /// How often a client began to speak: at first, or after it heard something.
    ///
    /// Requests that are sent together, before any answer, are one round trip.
    pub round_trips: u64,
    /// Bytes from clients to the server.
    pub sent: u64,
    /// Bytes from the server to clients.
    pub received: u64,
}

/// Who spoke last on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Nobody,
    Client,
    Server,
}

/// The traffic of all connections of a proxy.
#[derive(Default)]
pub(super) struct Counters(Mutex<Traffic>);

impl Counters {
    pub(super) fn connected(&self) {
        self.0.lock().connections += 1;
    }

    pub(super) fn passes(&self, direction: Direction, bytes: usize, turn: &Mutex<Turn>) {
        if bytes == 0 {
            return;
        }
        let mut traffic = self.0.lock();
        let mut turn = turn.lock();
        match direction {
            Direction::Up => {
                traffic.round_trips += u64::from(*turn != Turn::Client);
                traffic.sent += bytes as u64;
                *turn = Turn::Client;
            }
            Direction::Down => {
                traffic.received += bytes as u64;
                *turn = Turn::Server;
            }
        }
    }

    pub(super) fn read(&self) -> Traffic {
        *self.0.lock()
    }

    pub(super) fn reset(&self) {
        *self.0.lock() = Traffic::default();
    }
}
