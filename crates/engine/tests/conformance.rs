//! Every kind of tree keeps every promise: a real directory, with a staging directory and without
//! one, and virtual trees, in memory and in stores.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

use std::path::PathBuf;
use std::sync::Arc;

use conformance::{Ability, Fixture, trials};
use libtest_mimic::Arguments;
use sandkeep_engine::{Durability, HostFs, HostOptions, Limits, Mounts, SandboxId, Store};
use storage::MemoryStorage;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

fn main() {
    let arguments = Arguments::from_args();
    let mut all = trials("host", &host(), |limits| fixture(limits, Staging::Beside));
    all.extend(trials("host-without-staging", &host(), |limits| fixture(limits, Staging::None)));
    all.extend(trials("memory", VIRTUAL, |limits| virtual_fixture(limits, Kept::InMemory)));
    all.extend(trials("objects", VIRTUAL, |limits| virtual_fixture(limits, Kept::AsObjects)));
    all.extend(trials("file", VIRTUAL, |limits| virtual_fixture(limits, Kept::InFiles)));
    libtest_mimic::run(&arguments, all).exit();
}

/// A real directory can do everything but many changes as one, and keeping states.
fn host() -> Vec<Ability> {
    let missing = [Ability::Batches, Ability::Snapshots];
    Ability::ALL.iter().copied().filter(|ability| !missing.contains(ability)).collect()
}

/// A virtual tree can do everything, but nobody can plant a FIFO in it.
const VIRTUAL: &[Ability] = {
    let [abilities @ .., Ability::Fifos] = Ability::ALL else { panic!("FIFOs are the last") };
    abilities
};

/// How a virtual tree is kept.
#[derive(Clone, Copy)]
enum Kept {
    /// As it is, in memory.
    InMemory,
    /// As objects in memory, so that everything is stored and fetched again.
    AsObjects,
    /// In the embedded store.
    InFiles,
}

fn virtual_fixture(limits: Limits, kept: Kept) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let files = async {
        let store = match kept {
            Kept::InMemory => Store::in_memory(),
            Kept::AsObjects => Store::flushing(Arc::new(MemoryStorage::default())),
            Kept::InFiles => {
                Store::open(&format!("file:{}", dir.path().join("store").display())).await.unwrap()
            }
        };
        store.create(&SandboxId::parse("trial").unwrap(), limits).await.unwrap()
    };
    let files = block_in_place(|| Handle::current().block_on(files));
    let place = Some(dir.path().to_owned());
    Fixture { files: Arc::new(files), plant_fifo: None, place, alive: Box::new(dir) }
}

/// Where unfinished files lie.
#[derive(Clone, Copy)]
enum Staging {
    /// In a directory beside the root.
    Beside,
    /// Hidden beside their targets.
    None,
}

fn fixture(limits: Limits, staging: Staging) -> Fixture {
    let alive = tempfile::tempdir().unwrap();
    let root = subdirectory(&alive, "root");
    let staging = match staging {
        Staging::Beside => vec![subdirectory(&alive, "staging")],
        Staging::None => Vec::new(),
    };
    let (durability, mounts) = (Durability::Relaxed, Mounts::Stay);
    let options = HostOptions { limits, durability, mounts, staging };
    let files = Arc::new(HostFs::open(&root, options).unwrap());
    Fixture::of_directory(files, &root, Box::new(alive))
}

#[expect(clippy::disallowed_methods, reason = "the fixture lies outside the tree under test")]
fn subdirectory(parent: &TempDir, name: &str) -> PathBuf {
    let path = parent.path().join(name);
    std::fs::create_dir(&path).unwrap();
    path
}
