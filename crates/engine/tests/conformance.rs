//! A tree in a real directory keeps every promise, with a staging directory and without one.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

use std::path::PathBuf;
use std::sync::Arc;

use conformance::{Ability, Fixture, trials};
use libtest_mimic::Arguments;
use sandkeep_engine::{Durability, HostFs, HostOptions, Limits, Mounts};
use tempfile::TempDir;

fn main() {
    let arguments = Arguments::from_args();
    let mut all = trials("host", Ability::ALL, |limits| fixture(limits, Staging::Beside));
    all.extend(trials("host-without-staging", Ability::ALL, |limits| {
        fixture(limits, Staging::None)
    }));
    libtest_mimic::run(&arguments, all).exit();
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
