//! Sandboxes in real containers.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests plant and look where clients may not"
)]

mod attacks;
mod ending;
mod engine_socket;
mod files;
mod fixture;
mod mounts;
mod namespaces;
mod silence;
