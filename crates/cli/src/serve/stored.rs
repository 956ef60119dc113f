//! `serve --store URL`: a virtual sandbox, which touches no file of this machine but its store's.

use anyhow::{Context as _, Result};
use engine::{ErrorKind, SandboxId, SandboxPath, Store, StoreOptions, VirtualFs};

use crate::config::{Confine, ServeSettings, StoreUrl};
use crate::{local, stores};

use super::log::Log;
use super::wall::Gate;
use super::welcome::{Scope, Welcome};
use super::{COLLECTING, Launch, archive_limits, harden, network, place, runtime, sandbox, wall};

/// Serves a sandbox of a store until a signal comes.
pub(super) fn serve(settings: ServeSettings, url: &StoreUrl) -> Result<()> {
    let ServeSettings { listen, confine, sharing, access, .. } = settings;
    let mut log = Log::start(&listen)?;
    let addresses = network::guarded_addresses(&listen, &access)?;
    let id = SandboxId::parse(confine.sandbox()).context("--sandbox")?;
    let prefix = place::given_prefix(confine.root_prefix.as_deref().unwrap_or("/"))?;
    let (url, reach) = stores::settle(url)?;
    let listener = network::listen_on(&addresses)?;
    let options = sharing.options(network::port(&listener)?)?;
    options.disk_cache.iter().try_for_each(|cache| local::make_lasting_dir(&cache.dir))?;
    let threads = harden();
    // From here on there are threads, and all of them stand behind the wall.
    let cache = options.disk_cache.iter().map(|cache| cache.dir.clone());
    let gate = Gate { own: reach.own.into_iter().chain(cache).collect(), ..Gate::default() };
    let connects = reach.connects || options.address.is_some();
    wall::stand(&confine, &Gate { seen: reach.seen, connects, ..gate });
    log.flow()?;
    let runtime = runtime(threads)?;
    let (files, made) = runtime.block_on(open(&url, options, &id, &confine))?;
    let scope = Scope::Sandbox { store: url, name: id.to_string(), made };
    let launch = Launch {
        welcome: Welcome::new(&listener, &access, scope)?,
        access,
        listener,
        working_directory: SandboxPath::root(),
        archive_limits: archive_limits(&confine),
        most_connections: confine.most_connections(),
        sandbox: sandbox(id.as_str(), files, prefix, SandboxPath::root())?,
        listen,
    };
    runtime.block_on(launch.run(&log))
}

/// The sandbox, and whether it is new.
async fn open(
    url: &StoreUrl,
    options: StoreOptions,
    id: &SandboxId,
    confine: &Confine,
) -> Result<(VirtualFs, bool)> {
    let store = stores::open_with(url, options).await?;
    store.tend(COLLECTING);
    let found = sandbox_of(&store, id, confine).await;
    found.with_context(|| format!("the sandbox {id} cannot be served"))
}

async fn sandbox_of(
    store: &Store,
    id: &SandboxId,
    confine: &Confine,
) -> engine::Result<(VirtualFs, bool)> {
    let limits = confine.limits();
    match store.sandbox(id).await {
        Ok(files) => {
            files.set_limits(limits.over(files.limits())).await?;
            Ok((files, false))
        }
        Err(err) if err.kind() == ErrorKind::NotFound => {
            let none = engine::Limits::default();
            Ok((store.create(id, limits.over(none)).await?, true))
        }
        Err(err) => Err(err),
    }
}
