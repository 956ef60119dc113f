//! The directories of this machine beneath which sandboxes may lie.

use std::path::{Path, PathBuf};

use super::grounds::Ground;
use super::record::{Directory, Identity};
use super::{NewSandbox, RegistryOptions};
use crate::host_fs::unix_time;
use crate::{
    Depth, DotDot, Error, ErrorKind, FileSystem as _, HostFs, HostOptions, If, Limits, Parents,
    Result, SandboxId, SandboxPath, blocking,
};

/// Where unfinished files of all sandboxes beneath a directory lie. No sandbox may lie there.
const STAGING: &str = ".sandkeep-staging";
/// What the names of our own things begin with.
const OURS: &str = ".sandkeep-";

/// The directories that an operator allowed.
#[derive(Debug)]
pub(super) struct HostRoots {
    roots: Vec<HostRoot>,
}

#[derive(Debug)]
struct HostRoot {
    path: PathBuf,
    files: HostFs,
    identity: Identity,
}

impl HostRoots {
    pub(super) fn open(options: &RegistryOptions) -> Result<Self> {
        let RegistryOptions { durability, mounts, .. } = *options;
        let open = |path: &PathBuf| {
            // What is removed lies there until it is gone, and a later start finds it.
            let staging = vec![path.join(STAGING)];
            let limits = Limits::default();
            let files = HostFs::open(path, HostOptions { limits, durability, mounts, staging })?;
            let identity = identity(&files)?;
            Ok(HostRoot { path: files.real_path().to_owned(), files, identity })
        };
        let roots = options.host_roots.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { roots })
    }

    /// Finds the directory that a new sandbox wishes for, or makes one for it.
    pub(super) async fn provide(
        &self,
        id: &SandboxId,
        wished: Option<&str>,
        new: &NewSandbox,
    ) -> Result<Directory> {
        let (root, path) = self.place(id, wished)?;
        let limits = new.limits.unwrap_or_default();
        let parent = parent(root, &path, Parents::Create).await?;
        let name = SandboxPath::root().join(path.name())?;
        // Of all who try to make it, one does.
        let made = match parent.create_dir(&name, Parents::Require).await {
            Ok(_) => true,
            Err(err) if err.kind() == ErrorKind::AlreadyExists && wished.is_some() => false,
            Err(err) if err.kind() == ErrorKind::AlreadyExists => {
                let message = "a directory of the sandbox's name is there already";
                return Err(Error::new(ErrorKind::AlreadyExists, message));
            }
            Err(err) => return Err(err),
        };
        let opened = open_at(&parent, &name, limits).await;
        if opened.is_err() && made {
            parent.remove(&name, Depth::One, If::Always).await?;
        }
        let (_, identity) = opened?;
        let whole = root.path.join(path.as_str().trim_start_matches('/'));
        let path = whole.to_str().ok_or_else(unspeakable)?.to_owned();
        Ok(Directory { path, root: root.identity, identity, made, limits })
    }

    /// Opens the directory of a sandbox, if it is still the one.
    pub(super) async fn find(&self, directory: &Directory) -> Result<HostFs> {
        let (root, path) = self.own(directory)?;
        let opened = async {
            let parent = parent(root, &path, Parents::Require).await?;
            let name = SandboxPath::root().join(path.name())?;
            open_at(&parent, &name, directory.limits).await
        };
        let (files, identity) =
            opened.await.map_err(|err| away("its directory is away").because(err))?;
        if identity != directory.identity {
            return Err(away("its directory is another one now"));
        }
        files.tend()?;
        Ok(files)
    }

    /// Removes the directory of a sandbox with everything in it. What took its place stays.
    pub(super) async fn remove(&self, directory: &Directory) -> Result<()> {
        let (root, path) = self.own(directory)?;
        let removed = async {
            let parent = parent(root, &path, Parents::Require).await?;
            let name = SandboxPath::root().join(path.name())?;
            let (files, identity) = open_at(&parent, &name, Limits::default()).await?;
            drop(files);
            if identity != directory.identity {
                return Ok(());
            }
            parent.remove(&name, Depth::All, If::Always).await
        };
        match removed.await {
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    /// Where a new sandbox is to lie.
    pub(super) fn new_ground(&self, id: &SandboxId, wished: Option<&str>) -> Result<Ground> {
        let (root, path) = self.place(id, wished)?;
        Ok(Ground { root: root.identity, path })
    }

    /// Where a sandbox lies, if that is on this machine.
    pub(super) fn ground(&self, directory: &Directory) -> Result<Ground> {
        let (root, path) = self.own(directory)?;
        Ok(Ground { root: root.identity, path })
    }

    /// Where the directory of a sandbox lies, if that is on this machine.
    fn own(&self, directory: &Directory) -> Result<(&HostRoot, SandboxPath)> {
        let (root, path) = self.locate(&directory.path)?;
        if root.identity != directory.root {
            let message = "the directory of the sandbox is on another machine";
            return Err(Error::new(ErrorKind::Forbidden, message));
        }
        Ok((root, path))
    }

    /// The allowed directory beneath which a new sandbox is to lie, and where in it.
    fn place(&self, id: &SandboxId, wished: Option<&str>) -> Result<(&HostRoot, SandboxPath)> {
        let first = self.roots.first().ok_or_else(|| {
            let message = "no directory of this machine is allowed to hold sandboxes";
            Error::new(ErrorKind::Forbidden, message)
        })?;
        let (root, path) = match wished {
            None => (first, SandboxPath::parse(id.as_str(), DotDot::Refuse)?),
            Some(wished) if wished.starts_with('/') => self.locate(wished)?,
            Some(wished) => (first, SandboxPath::parse(wished, DotDot::Refuse)?),
        };
        if path.is_root() || path.segments().any(|name| name.starts_with(OURS)) {
            let message = "a sandbox lies beneath an allowed directory, in one of its own";
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        Ok((root, path))
    }

    /// The allowed directory that a path lies beneath, and where in it.
    fn locate(&self, path: &str) -> Result<(&HostRoot, SandboxPath)> {
        let path = Path::new(path);
        let mut beneath = self.roots.iter().filter_map(|root| {
            let rest = path.strip_prefix(&root.path).ok()?;
            Some((root, rest.to_str()?))
        });
        let (root, rest) = beneath.next().ok_or_else(|| {
            let message = "the directory does not lie beneath one that may hold sandboxes";
            Error::new(ErrorKind::Forbidden, message)
        })?;
        Ok((root, SandboxPath::parse(rest, DotDot::Refuse)?))
    }
}

/// The directory above one, found from the allowed directory on without following any link.
async fn parent(root: &HostRoot, path: &SandboxPath, parents: Parents) -> Result<HostFs> {
    let mut at = root.files.clone();
    let above: Vec<String> = path.segments().map(ToOwned::to_owned).collect();
    for name in above.iter().take(above.len().saturating_sub(1)) {
        let name = SandboxPath::root().join(name)?;
        if parents == Parents::Create {
            match at.create_dir(&name, Parents::Require).await {
                Err(err) if err.kind() != ErrorKind::AlreadyExists => return Err(err),
                Ok(_) | Err(_) => {}
            }
        }
        at = blocking::run(move || at.open_beneath(&name, Limits::default())).await?;
    }
    Ok(at)
}

/// A directory of an open one, and what tells it from others.
async fn open_at(
    parent: &HostFs,
    name: &SandboxPath,
    limits: Limits,
) -> Result<(HostFs, Identity)> {
    let (parent, name) = (parent.clone(), name.clone());
    blocking::run(move || {
        let files = parent.open_beneath(&name, limits)?;
        let identity = identity(&files)?;
        Ok((files, identity))
    })
    .await
}

/// The number of a directory, and when it was made. Blocks.
fn identity(files: &HostFs) -> Result<Identity> {
    let (inode, made) = files.identity()?;
    Ok((inode, made.map(unix_time)))
}

fn away(message: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}

fn unspeakable() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the directory's path is not UTF-8")
}
