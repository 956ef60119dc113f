//! Promises as trials of one backend.

use std::panic;
use std::time::Duration;

use futures::future::BoxFuture;
use libtest_mimic::{Failed, Trial};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::store::is_server;
use super::{Ability, Backend, SUBJECTS, Store};

/// How long one promise may take. A hang becomes a failure of that promise alone.
const PATIENCE: Duration = Duration::from_secs(120);
/// The same on a server, which several promises keep busy at once.
const PATIENCE_WITH_SERVERS: Duration = Duration::from_secs(600);
/// How long the crashes may take, of which there are many.
const LONG_PATIENCE: Duration = Duration::from_secs(3600);

/// Something that every backend keeps, and how to see that it does.
pub(crate) struct Promise {
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [Ability],
    pub(crate) check: fn(Store) -> BoxFuture<'static, ()>,
}

/// Registers the promises of a file, one line each: `name;` or `name needs Ability, Ability;`.
macro_rules! promises {
    ($($name:ident $(needs $($ability:ident),+)?;)+) => {
        pub(crate) const PROMISES: &[$crate::promises::Promise] = &[$($crate::promises::Promise {
            name: stringify!($name),
            needs: &[$($($crate::promises::Ability::$ability),+)?],
            check: |store| Box::pin($name(store)),
        }),+];
    };
}

pub(crate) use promises;

/// The promises that a backend must keep, named `backend::subject::promise`.
pub(crate) fn trials(backend: &Backend) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (subject, promises) in SUBJECTS {
        for promise in *promises {
            if promise.needs.iter().all(|needed| backend.abilities.contains(needed)) {
                let name = format!("{}::{subject}::{}", backend.name, promise.name);
                let backend = backend.clone();
                trials.push(Trial::test(name, move || run(promise, &backend)));
            }
        }
    }
    trials
}

fn run(promise: &'static Promise, backend: &Backend) -> Result<(), Failed> {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build()?;
    let home = (backend.home)();
    let store = runtime.block_on(Store::for_trial(&home.url));
    let patience = match (promise.name.contains("killed"), is_server(&home.url)) {
        (true, _) => LONG_PATIENCE,
        (false, true) => PATIENCE_WITH_SERVERS,
        (false, false) => PATIENCE,
    };
    let check = runtime.spawn((promise.check)(store));
    let outcome = runtime.block_on(async { timeout(patience, check).await });
    wind_down(runtime);
    drop(home.alive);
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => panic::resume_unwind(failure.into_panic()),
        Err(_) => Err(format!("not kept within {} seconds", patience.as_secs()).into()),
    }
}

/// Lets abandoned work end before the store beneath it goes away.
fn wind_down(runtime: Runtime) {
    runtime.shutdown_timeout(Duration::from_secs(10));
}
