//! Ports that nobody listens on.

use std::net::{Ipv4Addr, TcpListener};

/// Below the ports that the kernel gives to outgoing connections: a client that tries to reach a
/// server that was killed could otherwise be given the server's own port, connect to itself, and
/// keep the server from coming back.
const RANGE: std::ops::Range<u16> = 10_000..32_000;

/// Some ports that are free now.
///
/// Somebody may take one before the server does, so whoever starts a server tries again.
pub(crate) fn free(count: usize) -> Vec<u16> {
    let mut held: Vec<TcpListener> = Vec::new();
    while held.len() < count {
        let port = RANGE.start + rand::random::<u16>() % (RANGE.end - RANGE.start);
        held.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, port)));
    }
    held.iter().filter_map(|listener| listener.local_addr().ok()).map(|at| at.port()).collect()
}
