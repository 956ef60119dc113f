//! Whether everything that a sandbox leads to is there, and is what it must be.
//!
//! - `claim`: what a link says about the page that it leads to, and whether that is so
//! - `check`: the walk from link to link

mod check;
mod claim;

use crate::{Result, SandboxId, SandboxPath, SnapshotId};

use super::shelf::Store;

use self::check::Check;

/// How many snapshots are looked up at a time.
const AT_ONCE: usize = 100;
/// Who found so many problems looks no further.
const MOST: usize = 1000;

/// What a check of a sandbox found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many pages and chunks were looked at.
    pub objects: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// What is wrong; nothing if the sandbox is sound. After a thousand problems the check ends.
    pub problems: Vec<Problem>,
}

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The snapshot that it was found in; none for the tree as it is now. What several of them
    /// share is told of one.
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
        let trunk = self.shelf.trunk(id).await?;
        let mut check = Check::new(&self.shelf.cache);
        check.run(&trunk.state().root, None).await?;
        let mut after = None;
        loop {
            let listed = trunk.snapshots().list(after.as_ref(), AT_ONCE).await?;
            for (id, _) in &listed {
                // It may be gone since it was listed.
                if let Ok(state) = trunk.snapshots().state(id).await {
                    check.run(&state.root, Some(id)).await?;
                }
            }
            match listed.into_iter().next_back() {
                Some((last, _)) => after = Some(last),
                None => return Ok(check.verified),
            }
        }
    }
}
