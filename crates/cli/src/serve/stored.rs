//! `serve --store URL`: a virtual sandbox, which touches no file of this machine but its store's.

use anyhow::{Context as _, Result};
use engine::{
    ErrorKind, FileSystem as _, Limits, MainKind, SandboxId, SandboxPath, Store, StoreOptions,
    VirtualFs,
};

use crate::config::{Confine, LimitWish, Reach, ServeSettings, StoreUrl};
use crate::{local, stores};

use super::audit;
use super::log::Log;
use super::wall::Gate;
use super::welcome::{Scope, Welcome};
use super::{
    COLLECTING, Launch, archive_limits, harden, network, place, records, runtime, sandbox, wall,
};

/// Serves a sandbox of a store until a signal comes.
pub(super) fn serve(settings: ServeSettings, url: &StoreUrl) -> Result<()> {
    let ServeSettings { listen, confine, attach, sharing, many, tools, access, .. } = settings;
    let tools = tools.options()?;
    let mut log = Log::start(&listen)?;
    let addresses = network::guarded_addresses(&listen, &access)?;
    sharing.advertise.iter().try_for_each(|address| address.check(&addresses, &access))?;
    let id = SandboxId::parse(confine.sandbox()).context("--sandbox")?;
    let prefix = place::given_prefix(confine.root_prefix.as_deref().unwrap_or("/"))?;
    let (url, reach) = stores::settle(url)?;
    let host_roots = records::host_roots(&many, &url, &[])?;
    let audit = audit::file(many.audit.as_deref())?;
    let listener = network::listen_on(&addresses)?;
    let options = sharing.options(network::port(&listener)?);
    options.disk_cache.iter().try_for_each(|cache| local::make_lasting_dir(&cache.dir))?;
    let threads = harden();
    // From here on there are threads, and all of them stand behind the wall.
    let cache = options.disk_cache.iter().map(|cache| cache.dir.clone());
    let Reach { own, seen, connects } =
        if options.address.is_some() { reach.calling_others() } else { reach };
    // Open files of directories are found again through `/proc/self/fd`.
    let proc = (!host_roots.is_empty()).then(|| "/proc".into());
    let seen = seen.into_iter().chain(proc).collect();
    let own = own.into_iter().chain(cache).chain(host_roots.iter().cloned()).collect();
    wall::stand(&confine, &Gate { own, seen, connects })?;
    log.flow()?;
    let runtime = runtime(threads)?;
    let (store, files, made) = runtime.block_on(open(&url, options, &id, &confine))?;
    let main = sandbox(id.as_str(), files, prefix, SandboxPath::root())?;
    let registry =
        records::registry(store, (main, MainKind::Stored), host_roots, (&confine, &many, &attach))?;
    let scope = Scope::Sandbox { store: url, name: id.to_string(), made };
    let launch = Launch {
        welcome: Welcome::new(&listener, &access, scope)?,
        access,
        listener,
        working_directory: SandboxPath::root(),
        archive_limits: archive_limits(&confine),
        most_connections: confine.most_connections(),
        registry,
        many,
        audit,
        tools,
        listen,
    };
    runtime.block_on(launch.run(&log))
}

/// The store, the sandbox, and whether it is new.
async fn open(
    url: &StoreUrl,
    options: StoreOptions,
    id: &SandboxId,
    confine: &Confine,
) -> Result<(Store, VirtualFs, bool)> {
    let store = stores::open_with(url, options).await?;
    store.tend(COLLECTING);
    let found = sandbox_of(&store, id, confine).await;
    let (files, made) = found.with_context(|| format!("the sandbox {id} cannot be served"))?;
    Ok((store, files, made))
}

async fn sandbox_of(
    store: &Store,
    id: &SandboxId,
    confine: &Confine,
) -> engine::Result<(VirtualFs, bool)> {
    let limits = confine.limits();
    let found = match store.sandbox(id).await {
        Err(err) if err.kind() == ErrorKind::NotFound => {
            match store.create(id, limits.over(Limits::default())).await {
                // Another server, started together with this one, made it first.
                Err(err) if err.kind() == ErrorKind::AlreadyExists => store.sandbox(id).await,
                made => return Ok((made?, true)),
            }
        }
        found => found,
    };
    let files = found?;
    limit(&files, limits).await?;
    Ok((files, false))
}

/// Sets what is wished of the limits. What nobody speaks of here is left to other servers.
async fn limit(files: &VirtualFs, wish: LimitWish) -> engine::Result<()> {
    // Another server may have set some since the sandbox was opened.
    files.refresh().await?;
    let held = files.limits();
    let wished = wish.over(held);
    if wished == held { Ok(()) } else { files.set_limits(wished).await }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;

    use super::*;

    #[test]
    fn one_of_the_servers_that_come_at_once_makes_the_sandbox_and_all_serve_it() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("store.db").display());
        let (id, confine) = (SandboxId::parse("main").unwrap(), Confine::default());
        runtime(2).unwrap().block_on(async {
            let mut servers = Vec::new();
            for _ in 0..8 {
                servers.push(Store::open(&url).await.unwrap());
            }
            // All of them look before any of them has stored anything.
            let found = join_all(servers.iter().map(|store| sandbox_of(store, &id, &confine)));
            let made = found.await.into_iter().filter(|found| found.as_ref().unwrap().1).count();
            assert_eq!(made, 1);
        });
    }
}
