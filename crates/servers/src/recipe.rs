//! What differs from server to server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use crate::place::Place;

/// How one kind of server is prepared, run, asked and addressed.
pub(crate) trait Recipe: Send + Sync {
    /// How many ports it listens on; the first is the one that clients use.
    fn ports(&self) -> usize {
        1
    }

    /// Fills its directory, once, before the ports are known.
    fn prepare(&self, place: &Place);

    /// The command that runs it in the foreground, made by [`crate::process::command`].
    fn command(&self, place: &Place) -> Command;

    /// Whether it takes requests by now.
    fn answers(&self, place: &Place) -> bool;

    /// Makes what every store on it needs, once, when it first answers.
    fn furnish(&self, _place: &Place) {}

    /// The files that it leaves outside its directory when it is killed.
    fn litter(&self, _place: &Place) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The signal that lets it end in order.
    fn polite_signal(&self) -> Signal {
        Signal::TERM
    }

    /// How long it may take to end in order.
    fn time_to_end(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// The lines of the credentials file of those who reach it at an address.
    fn credentials(&self, place: &Place, address: SocketAddr) -> String;

    /// The URL of a store, given where its credentials lie.
    fn url(&self, place: &Place, way: &Way<'_>) -> String;
}

/// The way to one store.
pub(crate) struct Way<'a> {
    /// Where the server, or the proxy before it, listens.
    pub(crate) address: SocketAddr,
    /// The name of the store on the server.
    pub(crate) namespace: &'a str,
    /// The path of the file with the credentials.
    pub(crate) credentials: &'a str,
}

/// How clients and server speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Plain,
    Tls,
}
