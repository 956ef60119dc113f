//! Going down a tree and up again, with few directories open whatever the depth.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::walk::{child, open_beneath};
use crate::{Dir, Error, Listing, Result};

/// How many directories on the way stay open.
const OPEN: usize = 16;

/// A way down a tree. No link is ever followed and no mount crossed, whatever takes the place of a
/// directory meanwhile.
#[derive(Debug)]
pub struct Descent {
    top: OwnedFd,
    /// Where it is, with slashes between the names, and where each name ends.
    names: Vec<u8>,
    ends: Vec<usize>,
    /// The innermost directories, as far as they are open.
    open: VecDeque<Listing>,
}

impl Dir {
    /// A way down that begins at the root.
    pub fn descend(&self) -> Result<Descent> {
        let top = self.open(Path::new(""), OFlags::RDONLY | OFlags::DIRECTORY)?;
        Ok(Descent::from(top))
    }
}

impl From<OwnedFd> for Descent {
    fn from(top: OwnedFd) -> Self {
        Self { top, names: Vec::new(), ends: Vec::new(), open: VecDeque::new() }
    }
}

impl Descent {
    /// The directory where it is.
    pub fn here(&mut self) -> Result<&Listing> {
        if self.open.is_empty() {
            self.open.push_back(Listing::of(open_beneath(&self.top, &self.names)?));
        }
        self.open.back().ok_or(Error::Busy)
    }

    /// Goes down into a directory.
    pub fn enter(&mut self, name: &OsStr) -> Result<()> {
        let lower = child(self.here()?.fd(), name)?;
        self.open.push_back(Listing::of(lower));
        if self.open.len() > OPEN {
            self.open.pop_front();
        }
        if !self.names.is_empty() {
            self.names.push(b'/');
        }
        self.names.extend_from_slice(name.as_bytes());
        self.ends.push(self.names.len());
        Ok(())
    }

    /// Goes up again; does nothing at the top.
    pub fn leave(&mut self) {
        if self.ends.pop().is_some() {
            self.open.pop_back();
            self.names.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }

    /// How deep it is; 0 at the top.
    pub fn depth(&self) -> usize {
        self.ends.len()
    }

    /// Where it is, relative to the top.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.names))
    }
}
