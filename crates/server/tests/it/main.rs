//! The server as its clients meet it: over TCP, on a real directory.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]
#![expect(clippy::expect_used, reason = "what should happen soon and does not has failed")]
#![expect(clippy::indexing_slicing, reason = "an index out of bounds fails the test, as it should")]
#![expect(clippy::disallowed_methods, reason = "tests prepare and inspect the served directory")]
#![expect(clippy::print_stdout, reason = "figures are told to the scoreboard")]

extern crate sandkeep_server as server;

mod acp;
mod audit;
mod auth;
mod batch;
mod bodies;
mod conditional;
mod contract;
mod cors;
mod cut_off;
mod framing;
mod http;
mod keys;
mod listing;
mod logs;
mod mcp;
mod meta;
mod patch;
mod ranges;
mod roles;
mod sandboxes;
mod sessions;
mod shutdown;
mod slow_clients;
mod status_matrix;
mod strangers;
mod tar_archive;
mod tools;
mod tricks;
