//! Archives unpacked into a staged tree, which then appears at once.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::Tree;
use super::budget::whole;
use super::meaning::{Meaning as _, host_path, host_time, meaning};
use crate::archive::{self, ArchiveFormat, ArchiveLimits, FeedReader, Gauge, Members, Unpacked};
use crate::{Error, ErrorKind, Result, SandboxPath, UnixTime};

/// Unpacks an archive into `dir`.
pub(super) fn unpack(
    tree: &Tree,
    dir: &SandboxPath,
    archive: FeedReader,
    format: ArchiveFormat,
    limits: ArchiveLimits,
) -> Result<Unpacked> {
    let dest = host_path(dir);
    let staged = tree.dir.begin_tree(&dest).meaning()?;
    let mut staging = Staging { tree, staged };
    let unpacked = archive::unpack(archive, dir, format, limits, &mut staging)?;
    let tally = staging.staged.tally();
    let missing = tree.dir.missing_dirs(&dest).meaning()? as u64;
    let taken = tree.take(whole(tally.bytes), whole(tally.files + tally.directories + missing))?;
    let replaced = tree.dir.publish(staging.staged, &dest).meaning()?;
    // The top directory of the staged tree was not counted above.
    let united = replaced.directories.saturating_sub(1);
    tree.take(-whole(replaced.bytes), -whole(replaced.files + united))?.keep();
    taken.keep();
    Ok(unpacked)
}

struct Staging<'a> {
    tree: &'a Tree,
    staged: host::StagedTree,
}

impl<'a> Members<'a> for Staging<'a> {
    fn directory(&mut self, path: &Path, mode: u32, modified: UnixTime) -> Result<()> {
        self.staged.directory(path, mode, host_time(modified)).map_err(member)
    }

    fn file(
        &mut self,
        path: &Path,
        mode: u32,
        modified: UnixTime,
        content: &mut dyn Read,
    ) -> Result<()> {
        match self.staged.file(path, (mode, host_time(modified)), content) {
            Ok(_) => Ok(()),
            Err(host::TreeError::Tree(err)) => Err(member(err)),
            Err(host::TreeError::Content(err)) => Err(archive::broken(err)),
        }
    }

    fn symlink(&mut self, path: &Path, target: &[u8], modified: UnixTime) -> Result<()> {
        let target = OsStr::from_bytes(target);
        self.staged.symlink(path, target, host_time(modified)).map_err(member)
    }

    fn hard_link(&mut self, path: &Path, target: &Path) -> Result<()> {
        self.staged.hard_link(path, target).map_err(member)
    }

    fn set_mode(&mut self, path: &Path, mode: u32) -> Result<()> {
        self.tree.dir.set_staged_mode(&self.staged, path, mode).map_err(member)
    }

    fn content(&mut self, path: &Path, most: usize) -> Result<Option<Vec<u8>>> {
        self.tree.dir.read_staged(&self.staged, path, most).map_err(member)
    }

    fn gauge(&self) -> Gauge<'a> {
        let (tree, held) = (self.tree, self.staged.tally());
        Box::new(move |more| {
            tree.check_file_size(more)?;
            let bytes = whole(held.bytes).saturating_add(whole(more));
            // Taken for good only when the whole archive was seen.
            tree.take(bytes, whole(held.files + held.directories + 1)).map(drop)
        })
    }
}

/// What a member that contradicts another one means: the archive is at fault, not the tree.
fn member(err: host::Error) -> Error {
    let bad = |message| Error::new(ErrorKind::BadArchive, message).because(err);
    let crossed =
        [host::Error::OverDirectory, host::Error::OverFile, host::Error::Os(host::Errno::NOTDIR)];
    if crossed.contains(&err) {
        bad("a member is a file here and a directory there")
    } else if matches!(err, host::Error::Special | host::Error::Os(host::Errno::NOENT)) {
        bad("a hard link names no file of the archive")
    } else {
        meaning(err)
    }
}
