//! The Model Context Protocol: tools and files as the programs around a model ask for them.
//!
//! `Handler` knows no transport. [`serve`] gives it one end of a pipe; `faces/mcp` gives it what
//! comes by HTTP. The SDK speaks both eras of the protocol: that of `initialize` and sessions, and
//! that of 2026-07-28, in which every request stands alone.
//!
//! - `standing`: where a client stands, and what it may do there; `roots`: where it says to stay
//! - `handler`: which method is answered by whom
//! - `tools`: the list of tools, and calls of them
//! - `uri`, `resources`, `completion`: files and directories as resources
//! - `subscriptions`: who is told what of them changed; `changes`: how that is found out
//! - `instructions`: what a model is told of the place
//! - `failures`: what went wrong, in the codes of the protocol
//! - `in_flight`: how much is asked at once
//! - `bounds`: how much a message may hold; `pipe`: messages as lines

mod bounds;
mod changes;
mod completion;
mod failures;
mod handler;
mod in_flight;
mod instructions;
mod pipe;
mod resources;
mod roots;
mod standing;
mod subscriptions;
mod tools;
mod uri;

pub(crate) use bounds::check;
#[cfg(test)]
pub(crate) use failures::table;
pub(crate) use handler::Handler;
pub(crate) use in_flight::InFlight;
pub(crate) use pipe::longest;
pub use pipe::{Offer, serve};
pub use roots::Served;
pub(crate) use standing::Standing;
#[cfg(fuzzing)]
pub(crate) use {roots::part_of, uri::of as address_of, uri::outward};
