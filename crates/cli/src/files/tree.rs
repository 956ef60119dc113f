//! The tree that a command works on, and where its relative paths begin.

use std::sync::Arc;

use anyhow::Result;
use client::Remote;
use engine::{DotDot, FileSystem, SandboxPath};

use crate::command_line::{ConnectionFlags, Place};
use crate::failure::OrHint as _;
use crate::trees::{LocalTree, Missing, without_snapshots};

/// A tree, on a server, in a directory or in a store.
pub(super) struct Tree {
    /// Its files.
    pub(super) files: Arc<dyn FileSystem>,
    /// Where relative paths begin.
    base: SandboxPath,
}

impl Tree {
    /// The tree that the flags mean.
    pub(super) async fn open(flags: &ConnectionFlags) -> Result<Self> {
        if let Some(place) = flags.place() {
            let files = local(&place, flags).await?;
            return Ok(Self { files, base: SandboxPath::root() });
        }
        let remote = Remote::connect(&flags.endpoint, flags.token.as_deref())?;
        let base = remote.working_directory(flags.session_id.as_deref()).await?;
        Ok(Self { files: Arc::new(remote), base })
    }

    /// The path that the user means.
    pub(super) fn locate(&self, raw: &str) -> Result<SandboxPath> {
        let start = if raw.starts_with('/') { &SandboxPath::root() } else { &self.base };
        Ok(start.resolve(raw, DotDot::Clamp)?)
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
