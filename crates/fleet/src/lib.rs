//! What many processes on one real store promise, as tests: this is what they share.
//!
//! - [`Home`]: where stores of one kind are kept while promises are tried on them
//! - [`Crew`]: four server processes with 32 clients, which tell what they do; `client` is what they
//!   do, `history` what they told, and `checker` compares that with what is there in the end

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test cannot make ready is a panic, which is how a test fails"
)]
#![expect(clippy::print_stdout, reason = "a server process tells that it is ready")]

mod checker;
mod client;
mod crew;
mod figures;
mod furnish;
mod history;
mod home;
mod outfit;
mod piece;
mod process;
mod tree;

pub use crew::{Crew, Outcome, PROCESSES, prepare};
pub use figures::Figures;
pub use home::{Backend, Home};
pub use process::is_server_process;
