//! Trees made out of sight, from the outside in.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, symlinkat, utimensat};

use crate::owner::Owner;
use crate::replace::set_mode_and_time;
use crate::{Descent, OpenedFile, Result, Stat, Time, clock, stat};

const FRESH: OFlags = OFlags::CREATE.union(OFlags::EXCL).union(OFlags::RDWR).union(OFlags::CLOEXEC);

/// A place in a directory that nobody else sees, where things are made. It remembers nothing of
/// what was made, so that a tree of any size costs the same memory.
#[derive(Debug)]
pub struct Stage {
    descent: Descent,
    /// To whom what is made will belong.
    pub(crate) owner: Owner,
}

impl Stage {
    pub(crate) fn new(top: OwnedFd) -> Self {
        Self { descent: Descent::from(top), owner: Owner::default() }
    }

    /// Makes a directory and goes down into it.
    pub fn begin_dir(&mut self, name: &OsStr) -> Result<()> {
        mkdirat(self.descent.here()?.fd(), name, Mode::RWXU)?;
        self.descent.enter(name)
    }

    /// Gives the directory where it is its mode and time, which only hold once everything is in
    /// it, and goes up again.
    pub fn finish_dir(&mut self, mode: u32, modified: Time) -> Result<()> {
        let here = self.descent.here()?.fd();
        self.owner.give(here)?;
        set_mode_and_time(here, mode, modified)?;
        self.descent.leave();
        Ok(())
    }

    /// Makes an empty file.
    pub fn begin_file(&mut self, name: &OsStr) -> Result<OpenedFile> {
        let here = self.descent.here()?.fd();
        Ok(OpenedFile::of(openat(here, name, FRESH, Mode::RUSR | Mode::WUSR)?))
    }

    /// Gives a file that was written its mode and time.
    pub fn finish_file(&self, file: &OpenedFile, mode: u32, modified: Time) -> Result<()> {
        self.owner.give(file.fd())?;
        set_mode_and_time(file.fd(), mode, modified)
    }

    /// Makes a link that holds `target` as it is.
    pub fn make_link(&mut self, name: &OsStr, target: &OsStr, modified: Time) -> Result<()> {
        let here = self.descent.here()?.fd();
        symlinkat(target, here, name)?;
        Ok(utimensat(here, name, &clock::modified_at(modified), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// What was made under a name.
    pub(crate) fn stat(&mut self, name: &OsStr) -> Result<Stat> {
        stat::of_name(self.descent.here()?.fd(), name)
    }
}
