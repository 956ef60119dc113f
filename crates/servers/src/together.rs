//! Many trials on one server, as one test.

use std::env;

use libtest_mimic::{Arguments, Failed, Trial};

/// How many run at a time. They wait for the server more than they work.
const AT_ONCE: usize = 8;

/// Runs trials in this process, several at a time, and says which failed.
///
/// A test runner that gives each test a process of its own would start the server for each of them.
/// `SANDKEEP_PROMISES` chooses those whose names contain a word.
pub fn together(trials: Vec<Trial>) -> Result<(), Failed> {
    let filter = env::var("SANDKEEP_PROMISES").ok();
    let arguments = Arguments { filter, test_threads: Some(AT_ONCE), ..Arguments::default() };
    let conclusion = libtest_mimic::run(&arguments, trials);
    if conclusion.has_failed() {
        return Err(format!("{} promises are not kept", conclusion.num_failed).into());
    }
    if conclusion.num_passed == 0 {
        return Err("no promise was tried".into());
    }
    Ok(())
}
