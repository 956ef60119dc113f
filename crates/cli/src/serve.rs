//! `serve` and `server`: open the tree, build the walls, listen until told to stop.

mod audit;
mod container;
mod directory;
mod log;
mod machine;
mod mcp;
mod network;
mod place;
mod records;
mod stop;
mod stored;
mod wall;
mod welcome;

use std::net::TcpListener;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use engine::{ArchiveLimits, FileSystem, Registry, Sandbox, SandboxId, SandboxPath};
use tokio::runtime::Runtime;

use crate::config::{Access, Confine, Listen, Many, ServeSettings};

use log::Log;
pub(crate) use machine::serve as server;
pub(crate) use mcp::serve as mcp;
use welcome::Welcome;

/// How often the store of a server is freed of what nothing leads to any more.
const COLLECTING: Duration = Duration::from_hours(1);

/// Serves one tree until a signal comes.
pub(crate) fn serve(settings: ServeSettings) -> Result<()> {
    container::refuse_behind_wall(&settings.attach, &settings.confine)?;
    if let Some(attached) = settings.attach.target()? {
        return container::serve(settings, attached);
    }
    match settings.confine.store.clone() {
        Some(url) => stored::serve(settings, &url),
        None => directory::serve(settings),
    }
}

/// A server that is ready to be started.
struct Launch {
    listen: Listen,
    access: Access,
    listener: TcpListener,
    registry: Registry,
    many: Many,
    audit: Option<audit::Target>,
    working_directory: SandboxPath,
    archive_limits: ArchiveLimits,
    most_connections: usize,
    tools: server::ToolOptions,
    welcome: Welcome,
}

impl Launch {
    /// Serves until a signal comes.
    async fn run(mut self, log: &Log) -> Result<()> {
        let stop = stop::on_signal(log.last_words())?;
        let audit = self.audit.take().map(audit::Target::sink);
        let options = server::Options { audit, ..self.options()? };
        let app = server::App::over(self.registry.clone(), options)
            .context("the server cannot be set up")?;
        self.registry.tend();
        self.listener.set_nonblocking(true).context("the port cannot be used")?;
        let listener =
            tokio::net::TcpListener::from_std(self.listener).context("the port cannot be used")?;
        self.welcome.say(&self.listen);
        server::run(listener, app, stop).await.context("the server broke off")?;
        tracing::info!("stopped");
        Ok(())
    }

    fn options(&self) -> Result<server::Options> {
        let list = |values: &Option<Vec<String>>| values.clone().unwrap_or_default();
        let listen = &self.listen;
        let address = self.listener.local_addr().context("the port cannot be read")?;
        Ok(server::Options {
            access: match self.access.token() {
                Some(token) => server::Access::Token(token.into()),
                None => server::Access::Open,
            },
            cors: server::Cors {
                origins: list(&listen.cors_allow_origin),
                methods: list(&listen.cors_allow_method),
                headers: list(&listen.cors_allow_header),
                credentials: listen.cors_allow_credentials == Some(true),
            },
            timeouts: server::Timeouts::default(),
            agents: server::AgentRoom::default(),
            mcp: server::AgentRoom::of_mcp(),
            tools: self.tools.clone(),
            most_connections: self.most_connections,
            working_directory: self.working_directory.clone(),
            archive_limits: self.archive_limits,
            strip_workspace_prefix: self.many.strip_workspace_prefix == Some(true),
            per_key: server::PerKey {
                requests: self.many.rate_limit,
                transfers: self.many.max_transfers,
            },
            audit: None,
            // Without a token, a web page could call through a name that it points at this machine.
            host_names: (self.access == Access::Open && address.ip().is_loopback())
                .then(|| vec![listen.host().to_owned()]),
        })
    }
}

/// Sets the limits of the process. How many threads it should have, which is asked here because
/// behind the wall the quota of a container cannot be read.
fn harden() -> usize {
    wall::limit_process();
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn runtime(threads: usize) -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .context("the threads of the server cannot be started")
}

/// A sandbox whose root is that of no system.
fn sandbox(
    id: &str,
    files: impl FileSystem,
    prefix: SandboxPath,
    home: SandboxPath,
) -> Result<Sandbox> {
    let id = SandboxId::parse(id).context("the sandbox's id")?;
    Ok(Sandbox { id, files: Arc::new(files), prefix, home, is_system: false })
}

fn archive_limits(confine: &Confine) -> ArchiveLimits {
    ArchiveLimits {
        bytes: confine.max_archive_size.map(|size| size.0),
        entries: confine.max_archive_entries,
        depth: None,
    }
}
