//! Sandboxes that are attached to containers and processes of this machine.

use std::sync::Arc;

use super::RegistryOptions;
use super::record::Attached;
use crate::{
    AttachTarget, AttachedFs, AttachedOptions, Containers, Durability, Error, ErrorKind, Limits,
    Result, SandboxId, SandboxPath, Store,
};

/// What the operator allows.
#[derive(Debug)]
pub(super) struct Attachments {
    containers: Option<Arc<dyn Containers>>,
    durability: Durability,
}

impl Attachments {
    pub(super) fn new(options: &RegistryOptions) -> Self {
        let RegistryOptions { containers, durability, .. } = options;
        Self { containers: containers.clone(), durability: *durability }
    }

    /// Finds what a new sandbox wishes to be attached to. It must be there.
    pub(super) async fn provide(
        &self,
        target: &AttachTarget,
        path: &SandboxPath,
        limits: Limits,
    ) -> Result<Attached> {
        let containers = self.allowed()?;
        let options = AttachedOptions { limits, durability: self.durability };
        let files = AttachedFs::new(target.clone(), path.clone(), options, Some(containers))?;
        let found = async {
            files.attach().await?;
            files.target().await
        };
        let target = found.await.map_err(|err| {
            if err.kind() != ErrorKind::NotFound {
                return err;
            }
            Error::new(ErrorKind::InvalidArgument, err.message().to_owned()).because(err)
        })?;
        Ok(Attached { machine: machine()?, target, path: path.clone(), limits })
    }

    /// The tree of a sandbox, whether it is there now or not.
    pub(super) fn find(&self, attached: &Attached, kept: (Store, SandboxId)) -> Result<AttachedFs> {
        let containers = self.allowed()?;
        if attached.machine != machine()? {
            let message = "the container of the sandbox is on another machine";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        let options = AttachedOptions { limits: attached.limits, durability: self.durability };
        let (target, path) = (attached.target.clone(), attached.path.clone());
        let files = AttachedFs::new_with_snapshots(target, path, options, Some(containers), kept)?;
        files.tend()?;
        Ok(files)
    }

    fn allowed(&self) -> Result<Arc<dyn Containers>> {
        self.containers.clone().ok_or_else(|| {
            let message = "this server attaches no sandboxes to containers (--containers)";
            Error::new(ErrorKind::Forbidden, message)
        })
    }
}

fn machine() -> Result<String> {
    host::machine().map_err(|err| {
        Error::new(ErrorKind::Io, "the machine cannot be told from others").because(err)
    })
}
