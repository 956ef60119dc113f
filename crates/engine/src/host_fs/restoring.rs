//! What a restore asks of the tree beside its directory: room, and the locks of names.

use parking_lot::MutexGuard;

use super::Tree;
use super::budget::{Taken, whole};
use super::meaning::{Meaning as _, host_path};
use crate::tree::Sum;
use crate::{ErrorKind, Links, Parents, Result, SandboxPath};

/// Room for what will be at a path, beside what is there until then.
pub(crate) struct Room<'a> {
    tree: &'a Tree,
    taken: Taken<'a>,
    /// How many bytes and nodes will be fewer.
    fewer: (i64, i64),
}

impl Tree {
    /// Takes room for what a restore puts at a path that is free of links, or refuses.
    pub(crate) fn make_room(&self, path: &SandboxPath, target: Sum) -> Result<Room<'_>> {
        if self.budget.is_none() {
            return Ok(Room { tree: self, taken: self.take(0, 0)?, fewer: (0, 0) });
        }
        let there = self.tally_at(path)?;
        let missing = match path.parent().filter(|_| target.nodes() > 0) {
            Some(dir) => self.dir.missing_dirs(&host_path(&dir)).meaning()? as u64,
            None => 0,
        };
        let bytes = whole(target.bytes) - whole(there.bytes);
        let nodes = whole(target.nodes() + missing) - whole(there.files + there.directories);
        let taken = self.take(bytes.max(0), nodes.max(0))?;
        Ok(Room { tree: self, taken, fewer: (bytes.min(0), nodes.min(0)) })
    }

    /// Holds one name, so that what others believe of it stays true until they act.
    pub(crate) fn hold(&self, spot: &host::Spot) -> Result<Option<MutexGuard<'_, ()>>> {
        self.locks.hold(spot)
    }

    fn tally_at(&self, path: &SandboxPath) -> Result<host::Tally> {
        if path.is_root() {
            return self.dir.tally().meaning();
        }
        match self.spot(path, Links::Keep, Parents::Require) {
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(host::Tally::default()),
            spot => self.dir.tally_at(&spot?).meaning(),
        }
    }
}

impl Room<'_> {
    /// The restore is done.
    pub(crate) fn fill(self) -> Result<()> {
        self.taken.keep();
        let (bytes, nodes) = self.fewer;
        self.tree.take(bytes, nodes).map(Taken::keep)
    }
}
