//! A proxy before a server: it counts what passes, and makes trouble when it is told to.

mod connection;
mod traffic;
mod trouble;

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use connection::{Connection, Direction};
use traffic::Counters;
pub use traffic::Traffic;
pub use trouble::Trouble;

/// A listener on this machine that forwards every connection to a server until it is dropped.
///
/// Without [`Trouble`] it forwards faithfully, and closes what either side closes.
pub struct Proxy {
    address: SocketAddr,
    desk: Arc<Desk>,
    accepting: Option<JoinHandle<()>>,
}

/// What all connections of a proxy share.
struct Desk {
    server: SocketAddr,
    seed: u64,
    trouble: Mutex<Trouble>,
    counters: Counters,
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    closed: AtomicBool,
}

impl Proxy {
    /// A proxy to a server; it says the seed of its dice.
    pub fn to(server: SocketAddr) -> Self {
        Self::seeded(server, rand::random())
    }

    /// A proxy whose connections meet the same troubles as those of another with this seed, given
    /// the same traffic.
    #[expect(clippy::print_stderr, reason = "whoever sees a test fail wants the seed")]
    pub fn seeded(server: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("the listener has an address");
        eprintln!("proxy {address} to {server}, seed {seed}");
        let desk = Arc::new(Desk {
            server,
            seed,
            trouble: Mutex::default(),
            counters: Counters::default(),
            connections: Mutex::default(),
            closed: AtomicBool::new(false),
        });
        let shared = Arc::clone(&desk);
        let accepting = Some(thread::spawn(move || shared.accept(&listener)));
        Self { address, desk, accepting }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes this trouble from now on, also to the connections that are open.
    pub fn set(&self, trouble: Trouble) {
        *self.desk.trouble.lock() = trouble;
    }

    /// Cuts all connections that are open.
    pub fn cut_all(&self) {
        for connection in self.desk.connections.lock().values() {
            connection.cut();
        }
    }

    /// What has passed since the start or the last reset.
    pub fn traffic(&self) -> Traffic {
        self.desk.counters.read()
    }

    /// Counts from nothing again.
    pub fn reset_traffic(&self) {
        self.desk.counters.reset();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.desk.closed.store(true, Ordering::Release);
        // Whoever accepts sees that it is closed when somebody comes.
        drop(TcpStream::connect(self.address));
        drop(self.accepting.take().map(JoinHandle::join));
        self.cut_all();
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Desk {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        let mut dice = StdRng::seed_from_u64(self.seed);
        for (number, client) in (1..).zip(listener.incoming()) {
            if self.closed.load(Ordering::Acquire) {
                return;
            }
            let Ok(client) = client else { continue };
            let refused = self.trouble.lock().refuses(&mut dice);
            if !refused && let Ok(server) = TcpStream::connect(self.server) {
                self.open(number, Connection::new(client, server));
            }
        }
    }

    /// Forwards a connection in both directions until both have ended.
    fn open(self: &Arc<Self>, number: u64, connection: Connection) {
        self.counters.connected();
        let connection = Arc::new(connection);
        self.connections.lock().insert(number, Arc::clone(&connection));
        let desk = Arc::clone(self);
        thread::spawn(move || {
            thread::scope(|threads| {
                threads.spawn(|| desk.forward(&connection, Direction::Down, number));
                desk.forward(&connection, Direction::Up, number);
            });
            desk.connections.lock().remove(&number);
        });
    }

    fn forward(&self, connection: &Connection, direction: Direction, number: u64) {
        let seed = self.seed ^ number.rotate_left(32) ^ u64::from(direction == Direction::Down);
        let dice = StdRng::seed_from_u64(seed);
        connection.forward(direction, dice, &self.trouble, &self.counters);
    }
}
