//! Every kind of tree keeps every promise: a real directory, with a staging directory and without
//! one, also where only a process with mounts of its own has it, and virtual trees, in memory and in
//! stores. So does a view of a part of each.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod part;

use std::path::PathBuf;
use std::sync::Arc;

use conformance::{Ability, Fixture, trials};
use libtest_mimic::Arguments;
use sandkeep_engine::{
    AttachTarget, AttachedFs, AttachedOptions, DotDot, Durability, HostFs, HostOptions, Limits,
    Mounts, SandboxId, SandboxPath, Store,
};
use servers::{Namespace, containers_are_left_out};
use storage::MemoryStorage;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use self::part::Part;

fn main() {
    let arguments = Arguments::from_args();
    let mut all = trials("host", &host(), |limits| fixture(limits, Staging::Beside));
    all.extend(trials("host-without-staging", &host(), |limits| fixture(limits, Staging::None)));
    all.extend(trials("memory", VIRTUAL, |limits| virtual_fixture(limits, Kept::InMemory)));
    all.extend(trials("objects", VIRTUAL, |limits| virtual_fixture(limits, Kept::AsObjects)));
    all.extend(trials("file", VIRTUAL, |limits| virtual_fixture(limits, Kept::InFiles)));
    if !containers_are_left_out() {
        all.extend(trials("namespace", &host(), in_namespace));
    }
    let mut parts = trials("part-of-host", &host(), |limits| part_of_host(limits, Staging::Beside));
    parts.extend(trials("part-of-host-without-staging", &host(), |limits| {
        part_of_host(limits, Staging::None)
    }));
    parts.extend(trials("part-of-memory", &part(), |limits| part_of(limits, Kept::InMemory)));
    parts.extend(trials("part-of-objects", &part(), |limits| part_of(limits, Kept::AsObjects)));
    all.extend(parts.into_iter().filter(|trial| !names_longest_path(trial.name())));
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

/// A part of a virtual tree can do what the whole can, but for keeping states.
fn part() -> Vec<Ability> {
    VIRTUAL.iter().copied().filter(|ability| *ability != Ability::Snapshots).collect()
}

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

fn part_of(limits: Limits, kept: Kept) -> Fixture {
    let Fixture { files, place, alive, .. } = virtual_fixture(with_floor(limits), kept);
    Fixture { files: Part::of(&*files), plant_fifo: None, place, alive }
}

fn part_of_host(limits: Limits, staging: Staging) -> Fixture {
    let Fixture { files, place, alive, .. } = fixture(with_floor(limits), staging);
    let root = place.unwrap();
    Fixture::of_directory(Part::of(&*files), &root.join(part::FLOOR.trim_start_matches('/')), alive)
}

/// Whether a promise is about paths that are as long as a path may be: those of a part have its
/// floor before them.
fn names_longest_path(trial: &str) -> bool {
    ["a_path_may_have_4096_bytes", "a_tree_as_deep_as_a_path_can_be_is_removed"]
        .iter()
        .any(|promise| trial.ends_with(promise))
}

/// The floor of a part, and what is above it, counts with the rest.
fn with_floor(limits: Limits) -> Limits {
    let above = part::FLOOR.matches('/').count() as u64;
    Limits { nodes: limits.nodes.map(|nodes| nodes + above), ..limits }
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

/// A directory that only a process in a world of its own has where we look for it.
fn in_namespace(limits: Limits) -> Fixture {
    let alive = tempfile::tempdir().unwrap();
    let root = subdirectory(&alive, "root");
    let namespace = Namespace::of(&root);
    let target = AttachTarget::Process { pid: namespace.pid(), birth: None };
    let path = SandboxPath::parse("/tree", DotDot::Refuse).unwrap();
    let options = AttachedOptions { limits, durability: Durability::Relaxed };
    let files = Arc::new(AttachedFs::new(target, path, options, None).unwrap());
    Fixture::of_directory(files, &root, Box::new((namespace, alive)))
}

#[expect(clippy::disallowed_methods, reason = "the fixture lies outside the tree under test")]
fn subdirectory(parent: &TempDir, name: &str) -> PathBuf {
    let path = parent.path().join(name);
    std::fs::create_dir(&path).unwrap();
    path
}
