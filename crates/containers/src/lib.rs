//! Which process a container runs as, as its engine tells.
//!
//! Docker and Podman answer on a socket of this machine, in the words of Docker's API. One question is
//! asked, `GET /containers/{name}/json`; no program is ever started. What comes back is limited in
//! time and size, and believed only where it makes sense.

mod answer;
mod sockets;
mod talk;

pub use sockets::{Sockets, Surroundings};
