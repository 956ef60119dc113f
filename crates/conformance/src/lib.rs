//! What every [`FileSystem`](engine::FileSystem) promises, as tests that any implementation runs.
//!
//! A promise is an async function named after what it holds an implementation to; the files
//! beneath `promises/` gather them by subject. [`trials`] turns them into tests of one kind of
//! tree, leaving out those that need an [`Ability`] it lacks:
//!
//! ```no_run
//! # use sandkeep_conformance::{self as conformance, Ability, Fixture};
//! # fn fresh_tree(_: engine::Limits) -> Fixture { unimplemented!() }
//! let arguments = libtest_mimic::Arguments::from_args();
//! let trials = conformance::trials("host", Ability::ALL, fresh_tree);
//! libtest_mimic::run(&arguments, trials).exit();
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a promise that is not kept is a panic, which is how a test fails"
)]

mod ability;
mod archive;
mod body;
mod fixture;
mod promise;
mod promises;
mod tree;
mod trial;
mod zip;

pub use ability::Ability;
pub use fixture::{Fixture, PlantFifo};
pub use promise::Promise;
pub use promises::promises;
pub use trial::trials;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    #[expect(clippy::print_stdout, reason = "the number is what one wants to know")]
    fn there_are_at_least_120_promises() {
        let count = promises().count();
        println!("{count} promises");
        assert!(count >= 120, "only {count} promises");
    }

    #[test]
    fn no_two_promises_have_the_same_name() {
        let mut seen = HashSet::new();
        let twice: Vec<_> = promises().map(Promise::name).filter(|&n| !seen.insert(n)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn every_ability_is_needed_by_some_promise() {
        for ability in Ability::ALL {
            assert!(promises().any(|promise| promise.needs().contains(ability)), "{ability:?}");
        }
    }
}
