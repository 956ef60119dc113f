//! `serve --container NAME` and `serve --pid PID`: the tree of a container of this machine.

use anyhow::{Context as _, Result, anyhow};
use engine::{
    AttachTarget, AttachedFs, AttachedOptions, ErrorKind, Limits, MainKind, Sandbox, SandboxKind,
    SandboxPath,
};

use crate::config::{Attach, Confine, Durability, ServeSettings};
use crate::failure::OrHint as _;

use super::log::Log;
use super::records::{self, Records};
use super::welcome::{Scope, Welcome};
use super::{Launch, archive_limits, audit, harden, network, place, runtime, sandbox, wall};

/// Serves the tree of a container until a signal comes.
pub(super) fn serve(
    settings: ServeSettings,
    (target, path): (AttachTarget, SandboxPath),
) -> Result<()> {
    let ServeSettings { listen, confine, attach, many, tools, access, .. } = settings;
    let tools = tools.options()?;
    let mut log = Log::start(&listen)?;
    let addresses = network::guarded_addresses(&listen, &access)?;
    let prefix = place::given_prefix(confine.root_prefix.as_deref().unwrap_or("/"))?;
    let records = Records::of_container(&confine, &target, &path)?;
    let host_roots = records::host_roots(&many, &records.store, &[])?;
    let audit = audit::file(many.audit.as_deref())?;
    let listener = network::listen_on(&addresses)?;
    let threads = harden();
    wall::stand(&confine, &wall::Gate::default())?;
    log.flow()?;
    let runtime = runtime(threads)?;
    let options = AttachedOptions {
        limits: confine.limits().over(Limits::default()),
        durability: Durability::of(&confine),
    };
    let (files, store) =
        runtime.block_on(records.open_container((&target, &path), options, &attach))?;
    let kind = SandboxKind::Attached { target: target.clone(), path: path.clone() };
    let kind = MainKind::Apart(kind, options.limits);
    let main = sandbox(confine.sandbox(), files, prefix, SandboxPath::root())?;
    let main = (Sandbox { is_system: path.is_root(), ..main }, kind);
    let registry = records::registry(store, main, host_roots, (&confine, &many, &attach))?;
    let scope = Scope::Container { target: target.to_string(), path: path.to_string() };
    let launch = Launch {
        welcome: Welcome::new(&listener, &access, scope)?,
        access,
        listener,
        working_directory: SandboxPath::root(),
        archive_limits: archive_limits(&confine),
        most_connections: confine.most_connections(),
        tools,
        registry,
        many,
        audit,
        listen,
    };
    runtime.block_on(launch.run(&log))
}

/// Refuses to reach for containers from behind the second wall: the kernel then shows the server no
/// process that does not stand behind it, too.
pub(super) fn refuse_behind_wall(attach: &Attach, confine: &Confine) -> Result<()> {
    let is_open = confine.no_landlock == Some(true) || confine.confine == Some(false);
    if !attach.reaches_containers() || is_open {
        return Ok(());
    }
    let refusal = anyhow!(
        "Landlock would keep the server out of every container: it shows a confined process no \
         other one's files"
    );
    Err(refusal).or_hint(|| {
        "add --no-landlock; clients are confined by the kernel's path resolution all the same"
            .into()
    })
}

/// Attaches at the start. A container that does not run yet is waited for by whoever asks; what can
/// never be is told at once.
pub(super) async fn attach(files: &AttachedFs, target: &AttachTarget) -> Result<()> {
    match files.attach().await {
        Ok(()) => Ok(()),
        Err(err) => {
            let may_come = matches!(
                err.kind(),
                ErrorKind::SandboxUnavailable | ErrorKind::Unavailable | ErrorKind::NotFound
            );
            if may_come && matches!(target, AttachTarget::Container(_)) {
                tracing::warn!(
                    error = err.message(),
                    "the sandbox is unavailable until the container runs"
                );
                return Ok(());
            }
            Err(err).with_context(|| format!("{target} cannot be served"))
        }
    }
}
