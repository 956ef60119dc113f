//! Every backend that is a server keeps every promise, on a real one that is started for it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a promise that is not kept is a panic, which is how a test fails"
)]
#![expect(clippy::print_stdout, reason = "the killed process tells, and the crashes say figures")]

mod promises;

use std::env;
use std::sync::atomic::{AtomicU32, Ordering};

use libtest_mimic::{Arguments, Trial};
use promises::{Ability, Backend, Home, mortal, trials};
use servers::{Kind, Server, together};
use tokio::runtime::Builder;

/// The servers for which there is a driver in this build.
const SERVERS: &[(&str, Kind)] = &[
    #[cfg(feature = "postgres")]
    ("postgres", Kind::Postgres),
    #[cfg(feature = "redis")]
    ("redis", Kind::Redis),
    #[cfg(feature = "blobs")]
    ("s3", Kind::SeaweedFs),
    #[cfg(feature = "blobs")]
    ("az", Kind::Azurite),
    #[cfg(feature = "dynamodb")]
    ("dynamodb", Kind::Ministack),
];

fn main() {
    // The crash test starts this program again, as the process that is killed.
    if let [_, mode, url] = &env::args().collect::<Vec<_>>()[..]
        && mode == mortal::MODE
    {
        return mortal::live(url);
    }
    let arguments = Arguments::from_args();
    let servers = SERVERS.iter().map(|&(name, kind)| {
        Trial::test(format!("{name}_keeps_every_promise"), move || together(all_of(name, kind)))
    });
    libtest_mimic::run(&arguments, servers.collect()).exit();
}

/// Every promise, each on a store of its own of one server.
fn all_of(name: &'static str, kind: Kind) -> Vec<Trial> {
    let (server, stores) = (Server::start(kind), AtomicU32::new(0));
    prove(&server.url("proof"));
    let home = move || {
        let number = stores.fetch_add(1, Ordering::Relaxed);
        Home { url: server.url(&format!("trial-{number}")), alive: Box::new(()) }
    };
    trials(&Backend::new(name, &[Ability::Lasts], home))
}

/// Opens a store of a server in the way that everybody does, which is refused unless it is sound.
fn prove(url: &str) {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(sandkeep_storage::open(url)).map(drop).unwrap();
}
