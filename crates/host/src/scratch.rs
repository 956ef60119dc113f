//! A reserved name for a whole tree on its way in or out, removed when it is dropped.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::staging::{Staging, random_name};
use crate::{Dir, Error, Mounts, Result, Spot, stat, walk};
use rustix::io::Errno;

/// A spot that nobody sees, on the mount where it is needed.
#[derive(Debug)]
pub struct Scratch {
    spot: Spot,
    is_kept: bool,
    /// In which it lies, unless that is the tree itself.
    staging: Option<Arc<Staging>>,
}

impl Dir {
    /// A free scratch spot from which a rename into `near` works.
    pub(crate) fn scratch(&self, near: &OwnedFd) -> Result<Scratch> {
        let staging = match (self.staging(), self.mounts()) {
            (Some(staging), Mounts::Stay) => Some(staging),
            (Some(staging), Mounts::Cross) => {
                Some(staging).filter(|_| stat::of(near).is_ok_and(|s| s.mount == staging.mount()))
            }
            (None, _) => None,
        };
        let staging = staging.cloned();
        staging.iter().for_each(|staging| staging.tidy());
        let dir = staging.as_ref().map_or(near, |staging| staging.dir());
        let dir = dir.try_clone().map_err(|_| Error::Os(Errno::MFILE))?;
        Ok(Scratch { spot: Spot::in_dir(dir, random_name()?), is_kept: false, staging })
    }
}

impl Scratch {
    /// Where it is.
    pub fn spot(&self) -> &Spot {
        &self.spot
    }

    /// Whether it lies outside the tree, where whoever lives in the sandbox cannot reach it.
    pub(crate) fn is_private(&self) -> bool {
        self.staging.is_some()
    }

    /// Lets what is there stay until it is cleared, even if that is by a later start.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes what is there now, and says how that went.
    pub(crate) fn clear(mut self) -> Result<()> {
        self.is_kept = true;
        self.remove()
    }

    /// Leaves what is there to be removed later.
    pub(crate) fn leave(mut self) {
        self.is_kept = true;
        self.staging.iter().for_each(|staging| staging.leave(&self.spot.name));
    }

    fn remove(&self) -> Result<()> {
        if let Some(staging) = &self.staging {
            return staging.discard(&self.spot.name);
        }
        match walk::remove(&self.spot.dir, &self.spot.name) {
            Err(Error::Os(Errno::NOENT)) => Ok(()),
            outcome => outcome,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_kept {
            // What cannot be removed now is swept by the next start at the latest.
            let _unswept = self.remove();
        }
    }
}
