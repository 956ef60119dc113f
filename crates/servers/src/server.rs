//! A server that runs as long as somebody holds it.

use std::fmt;
use std::fs;
use std::net::SocketAddr;

use crate::kind::Kind;
use crate::place::Place;
use crate::process::{Process, Silence};
use crate::recipe::{Channel, Recipe, Way};

/// How often a server is started with other ports before it counts as broken.
const TRIES: usize = 4;

/// A real server with a directory of its own; both are gone when it is dropped.
///
/// Whatever does not work is a panic with the last words of the server.
pub struct Server {
    kind: Kind,
    recipe: Box<dyn Recipe>,
    // Dropped in this order: nobody writes to the directory when it is removed.
    process: Process,
    place: Place,
}

impl Server {
    /// Starts a server and waits until it answers.
    pub fn start(kind: Kind) -> Self {
        Self::run(kind, kind.recipe(Channel::Plain, &[]))
    }

    /// The same with lines of its own in the configuration of Redis or Postgres.
    pub fn start_with(kind: Kind, lines: &[&str]) -> Self {
        Self::run(kind, kind.recipe(Channel::Plain, lines))
    }

    /// Starts Redis or Postgres with TLS, and refuses clients that do not speak it.
    pub fn start_tls(kind: Kind) -> Self {
        Self::run(kind, kind.recipe(Channel::Tls, &[]))
    }

    /// The URL of a store of its own; the namespace consists of `a`–`z`, `0`–`9` and `-`.
    pub fn url(&self, namespace: &str) -> String {
        self.url_via(self.address(), namespace)
    }

    /// The same, through a proxy that listens at an address.
    pub fn url_via(&self, address: SocketAddr, namespace: &str) -> String {
        let file = format!("credentials-{}", address.port());
        self.place.replace(&file, &self.recipe.credentials(&self.place, address));
        let credentials = &self.place.text_path(&file);
        self.recipe.url(&self.place, &Way { address, namespace, credentials })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.place.address()
    }

    /// The process that leads its group; another one after each restart.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Kills it with all its processes, as a crash would, and waits until they are gone.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Kills it if it still runs, and starts it again with the same ports and directory.
    pub fn restart(&mut self) {
        self.kill();
        self.start_again();
    }

    /// Lets it end in order, and starts it again with the same ports and directory.
    pub fn restart_politely(&mut self) {
        self.process.end(self.recipe.polite_signal(), self.recipe.time_to_end());
        self.start_again();
    }

    fn run(kind: Kind, recipe: Box<dyn Recipe>) -> Self {
        let mut place = Place::new();
        recipe.prepare(&place);
        let mut tries = 1;
        loop {
            place.take_ports(recipe.ports());
            let mut process = spawn(&*recipe, &place);
            match process.wait_until(|| recipe.answers(&place)) {
                Ok(()) => {
                    recipe.furnish(&place);
                    return Self { kind, recipe, process, place };
                }
                // Somebody else may have taken a port before the server did.
                Err(Silence::Ended) if tries < TRIES => tries += 1,
                Err(Silence::Ended) => fail(kind, "does not start", &process),
                Err(Silence::TooLong) => fail(kind, "does not answer", &process),
            }
        }
    }

    fn start_again(&mut self) {
        self.process = spawn(&*self.recipe, &self.place);
        if self.process.wait_until(|| self.recipe.answers(&self.place)).is_err() {
            fail(self.kind, "does not come back", &self.process);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        for path in self.recipe.litter(&self.place) {
            // It is there only if the server was killed.
            drop(fs::remove_file(path));
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, address) = (self.kind, self.address());
        f.debug_struct("Server").field("kind", &kind).field("address", &address).finish()
    }
}

fn spawn(recipe: &dyn Recipe, place: &Place) -> Process {
    Process::spawn(recipe.command(place), place.path("log"))
}

fn fail(kind: Kind, what: &str, process: &Process) -> ! {
    panic!("{kind:?} {what}; it said last:\n{}", process.last_words())
}
