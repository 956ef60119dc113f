//! What is changed in a tree that nobody sees yet.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags, fchmod};

use crate::walk::open_beneath;
use crate::{Dir, Error, Kind, Result, Spot, StagedTree, Stat, beneath, sole, stat};

/// What a staged file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Read,
    Change,
}

impl Dir {
    /// Changes the mode of a file of a staged tree.
    pub fn set_staged_mode(&self, tree: &StagedTree, path: &Path, mode: u32) -> Result<()> {
        let (file, _) = self.open_staged(tree, path, Purpose::Change)?;
        Ok(fchmod(&file, Mode::from_raw_mode(mode & 0o777))?)
    }

    /// What a file of a staged tree holds, if that is at most so many bytes.
    pub fn read_staged(
        &self,
        tree: &StagedTree,
        path: &Path,
        most: usize,
    ) -> Result<Option<Vec<u8>>> {
        let (file, seen) = self.open_staged(tree, path, Purpose::Read)?;
        let Some(len) = usize::try_from(seen.size).ok().filter(|len| *len <= most) else {
            return Ok(None);
        };
        let mut content = vec![0; len];
        let mut read = 0;
        while let Some(space) = content.get_mut(read..).filter(|space| !space.is_empty()) {
            match rustix::io::pread(&file, space, read as u64)? {
                0 => break,
                more => read += more,
            }
        }
        content.truncate(read);
        Ok(Some(content))
    }

    /// Whoever lives in the sandbox may reach what is staged, so that it is looked at first and
    /// opened after that, as everything is.
    fn open_staged(
        &self,
        tree: &StagedTree,
        path: &Path,
        purpose: Purpose,
    ) -> Result<(OwnedFd, Stat)> {
        let (parent, name) = beneath::split(path)?;
        let dir = open_beneath(tree.top(), parent.as_os_str().as_bytes())?;
        let spot = Spot::in_dir(dir, name.into());
        let looked_at = spot.look()?;
        let seen = stat::of(&looked_at)?;
        if seen.kind != Kind::File {
            return Err(Error::Special);
        }
        if purpose == Purpose::Change && !tree.is_private() {
            sole::check(&spot, &looked_at)?;
        }
        Ok((self.beneath().reopen(&looked_at, OFlags::RDONLY)?, seen))
    }
}
