//! Whether everything that sandboxes lead to is there, and is what it must be.
//!
//! - `trees`: which trees there are to check
//! - `claim`: what a link says about the page that it leads to, and whether that is so
//! - `check`: the walk from link to link

mod check;
mod claim;
mod trees;

use crate::{Result, SandboxId, SandboxPath, SnapshotId};

use super::shelf::{Store, missing};

use self::check::Check;
use self::trees::Trees;

/// Who found so many problems looks no further.
const MOST: usize = 1000;

/// What a check of sandboxes found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many sandboxes were looked at.
    pub sandboxes: u64,
    /// How many snapshots of theirs were looked at.
    pub snapshots: u64,
    /// How many pages and chunks were looked at; what sandboxes and snapshots share counts once.
    pub objects: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// What is wrong; nothing if all is sound. After a thousand problems the check ends.
    pub problems: Vec<Problem>,
}

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The sandbox that it was found in. What several sandboxes or snapshots share is told of one.
    pub sandbox: SandboxId,
    /// The snapshot that it was found in; none for the tree as it is now.
    pub snapshot: Option<SnapshotId>,
    /// The file or directory that it was found in.
    pub path: SandboxPath,
    /// What is wrong.
    pub message: String,
}

impl Store {
    /// Reads everything that a sandbox and its snapshots hold, and checks it: that all of it is
    /// there, that it hashes to its id, that names are in order and in the right pages, and that
    /// sums and lengths are right. Changes nothing.
    pub async fn verify(&self, id: &SandboxId) -> Result<Verified> {
        self.verify_watched(id, |_| ()).await
    }

    /// The same; `watch` is told again and again what was found until then.
    pub async fn verify_watched(
        &self,
        id: &SandboxId,
        watch: impl Fn(&Verified) + Send + Sync,
    ) -> Result<Verified> {
        let trees = Trees::of(self, id).await?;
        if trees.is_empty() {
            return Err(missing(id));
        }
        trees.check(&watch).await
    }

    /// The same of all sandboxes of the store. Needs some 100 bytes of memory for each sandbox and
    /// snapshot, and some 40 for each object of the largest family of sandboxes.
    pub async fn verify_all(&self, watch: impl Fn(&Verified) + Send + Sync) -> Result<Verified> {
        Trees::all(self).await?.check(&watch).await
    }
}
