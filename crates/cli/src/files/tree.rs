//! The tree that a command works on, and where its relative paths begin.

use std::sync::Arc;

use anyhow::Result;
use client::{Remote, SandboxFs, Server};
use engine::{DotDot, ErrorKind, FileSystem, FindingStream, SandboxId, SandboxPath, SearchQuery};

use crate::command_line::{ConnectionFlags, Place};
use crate::failure::OrHint as _;
use crate::trees::{LocalTree, Missing, without_snapshots};

/// A tree, on a server, in a directory or in a store.
pub(super) struct Tree {
    /// Its files.
    pub(super) files: Arc<dyn FileSystem>,
    /// The same, if they are a server's sandbox.
    sandbox: Option<SandboxFs>,
    /// Where relative paths begin.
    base: SandboxPath,
}

impl Tree {
    /// The tree that the flags mean.
    pub(super) async fn open(flags: &ConnectionFlags) -> Result<Self> {
        if let Some(place) = flags.place() {
            let files = local(&place, flags).await?;
            return Ok(Self { files, sandbox: None, base: SandboxPath::root() });
        }
        if let Some(id) = flags.sandbox_of_server() {
            let sandbox = sandbox(id, flags).await?;
            let files = Arc::new(sandbox.clone());
            return Ok(Self { files, sandbox: Some(sandbox), base: SandboxPath::root() });
        }
        let remote = Remote::connect(&flags.endpoint, flags.token.as_deref())?;
        let base = remote.working_directory(flags.session_id.as_deref()).await?;
        Ok(Self { files: Arc::new(remote), sandbox: None, base })
    }

    /// What a search finds. A server that can search reads its files itself.
    pub(super) async fn search(
        &self,
        path: &SandboxPath,
        query: &SearchQuery,
    ) -> engine::Result<FindingStream> {
        match &self.sandbox {
            Some(sandbox) => sandbox.search(path, query).await,
            None => engine::search(Arc::clone(&self.files), path, query).await,
        }
    }

    /// The path that the user means.
    pub(super) fn locate(&self, raw: &str) -> Result<SandboxPath> {
        let start = if raw.starts_with('/') { &SandboxPath::root() } else { &self.base };
        Ok(start.resolve(raw, DotDot::Clamp)?)
    }
}

/// The files of a server's sandbox, now or as a snapshot keeps them.
async fn sandbox(id: &SandboxId, flags: &ConnectionFlags) -> Result<SandboxFs> {
    let server = Server::connect(&flags.endpoint, flags.token.as_deref())?;
    let files = server.sandbox(id);
    let Some(snapshot) = &flags.at else { return Ok(files) };
    match files.as_of(snapshot).await {
        Err(err) if err.kind() == ErrorKind::NotFound => Err(err).or_hint(|| {
            let endpoint = flags.endpoint.trim_end_matches('/');
            format!("see which there are: GET {endpoint}/v1/sandboxes/{id}/snapshots")
        }),
        outcome => Ok(outcome?),
    }
}

/// The files of a tree of this machine, now or as a snapshot keeps them.
async fn local(place: &Place, flags: &ConnectionFlags) -> Result<Arc<dyn FileSystem>> {
    let files = LocalTree::open(place, Missing::Refused).await?.files();
    let Some(id) = &flags.at else { return Ok(files) };
    let snapshots = files.snapshots().ok_or_else(without_snapshots)?;
    snapshots
        .open(id)
        .await
        .or_hint(|| format!("see which there are: sandkeep snapshot list {}", place.words()))
}
