//! A small disk.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

/// A file system of its own, so many bytes large.
pub(crate) struct Disk(TempDir);

impl Disk {
    /// The disk, if this process may mount one.
    pub(crate) fn of(size: u64) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let options = std::ffi::CString::new(format!("size={size}")).unwrap();
        mount("tmpfs", dir.path(), "tmpfs", MountFlags::empty(), options.as_c_str()).ok()?;
        Some(Self(dir))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all room that is left but so much.
    pub(crate) fn fill(&self, leave: u64) {
        let disk = rustix::fs::statvfs(self.path()).unwrap();
        let take = (disk.f_bavail * disk.f_frsize).saturating_sub(leave);
        let ballast = File::create(self.path().join("ballast")).unwrap();
        // Somebody may have been faster, and then there is less to take.
        fallocate(&ballast, FallocateFlags::empty(), 0, take.max(1)).ok();
    }

    /// Gives the room back.
    pub(crate) fn clear(&self) {
        fs::remove_file(self.path().join("ballast")).ok();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        unmount(self.path(), UnmountFlags::DETACH).unwrap();
    }
}
