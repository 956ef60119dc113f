//! Promises as trials of one kind of tree.

use std::panic;
use std::time::Duration;

use engine::Limits;
use libtest_mimic::{Failed, Trial};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinError;
use tokio::time::timeout;

use crate::promises::subjects;
use crate::tree::Tree;
use crate::{Ability, Fixture, Promise};

/// How long one promise may take. A hang becomes a failure of that promise alone.
const PATIENCE: Duration = Duration::from_secs(60);

/// The promises that a tree of these abilities must keep, named `kind::subject::promise`. Each
/// runs on a runtime of its own, within which `make` gives it a fresh, empty tree.
pub fn trials<M>(kind: &str, abilities: &[Ability], make: M) -> Vec<Trial>
where
    M: Fn(Limits) -> Fixture + Clone + Send + 'static,
{
    let mut trials = Vec::new();
    for (subject, promises) in subjects() {
        for promise in promises {
            if promise.needs.iter().all(|needed| abilities.contains(needed)) {
                let name = format!("{kind}::{subject}::{}", promise.name);
                let make = make.clone();
                trials.push(Trial::test(name, move || run(promise, &make)));
            }
        }
    }
    trials
}

fn run(promise: &'static Promise, make: &dyn Fn(Limits) -> Fixture) -> Result<(), Failed> {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build()?;
    let fixture = runtime.block_on(async { make(promise.limits) });
    let check = (promise.check)(Tree::of(&fixture));
    let outcome = runtime.block_on(async { timeout(PATIENCE, tokio::spawn(check)).await });
    match outcome {
        Ok(Ok(())) => wind_down(runtime, fixture),
        Ok(Err(failure)) => {
            wind_down(runtime, fixture);
            rethrow(failure);
        }
        Err(_) => {
            // Whatever hangs may hold a blocking thread, which nothing but the process can end.
            runtime.shutdown_background();
            return Err(format!("not kept within {} seconds", PATIENCE.as_secs()).into());
        }
    }
    Ok(())
}

/// Lets abandoned work end before the tree beneath it goes away.
fn wind_down(runtime: Runtime, fixture: Fixture) {
    runtime.shutdown_timeout(Duration::from_secs(10));
    drop(fixture);
}

fn rethrow(failure: JoinError) {
    if let Ok(panic) = failure.try_into_panic() {
        panic::resume_unwind(panic);
    }
}
