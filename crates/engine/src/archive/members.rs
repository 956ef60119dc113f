//! What takes the members of an archive, and how many it took.

use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{ArchiveLimits, Unpacked};
use crate::{DotDot, Result, SandboxPath, UnixTime, name};

/// How many paths the answer lists.
const LISTED: usize = 1024;

/// Refuses a member that has so many bytes when there is no room for it.
pub(crate) type Gauge<'a> = Box<dyn Fn(u64) -> Result<()> + 'a>;

/// What takes the members of an archive. Nothing of it is seen before all were taken.
pub(crate) trait Members<'a> {
    /// Takes a directory; one that was taken already changes its mode and time.
    fn directory(&mut self, path: &Path, mode: u32, modified: UnixTime) -> Result<()>;
    fn file(
        &mut self,
        path: &Path,
        mode: u32,
        modified: UnixTime,
        content: &mut dyn Read,
    ) -> Result<()>;
    fn symlink(&mut self, path: &Path, target: &[u8], modified: UnixTime) -> Result<()>;
    fn hard_link(&mut self, path: &Path, member: &Path) -> Result<()>;
    /// Changes the mode of a file that was taken.
    fn set_mode(&mut self, path: &Path, mode: u32) -> Result<()>;
    /// What a file that was taken holds, if that is at most so many bytes.
    fn content(&mut self, path: &Path, most: usize) -> Result<Option<Vec<u8>>>;
    /// Whether there is room for one more member, given what was taken so far.
    fn gauge(&self) -> Gauge<'a>;
}

/// What came out of an archive so far, and how much may.
pub(super) struct Count<'a> {
    dir: &'a SandboxPath,
    limits: ArchiveLimits,
    bytes: u64,
    unpacked: Unpacked,
}

impl<'a> Count<'a> {
    pub(super) fn new(dir: &'a SandboxPath, limits: ArchiveLimits) -> Self {
        let unpacked = Unpacked { paths: Vec::new(), entries: 0 };
        Self { dir, limits, bytes: 0, unpacked }
    }

    /// Counts a member of so many bytes; gives where it will be.
    pub(super) fn member(&mut self, path: &Path, bytes: u64) -> Result<SandboxPath> {
        let text = name::to_text(path.as_os_str().as_bytes());
        let place = self.dir.resolve(&text, DotDot::Refuse)?;
        self.unpacked.entries += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let depth = path.components().count() as u64;
        self.limits.check(self.bytes, self.unpacked.entries, depth)?;
        if self.unpacked.paths.len() < LISTED {
            self.unpacked.paths.push(place.clone());
        }
        Ok(place)
    }

    /// Counts bytes of a member that did not say how many it has.
    pub(super) fn bytes(&mut self, more: u64) -> Result<()> {
        self.bytes = self.bytes.saturating_add(more);
        self.limits.check(self.bytes, 0, 0)
    }

    pub(super) fn unpacked(self) -> Unpacked {
        self.unpacked
    }
}
