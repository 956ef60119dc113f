//! The `sandkeep` binary as its users, its attackers and its failing machine meet it.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test plays the user, the attacker and the disk, and stops at the first surprise"
)]

// The program as its users meet it.
mod advertise;
mod config;
mod connection;
mod containers;
mod desk;
mod directory_snapshot;
mod fs_commands;
mod keep;
mod keys;
mod log;
mod many;
mod mcp;
mod packaging;
mod reach;
mod reference;
mod refusals;
mod sandbox;
mod search;
mod serve;
mod sharing;
mod site;
mod snapshot;
mod store;
mod store_copy;
mod tools;
mod transfer;
mod watch;

// The machinery of the attacks.
mod archive;
mod attack_form;
mod dice;
mod forged_archive;
mod ledger;
mod mounted;
mod outside;
mod overlay;
mod pattern;
mod raw_http;
mod score;
mod server_process;
mod traffic;

// The attacks.
mod blocking;
mod bombs;
mod clock;
mod crash;
mod crowds;
mod deep;
mod faults;
mod floods;
mod halves;
mod hard_links;
mod hostile_archive;
mod injected;
mod input;
mod lies;
mod memory;
mod names;
mod power;
mod race;
mod random_archive;
mod sparse;
