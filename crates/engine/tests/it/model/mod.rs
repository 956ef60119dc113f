//! Random sequences of operations give on a real tree what they give on a map of paths.

mod changes;
mod compare;
mod edges;
mod home;
mod killed;
mod looks;
mod operation;
mod reference;
mod snapshots;

use std::sync::Mutex;

use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::{Builder, Runtime};

use self::compare::Pair;
use self::home::Home;
use self::operation::{Operation, a_sequence};
use crate::long;

/// Tries so many sequences, of so many operations, in one store; one that fails is made as short
/// as it can be and shown.
fn try_sequences(runtime: &Runtime, home: Home, sequences: u32, longest: usize) {
    let config = Config {
        cases: sequences * long::factor(),
        failure_persistence: None,
        max_shrink_iters: 4096,
        ..Config::default()
    };
    let home = Mutex::new(home);
    let outcome = TestRunner::new(config).run(&a_sequence(longest), |operations| {
        let mut home = home.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        runtime.block_on(try_sequence(&mut home, &operations));
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

async fn try_sequence(home: &mut Home, operations: &[Operation]) {
    let mut pair = Pair::new(home).await;
    for operation in operations {
        pair.apply(operation).await;
        pair.check().await;
    }
    pair.check_all().await;
    pair.end().await;
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn a_tree_in_memory_does_what_a_map_of_paths_does() {
    try_sequences(&one_thread(), Home::in_memory(), 10_000, 15);
}

#[test]
fn a_tree_of_objects_does_what_a_map_of_paths_does() {
    try_sequences(&one_thread(), Home::as_objects(), 2_000, 30);
}
