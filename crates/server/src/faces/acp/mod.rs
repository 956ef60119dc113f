//! `/v2`: files and sessions as agents ask for them, by JSON-RPC.

mod outbox;
mod stream;
