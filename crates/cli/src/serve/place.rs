//! Where things are: what clients see, where relative paths begin, where unfinished files lie.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, ensure};
use engine::{DotDot, SandboxPath};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::config::surroundings;
use crate::failure::OrHint as _;
use crate::{local, staging};

/// The path at which clients see `root`.
pub(super) fn prefix(root: &Path, wished: Option<&str>) -> Result<SandboxPath> {
    match wished {
        Some(prefix) => given_prefix(prefix),
        None => given_prefix(
            root.to_str()
                .with_context(|| format!("the path {} is not UTF-8", root.display()))
                .or_hint(|| "name it for the clients: --root-prefix /workspace".into())?,
        ),
    }
}

/// A path at which clients see a tree.
pub(super) fn given_prefix(text: &str) -> Result<SandboxPath> {
    ensure!(text.starts_with('/'), "--root-prefix is an absolute path, such as /workspace");
    SandboxPath::parse(text, DotDot::Refuse).context("--root-prefix cannot be a path")
}

/// Whether a directory is the root of this machine, whose own directories are nothing for tools.
pub(super) fn is_system(root: &Path) -> bool {
    root.parent().is_none()
}

/// Where relative paths begin without a session: the user's home if it lies in `root`.
pub(super) fn home(root: &Path) -> SandboxPath {
    surroundings::home().and_then(|home| inside(root, &home)).unwrap_or_else(SandboxPath::root)
}

/// Where relative paths begin in a session: the current directory if it lies in `root`.
pub(super) fn working_directory(root: &Path) -> SandboxPath {
    let current = surroundings::current_dir().ok();
    current.and_then(|dir| inside(root, &dir)).unwrap_or_else(SandboxPath::root)
}

/// The directory for unfinished files: the operator's, else the first of the usual ones from which
/// files can be moved into `root`. It is made, because behind the wall it cannot be.
pub(super) fn staging(root: &Path, wished: Option<&Path>) -> Result<Option<PathBuf>> {
    if let Some(wished) = wished {
        local::make_private_dir(wished)?;
        let staging = local::canonical(wished)?;
        if staging.starts_with(root) {
            let wished = wished.display();
            return Err(anyhow!("--staging {wished} lies inside the served directory"))
                .or_hint(|| "choose a directory beside it, on the same file system".into());
        }
        return Ok(Some(staging));
    }
    let beside = root.parent().map(|parent| parent.join(".sandkeep-staging"));
    let usual = staging::of_the_user(root).into_iter().chain(beside);
    let near = |place: &PathBuf| mount_of(place) == mount_of(root);
    Ok(usual.filter(near).find(|place| local::make_private_dir(place).is_ok()))
}

/// The mount that a path lies on, or would lie on if it were made. Only within one mount can a file
/// be moved.
fn mount_of(path: &Path) -> Option<u64> {
    let look = |path| statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok();
    path.ancestors().find_map(look).map(|found| found.stx_mnt_id)
}

fn inside(root: &Path, dir: &Path) -> Option<SandboxPath> {
    let dir = local::canonical(dir).ok()?;
    let rest = dir.strip_prefix(root).ok()?.to_str()?;
    SandboxPath::parse(rest, DotDot::Refuse).ok()
}
