//! The words that mean a tree of a container.

use std::path::PathBuf;

use clap::Args;
use engine::{AttachTarget, ContainerName, SandboxPath};

use super::place::Place;
use super::sandboxes::absolute;

/// Flags of the commands that work in a container of this machine.
#[derive(Args, Clone, Debug)]
pub(crate) struct AttachFlags {
    /// Work directly in this Docker or Podman container, without a server
    #[arg(long, value_name = "NAME", global = true, value_parser = ContainerName::parse)]
    container: Option<ContainerName>,

    /// Work directly in the tree that the process of this id has as its root
    #[arg(long, value_name = "PID", global = true)]
    pid: Option<u32>,

    /// Directory of the container that is the root [default: /]
    #[arg(long, value_name = "PATH", global = true, value_parser = absolute)]
    container_path: Option<SandboxPath>,

    /// API socket of the container engine [default: that of Docker or Podman]
    #[arg(long, env = "SANDKEEP_CONTAINER_SOCKET", value_name = "FILE", global = true)]
    container_socket: Option<PathBuf>,
}

impl AttachFlags {
    /// The tree that is meant, if it is one of a container.
    pub(crate) fn place(&self) -> Option<Place> {
        let target = match (&self.container, self.pid) {
            (Some(name), _) => AttachTarget::Container(name.clone()),
            (None, Some(pid)) => AttachTarget::Process { pid, birth: None },
            (None, None) => return None,
        };
        let path = self.container_path.clone().unwrap_or_else(SandboxPath::root);
        Some(Place::Container { target, path, socket: self.container_socket.clone() })
    }

    /// The flag that means a tree of a container, if there is one. More than one is an error.
    pub(super) fn flag(&self) -> Result<Option<&'static str>, &'static str> {
        match (&self.container, self.pid) {
            (Some(_), Some(_)) => Err("--container and --pid mean two trees"),
            (Some(_), None) => Ok(Some("--container")),
            (None, Some(_)) => Ok(Some("--pid")),
            (None, None) if self.container_path.is_some() => {
                Err("--container-path is about --container or --pid")
            }
            (None, None) => Ok(None),
        }
    }
}
