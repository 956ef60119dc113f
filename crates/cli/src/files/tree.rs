//! The tree that a command works on, and where its relative paths begin.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use client::Remote;
use engine::{DotDot, Durability, FileSystem, HostFs, HostOptions, Limits, Mounts, SandboxPath};

use crate::command_line::ConnectionFlags;
use crate::failure::OrHint as _;
use crate::{local, staging};

/// A tree, on a server or in a directory.
pub(super) struct Tree {
    /// Its files.
    pub(super) files: Arc<dyn FileSystem>,
    /// Where relative paths begin.
    base: SandboxPath,
}

impl Tree {
    /// The tree that the flags mean.
    pub(super) async fn open(flags: &ConnectionFlags) -> Result<Self> {
        if let Some(dir) = &flags.dir {
            let files = local::canonical(dir).and_then(|dir| directory(&dir)).or_hint(|| {
                "name a directory that exists; `sandkeep serve DIR` makes one".into()
            })?;
            return Ok(Self { files: Arc::new(files), base: SandboxPath::root() });
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

/// A directory of this machine as a tree. Nothing is left beside it: unfinished files lie in the
/// user's own staging directory, or hidden within.
pub(super) fn directory(dir: &Path) -> Result<HostFs> {
    let staging: Vec<PathBuf> = staging::of_the_user(dir).into_iter().collect();
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Full,
        mounts: Mounts::Stay,
        staging,
    };
    HostFs::open(dir, options).with_context(|| format!("{} cannot be used", dir.display()))
}
