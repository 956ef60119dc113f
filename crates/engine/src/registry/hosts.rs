//! The directories of this machine beneath which sandboxes may lie.

use std::path::{Path, PathBuf};

use super::record::Directory;
use super::{NewSandbox, RegistryOptions};
use crate::host_fs::unix_time;
use crate::{
    Depth, DotDot, Durability, Error, ErrorKind, FileSystem as _, HostFs, HostOptions, If, Limits,
    Mounts, Parents, Result, SandboxId, SandboxPath, UnixTime, blocking,
};

/// Where unfinished files of all sandboxes beneath a directory lie. No sandbox may lie there.
const STAGING: &str = ".sandkeep-staging";
/// What the names of our own things begin with.
const OURS: &str = ".sandkeep-";

/// The directories that an operator allowed.
#[derive(Debug)]
pub(super) struct HostRoots {
    roots: Vec<HostRoot>,
    durability: Durability,
    mounts: Mounts,
}

#[derive(Debug)]
struct HostRoot {
    path: PathBuf,
    files: HostFs,
}

/// A directory of a sandbox, open.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) files: HostFs,
    pub(super) directory: Directory,
}

impl HostRoots {
    pub(super) fn open(options: &RegistryOptions) -> Result<Self> {
        let RegistryOptions { durability, mounts, .. } = *options;
        let open = |path: &PathBuf| {
            let staging = Vec::new();
            let limits = Limits::default();
            let files = HostFs::open(path, HostOptions { limits, durability, mounts, staging })?;
            Ok(HostRoot { path: files.real_path().to_owned(), files })
        };
        let roots = options.host_roots.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { roots, durability, mounts })
    }

    /// Opens the directory that a new sandbox wishes for, or makes one for it.
    pub(super) async fn provide(
        &self,
        id: &SandboxId,
        wished: Option<&str>,
        new: &NewSandbox,
    ) -> Result<Opened> {
        let (root, path) = self.place(id, wished)?;
        let limits = new.limits.unwrap_or_default();
        let made = match root.files.stat(&path, crate::Links::Keep).await {
            Err(err) if err.kind() == ErrorKind::NotFound => {
                root.files.create_dir(&path, Parents::Create).await?;
                true
            }
            Ok(_) if wished.is_none() => {
                let message = "a directory of the sandbox's name is there already";
                return Err(Error::new(ErrorKind::AlreadyExists, message));
            }
            found => found.map(|_| false)?,
        };
        let (files, identity) = self.open_at(root, &path, limits).await?;
        let whole = root.path.join(path.as_str().trim_start_matches('/'));
        let path = whole.to_str().ok_or_else(unspeakable)?.to_owned();
        let directory = Directory { path, identity, made, limits, removing: false };
        Ok(Opened { files, directory })
    }

    /// Opens the directory of a sandbox, if it is still the one.
    pub(super) async fn find(&self, directory: &Directory) -> Result<HostFs> {
        let (root, path) = self.locate(&directory.path)?;
        let opened = self.open_at(root, &path, directory.limits).await;
        let (files, identity) = opened.map_err(|err| away("its directory is away").because(err))?;
        if identity != directory.identity {
            return Err(away("its directory is another one now, or on another machine"));
        }
        Ok(files)
    }

    /// Removes the directory of a sandbox with everything in it.
    pub(super) async fn remove(&self, directory: &Directory) -> Result<()> {
        match self.find(directory).await {
            // What took its place is not ours to remove.
            Err(err) if err.kind() == ErrorKind::Unavailable => return Ok(()),
            found => drop(found?),
        }
        let (root, path) = self.locate(&directory.path)?;
        match root.files.remove(&path, Depth::All, If::Always).await {
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    async fn open_at(
        &self,
        root: &HostRoot,
        path: &SandboxPath,
        limits: Limits,
    ) -> Result<(HostFs, (u64, Option<UnixTime>))> {
        let staging = vec![root.path.join(STAGING)];
        let Self { durability, mounts, .. } = *self;
        let options = HostOptions { limits, durability, mounts, staging };
        let (parent, path) = (root.files.clone(), path.clone());
        blocking::run(move || {
            let files = parent.open_beneath(&path, options)?;
            let (inode, made) = files.identity()?;
            files.tend()?;
            Ok((files, (inode, made.map(unix_time))))
        })
        .await
    }

    /// Where a new sandbox is to lie.
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

fn away(message: &'static str) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}

fn unspeakable() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the directory's path is not UTF-8")
}
