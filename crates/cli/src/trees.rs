//! Trees of this machine, opened without a server: a directory, or a sandbox of a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use engine::{
    AttachedFs, AttachedOptions, Durability, Error, ErrorKind, FileSystem, HostFs, HostOptions,
    Limits, Mounts, SandboxId, VirtualFs,
};

use crate::command_line::Place;
use crate::config::{StoreUrl, engines};
use crate::failure::OrHint as _;
use crate::{local, staging, stores};

/// A tree of this machine.
pub(crate) enum LocalTree {
    /// A directory.
    Directory(HostFs),
    /// A sandbox of a store.
    Sandbox(VirtualFs),
    /// A tree of a container.
    Container(AttachedFs),
}

/// What becomes of a store that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is an error.
    Refused,
    /// It is made.
    Made,
}

impl LocalTree {
    /// Opens a tree that exists. `missing` is about the store of a directory's snapshots, which
    /// nobody else makes.
    pub(crate) async fn open(place: &Place, missing: Missing) -> Result<Self> {
        match place {
            Place::Directory { dir, snapshots, name } => {
                let dir = local::canonical(dir).or_hint(there)?;
                let files = directory(&dir).or_hint(there)?;
                let Some(url) = snapshots else { return Ok(Self::Directory(files)) };
                stores::refuse_overlap(url, &dir)?;
                let store = match missing {
                    Missing::Refused => stores::open(url).await?,
                    Missing::Made => stores::open_or_make(url).await?,
                };
                Ok(Self::Directory(files.with_snapshots(store, SandboxId::parse(name)?)))
            }
            Place::Sandbox { store, name } => sandbox(store, name).await.map(Self::Sandbox),
            Place::Container { target, path, socket } => {
                let options =
                    AttachedOptions { limits: Limits::default(), durability: Durability::Full };
                let engines = Some(engines(socket.as_deref()));
                let files = AttachedFs::new(target.clone(), path.clone(), options, engines)?;
                files.attach().await.or_hint(|| "name a container or process that runs".into())?;
                Ok(Self::Container(files))
            }
        }
    }

    /// Its files.
    pub(crate) fn files(self) -> Arc<dyn FileSystem> {
        match self {
            Self::Directory(files) => Arc::new(files),
            Self::Sandbox(files) => Arc::new(files),
            Self::Container(files) => Arc::new(files),
        }
    }

    /// What it may hold, where that is known: the limits of a directory are its server's affair.
    pub(crate) fn limits(&self) -> Option<Limits> {
        match self {
            Self::Directory(_) | Self::Container(_) => None,
            Self::Sandbox(files) => Some(files.limits()),
        }
    }
}

fn there() -> String {
    "name a directory that exists; `sandkeep serve DIR` makes one".into()
}

/// A directory of this machine as a tree. Nothing is left beside it: unfinished files lie in the
/// user's own staging directory, or hidden within.
pub(crate) fn directory(dir: &Path) -> Result<HostFs> {
    let staging: Vec<PathBuf> = staging::of_the_user(dir).into_iter().collect();
    let options = HostOptions {
        limits: Limits::default(),
        durability: Durability::Full,
        mounts: Mounts::Stay,
        staging,
    };
    HostFs::open(dir, options).with_context(|| format!("{} cannot be used", dir.display()))
}

async fn sandbox(url: &StoreUrl, name: &str) -> Result<VirtualFs> {
    let id = SandboxId::parse(name)?;
    let store = stores::open(url).await?;
    store.sandbox(&id).await.or_hint(|| stores::which(url))
}

/// What a tree without snapshots is told.
pub(crate) fn without_snapshots() -> Error {
    Error::new(ErrorKind::Unsupported, "this tree keeps no snapshots")
}
