//! Every backend keeps every promise. A backend joins with one line.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a promise that is not kept is a panic, which is how a test fails"
)]
#![expect(clippy::print_stdout, reason = "the killed process tells, and the crashes say figures")]

mod promises;

use std::env;

use libtest_mimic::Arguments;
use promises::{Ability, Backend, Home, mortal, trials};

const BACKENDS: &[Backend] = &[
    Backend { name: "memory", abilities: &[], home: Home::memory },
    Backend { name: "file", abilities: &[Ability::Lasts, Ability::Exclusive], home: Home::file },
];

fn main() {
    // The crash test starts this program again, as the process that is killed.
    if let [_, mode, url] = &env::args().collect::<Vec<_>>()[..]
        && mode == mortal::MODE
    {
        return mortal::live(url);
    }
    let arguments = Arguments::from_args();
    let all = BACKENDS.iter().flat_map(trials).collect();
    libtest_mimic::run(&arguments, all).exit();
}
