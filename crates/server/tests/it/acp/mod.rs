//! Agents, and what they are told and say.

mod agents;
mod listener;
