//! `serve DIR`: one directory, confined by the kernel.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use engine::{HostFs, HostOptions, Limits, MainKind, Mounts, Sandbox, SandboxKind};

use crate::config::{Confine, Durability, FoundFile, ServeSettings};
use crate::failure::OrHint as _;
use crate::local;

use super::audit;
use super::log::Log;
use super::records::{self, Records};
use super::wall::Gate;
use super::welcome::{Scope, Welcome};
use super::{Launch, archive_limits, harden, network, place, runtime, sandbox, wall};

/// Serves one directory until a signal comes.
pub(super) fn serve(settings: ServeSettings) -> Result<()> {
    let ServeSettings { listen, confine, attach, many, tools, access, file, .. } = settings;
    let tools = tools.options()?;
    let mut log = Log::start(&listen)?;
    let addresses = network::guarded_addresses(&listen, &access)?;
    let made = local::make_dir(confine.dir())?;
    let root = local::canonical(confine.dir())?;
    refuse_inner_file(file.as_ref(), &root)?;
    let (prefix, home) =
        (place::prefix(&root, confine.root_prefix.as_deref())?, place::home(&root));
    let working_directory = place::working_directory(&root);
    let staging = place::staging(&root, confine.staging.as_deref())?;
    let records = Records::of(&confine, &root)?;
    let others = staging.as_deref().map(|staging| ("--staging", staging));
    let others: Vec<_> = others.into_iter().chain([("the served directory", &*root)]).collect();
    let host_roots = records::host_roots(&many, &records.store, &others)?;
    let audit = audit::file(many.audit.as_deref())?;
    let listener = network::listen_on(&addresses)?;
    let threads = harden();
    // From here on there are threads, and all of them stand behind the wall.
    let reach = records.reach.clone();
    let own = [&root].into_iter().chain(&staging).chain(&reach.own).chain(&host_roots);
    let own = own.cloned().collect();
    // Open files are found again through `/proc/self/fd`.
    let seen = ["/proc".into()].into_iter().chain(reach.seen).collect();
    wall::stand(&confine, &Gate { own, seen, connects: reach.connects })?;
    log.flow()?;
    let files = open(&root, &confine, staging)?;
    files.tend().context("the directory cannot be tended")?;
    let runtime = runtime(threads)?;
    let (files, store) = runtime.block_on(records.open(files))?;
    let kind = SandboxKind::Host { root: root.display().to_string(), made: false };
    let kind = MainKind::Apart(kind, confine.limits().over(Limits::default()));
    let main = sandbox(confine.sandbox(), files, prefix, home)?;
    let main = (Sandbox { is_system: place::is_system(&root), ..main }, kind);
    let registry = records::registry(store, main, host_roots, (&confine, &many, &attach))?;
    let launch = Launch {
        welcome: Welcome::new(&listener, &access, Scope::Directory { root, made })?,
        access,
        listener,
        working_directory,
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

fn open(root: &Path, confine: &Confine, staging: Option<PathBuf>) -> Result<HostFs> {
    let files = HostFs::open(root, options(confine, staging))
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

fn options(confine: &Confine, staging: Option<PathBuf>) -> HostOptions {
    HostOptions {
        limits: confine.limits().over(Limits::default()),
        durability: Durability::of(confine),
        mounts: if confine.cross_mounts == Some(true) { Mounts::Cross } else { Mounts::Stay },
        staging: staging.into_iter().collect(),
    }
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
