//! Removes what dead processes left behind.

use std::os::fd::OwnedFd;

use rustix::fs::{FlockOperation, flock};

use crate::staging::is_own;
use crate::walk::{self, Walk};
use crate::{Error, Kind, Result, is_reserved, list, restore};
use rustix::io::Errno;

/// Removes every staging directory in `place` whose process is dead, unless a tree that is not
/// served now waits for what is in it.
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
        // Held while it is removed, so that nobody takes it for a free one.
        let is_left = flock(&dir, FlockOperation::NonBlockingLockExclusive).is_ok();
        if is_left && !restore::is_awaited(&dir).unwrap_or(true) {
            let _stays_for_the_next_start = walk::remove(place, &name);
        }
    }
    Ok(())
}

/// Removes every unfinished thing in a tree whose maker is dead. What lies beneath a directory that
/// another process serves, or in its staging directory, is its own affair.
pub(crate) fn tree(top: &OwnedFd) -> Result<()> {
    let mut walk = Walk::new(top);
    while let Some(next) = walk.next() {
        let dir = match next {
            Err(Error::Os(Errno::ACCESS | Errno::XDEV)) => continue,
            next => next?,
        };
        if walk.depth() > 0 && is_held(&dir) {
            continue;
        }
        let mut found = Vec::new();
        list::each(&dir, |name, kind| {
            if is_reserved(name) && !is_own(name) {
                found.push((name.to_owned(), kind));
            } else if kind == Kind::Directory {
                walk.push(name);
            }
            Ok(())
        })?;
        for (name, kind) in found {
            let inner = if kind == Kind::Directory { walk::child(&dir, &name).ok() } else { None };
            let held = inner.as_ref().is_some_and(|inner| {
                flock(inner, FlockOperation::NonBlockingLockExclusive).is_err()
                    || restore::is_awaited(inner).unwrap_or(true)
            });
            if !held {
                let _stays_for_the_next_start = walk::remove(&dir, &name);
            }
        }
    }
    Ok(())
}

/// Whether another process holds a lock on a directory. Asking takes the lock for a moment.
fn is_held(dir: &OwnedFd) -> bool {
    match flock(dir, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            let _let_go = flock(dir, FlockOperation::Unlock);
            false
        }
        Err(_) => true,
    }
}
