//! What every file system promises, kept through `/v1/fs` by way of the Rust client.
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made fails its trial")]

use std::future::pending;
use std::sync::Arc;

use client::Remote;
use conformance::{Ability, Fixture};
use engine::{Durability, HostFs, HostOptions, Limits, Mounts, Sandbox, SandboxId, SandboxPath};
use sandkeep_server as server;
use server::{Access, App, Options};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// What `/v1/fs` can express.
const ABILITIES: &[Ability] = &[Ability::Fifos];
const TOKEN: &str = "conformance";

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = conformance::trials("fs_v1", ABILITIES, served);
    libtest_mimic::run(&arguments, trials).exit();
}

/// A tree behind a server of its own, which ends with the runtime of its trial.
fn served(limits: Limits) -> Fixture {
    let outer = tempfile::tempdir().unwrap();
    let directory = tempfile::tempdir_in(outer.path()).unwrap();
    let app = App::new(sandbox(&outer, &directory, limits), options()).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let listener = TcpListener::from_std(listener).unwrap();
    let _serving = tokio::spawn(server::run(listener, app, pending()));
    let files = Remote::connect(&endpoint, Some(TOKEN)).unwrap();
    let root = directory.path().to_owned();
    Fixture::of_directory(Arc::new(files), &root, Box::new((directory, outer)))
}

fn options() -> Options {
    Options::new(Access::Token(TOKEN.to_owned()))
}

fn sandbox(outer: &TempDir, directory: &TempDir, limits: Limits) -> Sandbox {
    let options = HostOptions {
        limits,
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: vec![outer.path().join("staging")],
    };
    Sandbox {
        id: SandboxId::parse("conformance").unwrap(),
        files: Arc::new(HostFs::open(directory.path(), options).unwrap()),
        prefix: SandboxPath::root(),
        home: SandboxPath::root(),
    }
}
