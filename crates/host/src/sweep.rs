//! Removes what dead processes left behind.

use std::os::fd::OwnedFd;

use rustix::fs::{FlockOperation, flock};

use crate::staging::is_own;
use crate::walk::{self, Walk};
use crate::{Error, Kind, Result, is_reserved, list};
use rustix::io::Errno;

/// Removes every staging directory in `place` whose process is dead.
pub(crate) fn staging(place: &OwnedFd) -> Result<()> {
    let mut found = Vec::new();
    list::each(place, |name, kind| {
        if is_reserved(name) && kind == Kind::Directory {
            found.push(name.to_owned());
        }
        Ok(())
    })?;
    for name in found {
        let Ok(dir) = walk::child(place, &name) else { continue };
        if flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok() {
            walk::remove(place, &name)?;
        }
    }
    Ok(())
}

/// Removes every unfinished thing in a tree that is not of this process.
pub(crate) fn tree(top: &OwnedFd) -> Result<()> {
    let mut walk = Walk::new(top);
    while let Some(next) = walk.next() {
        let dir = match next {
            Err(Error::Os(Errno::ACCESS | Errno::XDEV)) => continue,
            next => next?,
        };
        let mut found = Vec::new();
        list::each(&dir, |name, kind| {
            if is_reserved(name) && !is_own(name) {
                found.push(name.to_owned());
            } else if kind == Kind::Directory {
                walk.push(name);
            }
            Ok(())
        })?;
        found.iter().try_for_each(|name| walk::remove(&dir, name))?;
    }
    Ok(())
}
