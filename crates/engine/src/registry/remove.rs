//! Sandboxes end.

use super::record::{Directory, Home};
use super::{Registry, is_main, missing};
use crate::{ErrorKind, Result, SandboxId, UnixTime};

impl Registry {
    /// Removes a sandbox. The tree of a virtual one goes with it; a directory only if it was made
    /// for the sandbox.
    pub async fn remove(&self, id: &SandboxId) -> Result<()> {
        if self.is_main(id) {
            return Err(is_main(id));
        }
        self.stat(id).await?;
        self.finish(id).await
    }

    /// Takes away what is left of a sandbox, wherever that was broken off.
    pub(super) async fn finish(&self, id: &SandboxId) -> Result<()> {
        let record = self.load(id).await?;
        self.shared.open.close(id);
        match record.map(|(record, _)| record.home) {
            Some(Home::Directory(directory)) => self.finish_host(id, &directory).await,
            Some(Home::Store) | None => self.finish_virtual(id).await,
        }
    }

    async fn finish_virtual(&self, id: &SandboxId) -> Result<()> {
        // The root goes last, and whoever finds it can begin again.
        match self.shared.store.remove(id).await {
            Err(err) if err.kind() == ErrorKind::NotFound => {}
            outcome => outcome?,
        }
        // A store in memory keeps its trees elsewhere; elsewhere this was gone already.
        if let Some((record, token)) = self.load(id).await?
            && record.home == Home::Store
        {
            self.forget(id, &token).await?;
        }
        Ok(())
    }

    async fn finish_host(&self, id: &SandboxId, directory: &Directory) -> Result<()> {
        if directory.made {
            // From here on nobody opens it, and whoever sweeps finishes what we cannot.
            self.note_end(id, UnixTime::EPOCH).await?;
            let doomed = self.alter(id, None, |record| match &mut record.home {
                Home::Directory(directory) => {
                    directory.removing = true;
                    Ok(())
                }
                Home::Store => Err(missing(id)),
            });
            doomed.await?;
            self.shared.open.close(id);
            self.shared.hosts.remove(directory).await?;
        }
        let Some((_, token)) = self.load(id).await? else { return Ok(()) };
        self.shared.store.remove_snapshots(id).await?;
        self.forget(id, &token).await?;
        Ok(())
    }
}
