//! `server`: the whole machine.

use std::path::Path;

use anyhow::{Context as _, Result};
use engine::{
    ArchiveLimits, Durability, HostFs, HostOptions, Limits, MainKind, Mounts, Sandbox, SandboxKind,
    SandboxPath, Store,
};

use crate::config::{Access, Attach, Confine, MAIN, Many, ServerSettings};
use crate::staging;

use super::log::Log;
use super::welcome::{Scope, Welcome};
use super::{Launch, harden, network, place, records, runtime, sandbox};

/// Serves the whole machine until a signal comes.
pub(crate) fn serve(settings: ServerSettings) -> Result<()> {
    let ServerSettings { listen, tools, access } = settings;
    let tools = tools.options()?;
    let mut log = Log::start(&listen)?;
    let addresses = network::addresses(&listen)?;
    if access == Access::Open && !addresses.iter().all(|address| address.ip().is_loopback()) {
        tracing::warn!(
            host = listen.host(),
            "there is no token: anybody who reaches this port can change this machine's files"
        );
    }
    let root = Path::new("/");
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Full,
        mounts: Mounts::Cross,
        staging: staging::of_the_user(root).into_iter().collect(),
    };
    let listener = network::listen_on(&addresses)?;
    let threads = harden();
    log.flow()?;
    tracing::info!(
        "the whole machine is the sandbox; `sandkeep serve DIR` confines clients to DIR"
    );
    let files =
        HostFs::open(root, options).context("the files of this machine cannot be served")?;
    files.tend().context("the files of this machine cannot be tended")?;
    let sandbox = sandbox(MAIN, files, SandboxPath::root(), place::home(root))?;
    let sandbox = Sandbox { is_system: true, ..sandbox };
    let kind = SandboxKind::Host { root: "/".into(), made: false };
    let main = (sandbox, MainKind::Apart(kind, Limits::default()));
    let usual = (&Confine::default(), &Many::usual(), &Attach::usual());
    let registry = records::registry(Store::in_memory(), main, Vec::new(), usual)?;
    let launch = Launch {
        welcome: Welcome::new(&listener, &access, Scope::Machine)?,
        access,
        listener,
        working_directory: place::working_directory(root),
        archive_limits: ArchiveLimits::default(),
        most_connections: Confine::default().most_connections(),
        registry,
        many: Many::usual(),
        audit: None,
        tools,
        listen,
    };
    runtime(threads)?.block_on(launch.run(&log))
}
