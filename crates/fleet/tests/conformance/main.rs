//! Virtual trees keep every promise on every kind of store that many machines share, and the entry
//! store works on every kind of store.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod entry_store;
mod lasting;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use conformance::{Ability, Fixture, trials};
use engine::{SandboxId, Store};
use lasting::Lasting;
use libtest_mimic::{Arguments, Trial};
use sandkeep_fleet::{Backend, Home};
use servers::together;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// The stores on which the engine's own tests do not run already.
const TREES: [Backend; 7] = [
    Backend::Sqlite,
    Backend::Postgres,
    Backend::Redis,
    Backend::S3,
    Backend::Azure,
    Backend::DynamoDb,
    Backend::Split,
];

const ENTRIES: [Backend; 8] = [
    Backend::Memory,
    Backend::File,
    Backend::Sqlite,
    Backend::Postgres,
    Backend::Redis,
    Backend::S3,
    Backend::Azure,
    Backend::DynamoDb,
];

/// A virtual tree can do everything, but nobody can plant a FIFO in it.
const VIRTUAL: &[Ability] = {
    let [abilities @ .., Ability::Fifos] = Ability::ALL else { panic!("FIFOs are the last") };
    abilities
};

fn main() {
    let arguments = Arguments::from_args();
    let trees = TREES.into_iter().map(|backend| {
        let name = format!("{}_keeps_every_promise", backend.name());
        Trial::test(name, move || together(promises(backend)))
    });
    let entries = ENTRIES.into_iter().map(|backend| {
        let name = format!("{}_serves_the_entry_store", backend.name());
        Trial::test(name, move || together(entry_store::promises(backend)))
    });
    libtest_mimic::run(&arguments, trees.chain(entries).collect()).exit();
}

/// Every promise of a tree, each in a sandbox of its own of one storage.
fn promises(backend: Backend) -> Vec<Trial> {
    let home = Arc::new(Home::of(backend));
    let storage = Arc::new(Lasting::open(&home.url()));
    let sandboxes = Arc::new(AtomicU32::new(0));
    trials(backend.name(), VIRTUAL, move |limits| {
        let id = format!("trial-{}", sandboxes.fetch_add(1, Ordering::Relaxed));
        let id = SandboxId::parse(&id).unwrap();
        let store = Store::over(storage.clone());
        let files = async { store.create(&id, limits).await.unwrap() };
        let files = block_in_place(|| Handle::current().block_on(files));
        let place = Some(home.secret_place().into());
        let alive = Box::new((storage.clone(), Arc::clone(&home)));
        Fixture { files: Arc::new(files), plant_fifo: None, place, alive }
    })
}
