//! Where a server listens.

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::config::{Access, Listen};
use crate::failure::OrHint as _;

/// Clients that may wait to be accepted, if the system allows as many.
const QUEUE: i32 = 4096;

/// The addresses to listen on.
pub(super) fn addresses(listen: &Listen) -> Result<Vec<SocketAddr>> {
    let host = listen.host();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = match bare.parse::<IpAddr>() {
        Ok(address) => vec![(address, listen.port()).into()],
        Err(_) => (bare, listen.port())
            .to_socket_addrs()
            .with_context(|| format!("the host {host} has no address"))?
            .collect(),
    };
    ensure!(!found.is_empty(), "the host {host} has no address");
    Ok(found)
}

/// The same, for a server that serves strangers from this machine only.
pub(super) fn guarded_addresses(listen: &Listen, access: &Access) -> Result<Vec<SocketAddr>> {
    let addresses = addresses(listen)?;
    if *access == Access::Open {
        insist_on_loopback(&addresses, listen.host())?;
    }
    Ok(addresses)
}

fn insist_on_loopback(addresses: &[SocketAddr], host: &str) -> Result<()> {
    if let Some(open) = addresses.iter().find(|address| !address.ip().is_loopback()) {
        let refusal = anyhow!(
            "without a token the server listens on this machine only, and {host} is {}",
            open.ip()
        );
        return Err(refusal).or_hint(|| format!("leave out --no-token, or --host {host}"));
    }
    Ok(())
}

/// Takes the first address that is free.
pub(super) fn listen_on(addresses: &[SocketAddr]) -> Result<TcpListener> {
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let listener = TcpListener::bind(addresses)
        .with_context(|| format!("cannot listen on {}", shown.join(", ")))
        .or_hint(|| {
            "choose another port with --port, or let the system choose with --port 0".into()
        })?;
    // The standard library queues 128 clients; the next would be told only by a timeout.
    rustix::net::listen(&listener, QUEUE).context("the port cannot be used")?;
    Ok(listener)
}

/// The port on which a listener listens.
pub(super) fn port(listener: &TcpListener) -> Result<u16> {
    Ok(listener.local_addr().context("the port cannot be told")?.port())
}
