//! `serve` and `server`: open the tree, build the walls, listen until told to stop.

mod log;
mod place;
mod stop;
mod wall;
mod welcome;

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, ensure};
use engine::{ArchiveLimits, HostFs, HostOptions, Limits, Mounts, Sandbox, SandboxId, SandboxPath};

use crate::config::{
    Access, Confine, Durability, FoundFile, Listen, ServeSettings, ServerSettings, Size,
};
use crate::failure::OrHint as _;
use crate::{local, staging};

use log::Log;
use welcome::Welcome;

/// Clients that may wait to be accepted, if the system allows as many.
const QUEUE: i32 = 4096;

/// A server that is ready to be started.
struct Launch {
    listen: Listen,
    access: Access,
    listener: TcpListener,
    sandbox: Sandbox,
    working_directory: SandboxPath,
    archive_limits: ArchiveLimits,
    most_connections: usize,
    welcome: Welcome,
}

/// Serves one directory until a signal comes.
pub(crate) fn serve(settings: ServeSettings) -> Result<()> {
    let ServeSettings { listen, confine, access, file, .. } = settings;
    let mut log = Log::start(&listen)?;
    let addresses = addresses(&listen)?;
    if access == Access::Open {
        insist_on_loopback(&addresses, listen.host())?;
    }
    let made = local::make_dir(confine.dir())?;
    let root = local::canonical(confine.dir())?;
    refuse_inner_file(file.as_ref(), &root)?;
    let (prefix, home) =
        (place::prefix(&root, confine.root_prefix.as_deref())?, place::home(&root));
    let working_directory = place::working_directory(&root);
    let staging = place::staging(&root, confine.staging.as_deref())?;
    let listener = listen_on(&addresses)?;
    let threads = harden();
    // From here on there are threads, and all of them stand behind the wall.
    if confine.no_landlock == Some(true) {
        wall::do_without();
    } else {
        wall::build([&root].into_iter().chain(&staging));
    }
    log.flow()?;
    let files = open(&root, &confine, staging)?;
    files.tend().context("the directory cannot be tended")?;
    let launch = Launch {
        welcome: Welcome::directory(&listener, &access, &root, made)?,
        access,
        listener,
        working_directory,
        archive_limits: archive_limits(&confine),
        most_connections: confine.most_connections(),
        sandbox: sandbox(files, prefix, home)?,
        listen,
    };
    start(launch, threads, &log)
}

/// Serves the whole machine until a signal comes.
pub(crate) fn server(settings: ServerSettings) -> Result<()> {
    let ServerSettings { listen, access } = settings;
    let mut log = Log::start(&listen)?;
    let addresses = addresses(&listen)?;
    if access == Access::Open && !addresses.iter().all(|address| address.ip().is_loopback()) {
        tracing::warn!(
            host = listen.host(),
            "there is no token: anybody who reaches this port can change this machine's files"
        );
    }
    let root = Path::new("/");
    let options = HostOptions {
        limits: Limits::default(),
        durability: engine::Durability::Full,
        mounts: Mounts::Cross,
        staging: staging::of_the_user(root).into_iter().collect(),
    };
    let listener = listen_on(&addresses)?;
    let threads = harden();
    log.flow()?;
    tracing::info!(
        "the whole machine is the sandbox; `sandkeep serve DIR` confines clients to DIR"
    );
    let files =
        HostFs::open(root, options).context("the files of this machine cannot be served")?;
    files.tend().context("the files of this machine cannot be tended")?;
    let launch = Launch {
        welcome: Welcome::machine(&listener, &access)?,
        access,
        listener,
        working_directory: place::working_directory(root),
        archive_limits: ArchiveLimits::default(),
        most_connections: Confine::usual().most_connections(),
        sandbox: sandbox(files, SandboxPath::root(), place::home(root))?,
        listen,
    };
    start(launch, threads, &log)
}

/// Sets the limits of the process. How many threads it should have, which is asked here because
/// behind the wall the quota of a container cannot be read.
fn harden() -> usize {
    wall::limit_process();
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn open(root: &Path, confine: &Confine, staging: Option<PathBuf>) -> Result<HostFs> {
    let files = HostFs::open(root, host_options(confine, staging))
        .with_context(|| format!("{} cannot be served", root.display()))?;
    if let (Some(staging), false) = (&confine.staging, files.has_staging()) {
        let staging = staging.display();
        return Err(anyhow!("files cannot be moved from --staging {staging} into the directory"))
            .or_hint(|| {
                "choose a directory that you can write to, on the same file system".into()
            });
    }
    if !files.has_staging() {
        tracing::info!("unfinished files lie hidden in the served directory: there is no staging");
    }
    Ok(files)
}

fn start(launch: Launch, threads: usize, log: &Log) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .context("the threads of the server cannot be started")?;
    runtime.block_on(run(launch, log))
}

async fn run(launch: Launch, log: &Log) -> Result<()> {
    let stop = stop::on_signal(log.last_words())?;
    let options = options(&launch)?;
    let app = server::App::new(launch.sandbox, options).context("the server cannot be set up")?;
    launch.listener.set_nonblocking(true).context("the port cannot be used")?;
    let listener =
        tokio::net::TcpListener::from_std(launch.listener).context("the port cannot be used")?;
    launch.welcome.say(&launch.listen);
    server::run(listener, app, stop).await.context("the server broke off")?;
    tracing::info!("stopped");
    Ok(())
}

fn options(launch: &Launch) -> Result<server::Options> {
    let list = |values: &Option<Vec<String>>| values.clone().unwrap_or_default();
    let listen = &launch.listen;
    let address = launch.listener.local_addr().context("the port cannot be read")?;
    Ok(server::Options {
        access: match launch.access.token() {
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
        most_connections: launch.most_connections,
        working_directory: launch.working_directory.clone(),
        archive_limits: launch.archive_limits,
        // Without a token, a web page could call through a name that it points at this machine.
        host_names: (launch.access == Access::Open && address.ip().is_loopback())
            .then(|| vec![listen.host().to_owned()]),
    })
}

fn sandbox(files: HostFs, prefix: SandboxPath, home: SandboxPath) -> Result<Sandbox> {
    let id = SandboxId::parse("default").context("the sandbox's id")?;
    Ok(Sandbox { id, files: Arc::new(files), prefix, home })
}

fn host_options(confine: &Confine, staging: Option<PathBuf>) -> HostOptions {
    let bytes = |size: Option<Size>| size.map(|size| size.0);
    HostOptions {
        limits: Limits {
            file_size: bytes(confine.max_file_size),
            total_size: bytes(confine.max_total_size),
            nodes: confine.max_nodes,
        },
        durability: match confine.durability {
            Some(Durability::Relaxed) => {
                tracing::warn!("durability is relaxed: a power cut may take acknowledged changes");
                engine::Durability::Relaxed
            }
            Some(Durability::Full) | None => engine::Durability::Full,
        },
        mounts: if confine.cross_mounts == Some(true) { Mounts::Cross } else { Mounts::Stay },
        staging: staging.into_iter().collect(),
    }
}

fn archive_limits(confine: &Confine) -> ArchiveLimits {
    ArchiveLimits {
        bytes: confine.max_archive_size.map(|size| size.0),
        entries: confine.max_archive_entries,
        depth: None,
    }
}

fn addresses(listen: &Listen) -> Result<Vec<SocketAddr>> {
    let host = listen.host();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found: Vec<SocketAddr> = match bare.parse::<IpAddr>() {
        Ok(address) => vec![(address, listen.port()).into()],
        Err(_) => (bare, listen.port())
            .to_socket_addrs()
            .with_context(|| format!("the host {host} has no address"))?
            .collect(),
    };
    ensure!(!found.is_empty(), "the host {host} has no address");
    Ok(found)
}

fn insist_on_loopback(addresses: &[SocketAddr], host: &str) -> Result<()> {
    if let Some(open) = addresses.iter().find(|address| !address.ip().is_loopback()) {
        let refusal = anyhow!(
            "without a token the server listens on this machine only, and {host} is {}",
            open.ip()
        );
        return Err(refusal).or_hint(|| format!("leave out --no-token, or --host {host}"));
    }
    Ok(())
}

fn listen_on(addresses: &[SocketAddr]) -> Result<TcpListener> {
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let listener = TcpListener::bind(addresses)
        .with_context(|| format!("cannot listen on {}", shown.join(", ")))
        .or_hint(|| {
            "choose another port with --port, or let the system choose with --port 0".into()
        })?;
    // The standard library queues 128 clients; the next would be told only by a timeout.
    rustix::net::listen(&listener, QUEUE).context("the port cannot be used")?;
    Ok(listener)
}

/// A file that was found by chance inside the served directory may be the work of the very agent
/// that it is to confine.
fn refuse_inner_file(file: Option<&FoundFile>, root: &Path) -> Result<()> {
    let Some(FoundFile { path, named: false }) = file else { return Ok(()) };
    if !local::canonical(path)?.starts_with(root) {
        return Ok(());
    }
    let path = path.display();
    Err(anyhow!("{path} lies inside the directory it would configure, where clients can change it"))
        .or_hint(|| format!("move it away, or name it if you mean it: --config {path}"))
}
