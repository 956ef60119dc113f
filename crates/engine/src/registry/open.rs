//! Sandboxes are opened, and looked at.

use std::sync::Arc;
use std::time::Duration;

use super::record::{Attached, Directory, Home, Record};
use super::table::{OpenSandbox, Opener};
use super::{Registered, Registry, SandboxKind, missing};
use crate::virtual_fs::now;
use crate::{
    Error, ErrorKind, FileSystem as _, Limits, Result, Sandbox, SandboxId, SandboxPath, UnixTime,
    VirtualFs,
};

/// For how long what was read of a sandbox is believed where other servers change it too.
const BELIEVED: Duration = Duration::from_secs(2);
/// How often a sandbox is opened anew that is closed meanwhile.
const TRIES: usize = 64;

impl Registry {
    /// A sandbox, ready to be worked in.
    pub async fn open(&self, id: &SandboxId) -> Result<Arc<Sandbox>> {
        if self.is_main(id) {
            return Ok(Arc::clone(self.main()));
        }
        let believed = self.shared.store.shelf.is_shared().then_some(BELIEVED);
        if let Some(sandbox) = self.shared.open.find(id, believed) {
            return Ok(sandbox);
        }
        // Large, and rare: every request has room for it otherwise.
        Box::pin(self.open_or_wait(id)).await
    }

    async fn open_or_wait(&self, id: &SandboxId) -> Result<Arc<Sandbox>> {
        let opener = self.shared.open.begin(id);
        for _ in 0..TRIES {
            if let Some(sandbox) = self.open_anew(id, &opener).await? {
                return Ok(sandbox);
            }
        }
        Err(Error::new(ErrorKind::Busy, "the sandbox is changed all the time"))
    }

    /// Opens a sandbox from what is written down now; none if it was closed meanwhile.
    async fn open_anew(&self, id: &SandboxId, opener: &Opener<'_>) -> Result<Option<Arc<Sandbox>>> {
        let since = opener.closed();
        let record = self.load(id).await?.map(|(record, _)| record);
        if record.as_ref().is_some_and(|record| record.is_over(now())) {
            return Err(missing(id));
        }
        if record.as_ref().is_none_or(|record| record.home == Home::Store) {
            // Notices that another server removed it.
            self.virtual_tree(id).await?;
        }
        if let Some(sandbox) = self.shared.open.renew(id, record.as_ref()) {
            return Ok(Some(sandbox));
        }
        let prefix = record.as_ref().map_or_else(SandboxPath::root, |found| found.prefix.clone());
        let home = SandboxPath::root();
        let sandbox = |files| Sandbox { id: id.clone(), files, prefix, home, is_system: false };
        let opened = match record.as_ref().map(|it| &it.home) {
            Some(Home::Directory(directory)) => {
                // A directory with limits is counted, which may take long: one does it for all.
                let _turn = opener.turn().await;
                if let Some(sandbox) = self.shared.open.renew(id, record.as_ref()) {
                    return Ok(Some(sandbox));
                }
                let files = self.shared.hosts.find(directory).await?;
                let files = files.with_snapshots(self.shared.store.clone(), id.clone());
                OpenSandbox::new(sandbox(Arc::new(files)), record, None)
            }
            Some(Home::Attached(attached)) => {
                let kept = (self.shared.store.clone(), id.clone());
                let files = self.shared.attachments.find(attached, kept)?;
                let is_system = attached.path.is_root();
                let sandbox = Sandbox { is_system, ..sandbox(Arc::new(files)) };
                OpenSandbox::new(sandbox, record, None)
            }
            Some(Home::Store) | None => {
                let tree = self.virtual_tree(id).await?;
                OpenSandbox::new(sandbox(Arc::new(tree.clone())), record, Some(tree))
            }
        };
        Ok(opener.keep(opened, since))
    }

    pub(super) async fn virtual_tree(&self, id: &SandboxId) -> Result<VirtualFs> {
        let store = &self.shared.store;
        let found = match store.sandbox(id).await {
            // Another server may have removed it, and made another one.
            Ok(files) if store.shelf.is_shared() && files.refresh().await.is_err() => {
                store.sandbox(id).await
            }
            found => found,
        };
        match found {
            Err(err) if err.kind() == ErrorKind::NotFound => Err(missing(id)),
            found => found,
        }
    }

    /// What is known of a sandbox.
    pub async fn stat(&self, id: &SandboxId) -> Result<Registered> {
        if self.is_main(id) && !self.shared.main.is_stored() {
            return Ok(self.shared.main.registered());
        }
        let record = self.load(id).await?.map(|(record, _)| record);
        if record.as_ref().is_some_and(|record| record.is_over(now())) {
            return Err(missing(id));
        }
        match &record {
            Some(Record { home: Home::Directory(Directory { limits, .. }), .. })
            | Some(Record { home: Home::Attached(Attached { limits, .. }), .. }) => {
                Ok(registered(id, record.as_ref(), *limits, UnixTime::EPOCH))
            }
            Some(Record { home: Home::Store, .. }) | None => {
                let files = self.virtual_tree(id).await?;
                files.refresh().await?;
                let known = registered(id, record.as_ref(), files.limits(), files.created());
                Ok(Registered { is_main: self.is_main(id), ..known })
            }
        }
    }
}

/// What would be written down of a virtual sandbox that has no record.
pub(super) fn registered_record(known: &Registered) -> Record {
    Record {
        home: Home::Store,
        prefix: known.prefix.clone(),
        labels: known.labels.clone(),
        created: known.created,
        expires: known.expires,
    }
}

/// What is known of a sandbox, from its record and its root.
pub(super) fn registered(
    id: &SandboxId,
    record: Option<&Record>,
    limits: Limits,
    created: UnixTime,
) -> Registered {
    let kind = match record.map(|record| &record.home) {
        Some(Home::Directory(directory)) => {
            SandboxKind::Host { root: directory.path.clone(), made: directory.made }
        }
        Some(Home::Attached(Attached { target, path, .. })) => {
            SandboxKind::Attached { target: target.clone(), path: path.clone() }
        }
        Some(Home::Store) | None => SandboxKind::Virtual,
    };
    Registered {
        id: id.clone(),
        kind,
        prefix: record.map_or_else(SandboxPath::root, |record| record.prefix.clone()),
        limits,
        labels: record.map(|record| record.labels.clone()).unwrap_or_default(),
        created: record.map_or(created, |record| record.created),
        expires: record.and_then(|record| record.expires),
        is_main: false,
    }
}
