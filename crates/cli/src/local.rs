//! The user's own files, which lie in no sandbox and are named by the user alone.
#![expect(clippy::disallowed_methods, reason = "the user's own files are opened by their names")]

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The path without links and dots; what it names must exist.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).with_context(|| format!("{} cannot be found", path.display()))
}

/// The same of what may not exist yet: it is found by what does.
pub(crate) fn eventual(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let there = path.ancestors().find(|above| above.exists()).unwrap_or(&path);
    Ok(canonical(there)?.join(path.strip_prefix(there)?))
}

/// What is at `path`, links followed; nothing when nothing is there.
pub(crate) fn look(path: &Path) -> Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// What is at `path`, a link itself.
pub(crate) fn look_at_link(path: &Path) -> io::Result<Metadata> {
    fs::symlink_metadata(path)
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a file at its end, for this user alone; it is made when missing.
pub(crate) fn append_to(path: &Path) -> Result<File> {
    let mut options = fs::OpenOptions::new();
    let opened = options.append(true).create(true).mode(0o600).open(path);
    opened.with_context(|| format!("{} cannot be written", path.display()))
}

/// What a link holds.
pub(crate) fn link_target(path: &Path) -> io::Result<PathBuf> {
    fs::read_link(path)
}

/// The children of a directory, sorted by name.
pub(crate) fn children(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut children =
        fs::read_dir(dir)?.map(|child| Ok(child?.path())).collect::<io::Result<Vec<_>>>()?;
    children.sort_unstable();
    Ok(children)
}

/// Whether a directory is missing or holds nothing.
pub(crate) fn is_empty(dir: &Path) -> Result<bool> {
    match fs::read_dir(dir) {
        Ok(mut children) => Ok(children.next().is_none()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(err) => Err(err).with_context(|| format!("{} cannot be read", dir.display())),
    }
}

/// Makes a directory and those above it. Whether it is new.
pub(crate) fn make_dir(path: &Path) -> Result<bool> {
    let missing = look(path)?.is_none();
    fs::create_dir_all(path).with_context(|| format!("{} cannot be made", path.display()))?;
    Ok(missing)
}

/// Makes a directory for this user alone, and those above it.
pub(crate) fn make_private_dir(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(path).with_context(|| format!("{} cannot be made", path.display()))
}

/// The same; it is there after a power cut, too.
pub(crate) fn make_lasting_dir(path: &Path) -> Result<()> {
    let unfit = || format!("{} cannot be made", path.display());
    let path = std::path::absolute(path).with_context(unfit)?;
    if look(&path)?.is_some_and(|there| !there.is_dir()) {
        bail!("{} is not a directory", path.display());
    }
    let missing: Vec<&Path> = path.ancestors().take_while(|above| !above.exists()).collect();
    make_private_dir(&path)?;
    for parent in missing.iter().filter_map(|made| made.parent()) {
        File::open(parent).and_then(|parent| parent.sync_all()).with_context(unfit)?;
    }
    Ok(())
}

/// Removes a directory if it is empty; one that is not stays.
pub(crate) fn remove_empty_dir(path: &Path) {
    fs::remove_dir(path).ok();
}

/// Writes a file of the program's own making.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}
