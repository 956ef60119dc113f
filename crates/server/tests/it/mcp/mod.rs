//! The Model Context Protocol over HTTP.

mod cancelled;
mod client;
mod gate;
mod messages;
mod owners;
mod streams;

pub(crate) use client::greeting;
