//! Bytes that nobody of us wrote, and what must hold of them.
//!
//! One module a target, with one function `check` that panics when something does not hold. What
//! they share: `runtime`, `trees` (what a tree shows), `archives` (unpacked here and there) and
//! `face` (a server without a socket).
//!
//! - `paths`: what each face takes a text for
//! - `stored`: pages, records and sealed objects
//! - `import`: exported snapshots that are taken in
//! - `tar`, `zip`: archives
//! - `headers`: ranges and conditions
//! - `rpc`: messages to `/v2/rpc`
//! - `requests`: requests of any kind to any route

mod archives;
mod face;
pub mod headers;
pub mod import;
pub mod paths;
pub mod requests;
pub mod rpc;
mod runtime;
pub mod stored;
pub mod tar;
mod trees;
pub mod zip;
