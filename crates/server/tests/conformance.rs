//! What every file system promises, kept through `/v1/sandboxes` and `/v1/fs` by way of the Rust
//! client, whichever kind of tree is behind it.
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made fails its trial")]

use std::future::pending;
use std::sync::Arc;

use client::{Remote, Server};
use conformance::{Ability, Fixture, trials};
use engine::{
    Durability, FileSystem, HostFs, HostOptions, Limits, Mounts, Sandbox, SandboxId, SandboxPath,
    Store,
};
use sandkeep_server as server;
use server::{Access, App, Options};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// What a face of the server is called, and the tree that is seen through it.
#[derive(Clone, Copy)]
enum Face {
    FsV1,
    Sandboxes,
}

/// What no interface of requests and answers can express: a handle that outlives its path, and the
/// reason for which a body breaks off.
const OF_A_PROCESS: &[Ability] = &[Ability::LastingHandles, Ability::PackErrors];
/// What a directory cannot do.
const OF_A_TREE: &[Ability] = &[Ability::Batches, Ability::Snapshots];
/// What `/v1/fs` can express of a real directory.
const OF_A_DIRECTORY: &[Ability] = &[Ability::Fifos];
/// What it can express of a virtual tree, in which nobody can plant a FIFO.
const OF_A_STORE: &[Ability] = &[];
const TOKEN: &str = "conformance";

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut all = trials("fs_v1", OF_A_DIRECTORY, |limits| directory(limits, Face::FsV1));
    all.extend(trials("fs_v1-memory", OF_A_STORE, |limits| memory(limits, Face::FsV1)));
    let of_a_directory = all_but(&[OF_A_PROCESS, OF_A_TREE].concat());
    all.extend(trials("sandboxes", &of_a_directory, |limits| directory(limits, Face::Sandboxes)));
    let of_a_store = all_but(&[OF_A_PROCESS, &[Ability::Fifos]].concat());
    all.extend(trials("sandboxes-memory", &of_a_store, |limits| memory(limits, Face::Sandboxes)));
    // What a store on disk adds is promised without a server between, too.
    #[expect(clippy::disallowed_methods, reason = "the long form of the tests is asked for so")]
    let is_long = std::env::var_os("SANDKEEP_LONG").is_some();
    if is_long {
        all.extend(trials("fs_v1-file", OF_A_STORE, |limits| file(limits, Face::FsV1)));
        all.extend(trials("sandboxes-file", &of_a_store, |limits| file(limits, Face::Sandboxes)));
    }
    libtest_mimic::run(&arguments, all).exit();
}

fn all_but(missing: &[Ability]) -> Vec<Ability> {
    Ability::ALL.iter().copied().filter(|ability| !missing.contains(ability)).collect()
}

fn directory(limits: Limits, face: Face) -> Fixture {
    let outer = tempfile::tempdir().unwrap();
    let directory = tempfile::tempdir_in(outer.path()).unwrap();
    let options = HostOptions {
        limits,
        durability: Durability::Relaxed,
        mounts: Mounts::Stay,
        staging: vec![outer.path().join("staging")],
    };
    let files = served(Arc::new(HostFs::open(directory.path(), options).unwrap()), face);
    let root = directory.path().to_owned();
    Fixture::of_directory(files, &root, Box::new((directory, outer)))
}

fn memory(limits: Limits, face: Face) -> Fixture {
    let files = virtual_tree("memory:", limits, face);
    Fixture { files, plant_fifo: None, place: None, alive: Box::new(()) }
}

fn file(limits: Limits, face: Face) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let files = virtual_tree(&format!("file:{}", dir.path().join("store").display()), limits, face);
    let place = Some(dir.path().to_owned());
    Fixture { files, plant_fifo: None, place, alive: Box::new(dir) }
}

fn virtual_tree(url: &str, limits: Limits, face: Face) -> Arc<dyn FileSystem> {
    let files = async {
        let store = Store::open(url).await.unwrap();
        store.create(&id(), limits).await.unwrap()
    };
    let files = block_in_place(|| Handle::current().block_on(files));
    served(Arc::new(files), face)
}

/// A tree as it is seen through a server of its own, which ends with the runtime of its trial.
fn served(files: Arc<dyn FileSystem>, face: Face) -> Arc<dyn FileSystem> {
    let (prefix, home) = (SandboxPath::root(), SandboxPath::root());
    let options = Options::new(Access::Token(TOKEN.to_owned()));
    let app =
        App::new(Sandbox { id: id(), files, prefix, home, is_system: false }, options).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let listener = TcpListener::from_std(listener).unwrap();
    let _serving = tokio::spawn(server::run(listener, app, pending()));
    match face {
        Face::FsV1 => Arc::new(Remote::connect(&endpoint, Some(TOKEN)).unwrap()),
        Face::Sandboxes => {
            Arc::new(Server::connect(&endpoint, Some(TOKEN)).unwrap().sandbox(&id()))
        }
    }
}

fn id() -> SandboxId {
    SandboxId::parse("conformance").unwrap()
}
