//! Settings of trees in containers: which is served, and whether others may be.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::BoolishValueParser;
use clap::error::Error;
use containers::{Sockets, Surroundings};
use engine::{AttachTarget, ContainerName, Containers, DotDot, SandboxPath};
use serde::{Deserialize, Serialize};

use super::served::contradiction;
use super::{Confine, Source, Sources, surroundings};

/// One source's settings of containers; what is absent is left to the next source.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Containers")]
pub(crate) struct Attach {
    /// Serve the tree of this Docker or Podman container, by name or id, instead of a directory;
    /// needs --no-landlock
    #[arg(long, env = "SANDKEEP_CONTAINER", value_name = "NAME", value_parser = container)]
    pub(crate) container: Option<String>,

    /// Serve the tree that the process of this id has as its root, until it ends; needs --no-landlock
    #[arg(long, env = "SANDKEEP_PID", value_name = "PID")]
    pub(crate) pid: Option<u32>,

    /// Directory of the container to serve [default: /]
    #[arg(long, env = "SANDKEEP_CONTAINER_PATH", value_name = "PATH")]
    pub(crate) container_path: Option<String>,

    /// API socket of the container engine [default: DOCKER_HOST or CONTAINER_HOST if it is unix://,
    /// /var/run/docker.sock, /run/podman/podman.sock, then podman's in $XDG_RUNTIME_DIR]
    #[arg(long, env = "SANDKEEP_CONTAINER_SOCKET", value_name = "FILE")]
    pub(crate) container_socket: Option<PathBuf>,

    /// Let whoever has the server's token attach sandboxes of /v1/sandboxes to containers and
    /// processes of this machine, and reach whatever this user may reach there; needs --no-landlock
    #[arg(
        long, env = "SANDKEEP_CONTAINERS", value_name = "BOOL", num_args = 0..=1,
        require_equals = true, default_missing_value = "true", value_parser = BoolishValueParser::new()
    )]
    pub(crate) containers: Option<bool>,
}

impl Attach {
    /// These settings, and those of `lower` where these say nothing.
    pub(crate) fn over(self, lower: Self) -> Self {
        Self {
            container: self.container.or(lower.container),
            pid: self.pid.or(lower.pid),
            container_path: self.container_path.or(lower.container_path),
            container_socket: self.container_socket.or(lower.container_socket),
            containers: self.containers.or(lower.containers),
        }
    }

    /// The same settings, with relative paths beginning at `base`.
    pub(crate) fn relative_to(mut self, base: &Path) -> Self {
        self.container_socket = self.container_socket.map(|socket| base.join(socket));
        self
    }

    /// The settings of the one tree that is meant: the strongest place that speaks of a tree
    /// decides, as between a directory and a store.
    pub(super) fn settled(
        mut self,
        confine: &mut Confine,
        sources: Sources<'_>,
    ) -> Result<Self, Error> {
        let (container, pid) = (sources.of("container"), sources.of("pid"));
        if self.container.is_some() && self.pid.is_some() {
            if container == pid {
                return Err(contradiction("--container and --pid mean two trees"));
            }
            if container < pid { self.pid = None } else { self.container = None }
        }
        let attached = container.min(pid);
        let other = sources.of("dir").min(sources.of("store"));
        if attached == Source::Default || other < attached {
            (self.container, self.pid) = (None, None);
            if self.container_path.take().is_some() && sources.of("container-path") <= other {
                let message = "--container-path is about --container or --pid";
                return Err(contradiction(message));
            }
        } else if other == attached {
            let message =
                "--container and --pid mean a tree of their own: leave out DIR and --store";
            return Err(contradiction(message));
        } else {
            (confine.dir, confine.store) = (None, None);
            refuse_idle(confine, attached, sources)?;
        }
        if let Some(path) = &self.container_path {
            parsed(path)?;
        }
        Ok(self)
    }

    /// The tree of a container that is served, if one is.
    pub(crate) fn target(&self) -> engine::Result<Option<(AttachTarget, SandboxPath)>> {
        let target = match (&self.container, self.pid) {
            (Some(name), _) => AttachTarget::Container(ContainerName::parse(name)?),
            (None, Some(pid)) => AttachTarget::Process { pid, birth: None },
            (None, None) => return Ok(None),
        };
        let path = self.container_path.as_deref().unwrap_or("/");
        Ok(Some((target, SandboxPath::parse(path, DotDot::Refuse)?)))
    }

    /// Whether anything of a container is to be reached.
    pub(crate) fn reaches_containers(&self) -> bool {
        self.container.is_some() || self.pid.is_some() || self.containers == Some(true)
    }

    /// Who knows the containers of this machine.
    pub(crate) fn engines(&self) -> Arc<dyn Containers> {
        engines(self.container_socket.as_deref())
    }

    /// What holds when nobody says anything.
    pub(crate) fn usual() -> Self {
        Self { containers: Some(false), ..Self::default() }
    }
}

/// Who knows the containers of this machine, at the socket that was named or at the usual ones.
pub(crate) fn engines(socket: Option<&Path>) -> Arc<dyn Containers> {
    let named = |variable| {
        surroundings::path(variable).and_then(|value| value.into_os_string().into_string().ok())
    };
    Arc::new(match socket {
        Some(path) => Sockets::at(path),
        None => Sockets::usual(&Surroundings {
            docker_host: named("DOCKER_HOST"),
            container_host: named("CONTAINER_HOST"),
            runtime_dir: surroundings::path("XDG_RUNTIME_DIR"),
        }),
    })
}

/// What is said of a directory does nothing in a container: what a place says that is at least as
/// strong as the one that names the container contradicts it.
fn refuse_idle(confine: &mut Confine, attached: Source, sources: Sources<'_>) -> Result<(), Error> {
    let staged = confine.staging.take().is_some() && sources.of("staging") <= attached;
    let crossed = confine.cross_mounts.take() == Some(true);
    if staged || (crossed && sources.of("cross-mounts") <= attached) {
        let flag = if staged { "--staging" } else { "--cross-mounts" };
        let message = format!("{flag} is about a directory, not about --container or --pid");
        return Err(contradiction(&message));
    }
    Ok(())
}

fn parsed(path: &str) -> Result<(), Error> {
    let right = path.starts_with('/') && SandboxPath::parse(path, DotDot::Refuse).is_ok();
    let message = "--container-path is an absolute path in the container, such as /workspace";
    if right { Ok(()) } else { Err(contradiction(message)) }
}

fn container(text: &str) -> Result<String, String> {
    let name = ContainerName::parse(text).map_err(|err| err.to_string())?;
    Ok(name.as_str().to_owned())
}
