//! `mcp`: one tree for the program that started this one, over standard input and output.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use engine::{
    Durability, ErrorKind, FileSystem, HostFs, HostOptions, Limits, Links, Mounts, Role, Sandbox,
    SandboxId, SandboxPath, VirtualFs, Workspace,
};
use server::mcp::{Offer, Served};
use tokio_util::sync::CancellationToken;
use tools::{CallSettings, Settings};

use crate::command_line::{CallFlags, McpFlags, Offered};
use crate::config::{Confine, Listen, Reach, StoreUrl};
use crate::failure::OrHint as _;
use crate::{local, remote, stores};

use super::log::Log;
use super::wall::Gate;
use super::{COLLECTING, harden, place, runtime, stop, wall};

/// Offers a tree until the client closes its end, or a signal comes.
pub(crate) fn serve(flags: &McpFlags) -> Result<()> {
    let listen =
        Listen { log: Some(flags.log.clone()), log_format: flags.log_format, ..Listen::default() };
    let mut log = Log::start(&listen)?;
    let ground = Ground::settle(flags)?;
    let threads = harden();
    // From here on there are threads, and all of them stand behind the wall.
    if let Some(gate) = ground.gate() {
        let no_landlock = Some(flags.no_landlock);
        wall::stand(&Confine { no_landlock, ..Confine::default() }, &gate)?;
    }
    log.flow()?;
    let runtime = runtime(threads)?;
    let outcome = runtime.block_on(offer(flags, ground, &log));
    // Whoever reads standard input sits on a thread that nothing wakes.
    runtime.shutdown_background();
    outcome
}

async fn offer(flags: &McpFlags, ground: Ground, log: &Log) -> Result<()> {
    let stop = CancellationToken::new();
    let signal = stop::on_signal(log.last_words())?;
    let stopping = stop.clone();
    tokio::spawn(async move {
        signal.await;
        stopping.cancel();
    });
    let served = ground.served().filter(|_| !flags.ignore_roots);
    let sandbox = ground.open(flags).await?;
    let settings = settings(&flags.limits, &sandbox)?;
    let role = if settings.read_only { Role::Viewer } else { Role::Owner };
    let workspace = Workspace::new(Arc::new(sandbox), role, None);
    let offer = Offer { workspace, settings, served };
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    server::mcp::serve(offer, input, output, stop).await.context("the client cannot be served")
}

/// How much calls may do, as the flags say it.
fn settings(flags: &CallFlags, sandbox: &Sandbox) -> Result<Settings> {
    let usual = Settings::for_models();
    let settings = Settings {
        default_encoding: flags.default_encoding,
        max_file_size: flags.max_file_size.map_or(usual.max_file_size, |size| size.0),
        max_result_bytes: flags.max_result_bytes.map_or(usual.max_result_bytes, |size| size.0),
        timeout: flags.timeout.map_or(usual.timeout, |time| time.0),
        max_depth: flags.max_depth.map_or(usual.max_depth, Into::into),
        max_entries: flags.max_entries.map_or(usual.max_entries, Into::into),
        read_only: flags.read_only,
        ..usual
    };
    let paths = CallSettings {
        allowed_paths: (!flags.allowed_path.is_empty()).then(|| flags.allowed_path.clone()),
        blocked_paths: flags.blocked_path.clone(),
        ..CallSettings::default()
    };
    let settings = settings.in_sandbox(sandbox).narrowed(&paths, sandbox);
    settings.context("--allowed-path and --blocked-path").or_hint(|| {
        "name paths as the client sees them, or relative to the root of the tree".into()
    })
}

/// The tree that is offered, before it is opened: nothing behind the wall can be made any more.
enum Ground {
    Directory {
        root: PathBuf,
        /// As it was spelled, which is how a client may know it.
        spelled: PathBuf,
        staging: Option<PathBuf>,
        snapshots: Option<(StoreUrl, Reach)>,
    },
    Stored(StoreUrl, Reach),
    Served {
        endpoint: String,
        token: Option<String>,
    },
}

impl Ground {
    fn settle(flags: &McpFlags) -> Result<Self> {
        Ok(match flags.offered()? {
            Offered::Directory(dir, snapshots) => {
                let there = || "name a directory that exists".into();
                let root = local::canonical(&dir).or_hint(there)?;
                if !local::look(&root)?.is_some_and(|found| found.is_dir()) {
                    return Err(anyhow!("{} is not a directory", dir.display())).or_hint(there);
                }
                let snapshots = snapshots.map(|url| {
                    stores::refuse_overlap(&url, &root)?;
                    stores::settle(&url)
                });
                Self::Directory {
                    staging: place::staging(&root, None)?,
                    snapshots: snapshots.transpose()?,
                    spelled: std::path::absolute(&dir)?,
                    root,
                }
            }
            Offered::Stored(url) => {
                if url != StoreUrl::Memory {
                    stores::refuse_missing(&url)?;
                }
                let (url, reach) = stores::settle(&url)?;
                Self::Stored(url, reach)
            }
            Offered::Served { endpoint, token } => Self::Served { endpoint, token },
        })
    }

    /// What the wall lets through. There is none around a client of a server, which opens no file.
    fn gate(&self) -> Option<Gate> {
        match self {
            Self::Directory { root, staging, snapshots, .. } => {
                let reach = snapshots.iter().map(|(_, reach)| reach.clone()).next();
                let Reach { own, seen, connects } = reach.unwrap_or_default();
                let own = own.into_iter().chain([root.clone()]).chain(staging.clone()).collect();
                // Open files are found again through `/proc/self/fd`.
                let seen = seen.into_iter().chain(["/proc".into()]).collect();
                Some(Gate { own, seen, connects })
            }
            Self::Stored(_, Reach { own, seen, connects }) => {
                Some(Gate { own: own.clone(), seen: seen.clone(), connects: *connects })
            }
            Self::Served { .. } => None,
        }
    }

    /// The directory, by all names under which a client may know it.
    fn served(&self) -> Option<Served> {
        match self {
            Self::Directory { root, spelled, .. } => {
                Some(Served(vec![root.clone(), spelled.clone()]))
            }
            Self::Stored(..) | Self::Served { .. } => None,
        }
    }

    async fn open(self, flags: &McpFlags) -> Result<Sandbox> {
        let id = flags.sandbox.clone();
        let wished = flags.root_prefix.as_deref();
        let prefix = match &self {
            Self::Directory { root, .. } => place::prefix(root, wished)?,
            Self::Stored(..) | Self::Served { .. } => place::given_prefix(wished.unwrap_or("/"))?,
        };
        let is_system = matches!(&self, Self::Directory { root, .. } if place::is_system(root));
        let files: Arc<dyn FileSystem> = match self {
            Self::Directory { root, staging, snapshots, .. } => {
                Arc::new(directory(&root, staging, snapshots.map(|(url, _)| url), &id).await?)
            }
            Self::Stored(url, _) => Arc::new(stored(&url, &id).await?),
            Self::Served { endpoint, token } => {
                let found = of_server(&endpoint, token.as_deref(), &id).await;
                advised(found, &endpoint)?
            }
        };
        Ok(Sandbox { id, files, prefix, home: SandboxPath::root(), is_system })
    }
}

async fn directory(
    root: &Path,
    staging: Option<PathBuf>,
    snapshots: Option<StoreUrl>,
    id: &SandboxId,
) -> Result<HostFs> {
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Full,
        mounts: Mounts::Stay,
        staging: staging.into_iter().collect(),
    };
    let files = HostFs::open(root, options)
        .with_context(|| format!("{} cannot be offered", root.display()))?;
    files.tend().context("the directory cannot be tended")?;
    let Some(url) = snapshots else { return Ok(files) };
    let store = stores::open_or_make(&url).await?;
    let files = files.with_snapshots(store, id.clone());
    stores::check_snapshots(&files, &format!("--dir {}", root.display())).await?;
    Ok(files)
}

async fn stored(url: &StoreUrl, id: &SandboxId) -> Result<VirtualFs> {
    let store = stores::open_or_make(url).await?;
    store.tend(COLLECTING);
    match store.sandbox(id).await {
        // Nobody could have made one there before.
        Err(err) if err.kind() == ErrorKind::NotFound && *url == StoreUrl::Memory => {
            Ok(store.create(id, Limits::default()).await?)
        }
        outcome => outcome.or_hint(|| stores::which(url)),
    }
}

async fn of_server(
    endpoint: &str,
    token: Option<&str>,
    id: &SandboxId,
) -> Result<Arc<dyn FileSystem>> {
    let files = client::Server::connect(endpoint, token)?.sandbox(id);
    files.stat(&SandboxPath::root(), Links::Follow).await?;
    Ok(Arc::new(files))
}

fn advised<T>(found: Result<T>, endpoint: &str) -> Result<T> {
    match found {
        Ok(found) => Ok(found),
        Err(err) => {
            remote::advised(Err(err), endpoint, Some("DIR"))?;
            Err(anyhow!("the server cannot be used"))
        }
    }
}
