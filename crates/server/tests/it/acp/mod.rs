//! Agents, and what they are told and say.

mod agents;
mod bytes;
mod client;
mod files;
mod jsonrpc;
mod limits;
mod listener;
mod owners;
mod prompts;
mod roles;
mod sessions;
mod streams;
mod transport;
mod whatever;

pub(crate) use client::greeting;
