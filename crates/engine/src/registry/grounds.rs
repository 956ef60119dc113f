//! Which directories have a sandbox, so that none lies within another's.
//!
//! `directories/at/{place}/{id}` says that the sandbox has the directory there, and
//! `directories/above/{place}/{id}` that the directory lies on the way to the sandbox's. A mark counts
//! as long as the record of the sandbox says the same, so that what a crash left means nothing.

use std::fmt::Write as _;

use bytes::Bytes;
use storage::{Expected, RefKey};

use super::Registry;
use super::record::{Home, Identity};
use super::refs::AT_ONCE;
use crate::virtual_fs::meaning;
use crate::{Error, ErrorKind, Result, SandboxId, SandboxPath};

const AT: &str = "directories/at/";
const ABOVE: &str = "directories/above/";
/// How many bytes of a hash tell places apart.
const TOLD_APART: usize = 16;

/// Where a directory lies: beneath which allowed one, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ground {
    pub(super) root: Identity,
    pub(super) path: SandboxPath,
}

impl Ground {
    /// The places of the directories on the way to it, the allowed one aside.
    fn above(&self) -> Vec<String> {
        let mut path = String::new();
        let segments: Vec<&str> = self.path.segments().collect();
        let above = segments.iter().take(segments.len().saturating_sub(1));
        above
            .map(|segment| {
                path = format!("{path}/{segment}");
                self.place_of(&path)
            })
            .collect()
    }

    fn place(&self) -> String {
        self.place_of(self.path.as_str())
    }

    fn place_of(&self, path: &str) -> String {
        let (inode, made) = self.root;
        let made = made.map(|time| (time.seconds, time.nanoseconds));
        let hash = blake3::hash(format!("{inode} {made:?} {path}").as_bytes());
        let mut digits = String::new();
        for byte in hash.as_bytes().iter().take(TOLD_APART) {
            _ = write!(digits, "{byte:02x}");
        }
        digits
    }

    /// The marks of a sandbox that lies here.
    fn marks(&self, id: &SandboxId) -> Result<Vec<RefKey>> {
        let at = format!("{AT}{}/{id}", self.place());
        let above = self.above().into_iter().map(|place| format!("{ABOVE}{place}/{id}"));
        above.chain([at]).map(|key| RefKey::new(&key).map_err(meaning)).collect()
    }
}

impl Registry {
    /// Refuses a place that has a sandbox, or that lies within one or around one.
    pub(super) async fn check_ground(&self, id: &SandboxId, ground: &Ground) -> Result<()> {
        let place = ground.place();
        if self.is_marked(id, &format!("{AT}{place}/")).await? {
            return Err(taken("the directory has a sandbox already"));
        }
        if self.is_marked(id, &format!("{ABOVE}{place}/")).await? {
            return Err(taken("another sandbox lies in a directory within this one"));
        }
        for above in ground.above() {
            if self.is_marked(id, &format!("{AT}{above}/")).await? {
                return Err(taken("the directory lies within another sandbox"));
            }
        }
        Ok(())
    }

    /// Remembers where a sandbox lies that has its record.
    pub(super) async fn mark_ground(&self, id: &SandboxId, ground: &Ground) -> Result<()> {
        for key in ground.marks(id)? {
            let swap = self.storage().swap(&key, &Expected::Absent, Bytes::new()).await;
            swap.map_err(meaning)?;
        }
        Ok(())
    }

    /// Forgets where a sandbox lies whose record is about to go.
    pub(super) async fn clear_ground(&self, id: &SandboxId, ground: &Ground) -> Result<()> {
        for key in ground.marks(id)? {
            if let Some(mark) = self.storage().load(&key).await.map_err(meaning)? {
                self.storage().delete_ref(&key, &mark.token).await.map_err(meaning)?;
            }
        }
        Ok(())
    }

    /// Whether a mark of another sandbox begins like this, and is true.
    async fn is_marked(&self, id: &SandboxId, prefix: &str) -> Result<bool> {
        let mut after = None;
        loop {
            let page = self.storage().list_refs(prefix, after.as_ref(), AT_ONCE).await;
            let page = page.map_err(meaning)?;
            let Some((last, _)) = page.last() else { return Ok(false) };
            after = Some(last.clone());
            for (mark, _) in &page {
                let other = mark.as_str().strip_prefix(prefix).map(SandboxId::parse);
                if let Some(Ok(other)) = other
                    && other != *id
                    && self.is_true(mark, &other).await?
                {
                    return Ok(true);
                }
            }
        }
    }

    /// Whether the record of a sandbox says what a mark of it says.
    async fn is_true(&self, mark: &RefKey, id: &SandboxId) -> Result<bool> {
        let Some((record, _)) = self.load(id).await? else { return Ok(false) };
        let Home::Directory(directory) = &record.home else { return Ok(false) };
        // One of another machine says nothing about this one.
        let Ok(ground) = self.shared.hosts.ground(directory) else { return Ok(false) };
        Ok(ground.marks(id)?.contains(mark))
    }
}

fn taken(message: &'static str) -> Error {
    Error::new(ErrorKind::AlreadyExists, message)
}
